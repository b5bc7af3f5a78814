import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { createLog, LogOutput, openOutput } from '../../../src/lib/log.ts';
import { eventually } from '../../support/eventually.ts';
import { limitFileSize } from '../../support/file-size.ts';
import { itWith, LINUX } from '../../support/optional-tools.ts';
import { temporaryFolder } from '../../support/temporary.ts';

describe('the output of the log', () => {
  const folder = temporaryFolder();
  let file: string;
  let fd: number;

  beforeEach(() => {
    file = folder('log');
    fd = openSync(file, 'a');
  });

  afterEach(() => {
    limitFileSize(null);
    closeSync(fd);
  });

  const lines = () => readFileSync(file, 'utf8').split('\n').slice(0, -1);
  const written = (count: number) =>
    eventually(async () => {
      expect(lines().length).to.equal(count);
      return lines();
    });

  it("begins lines with systemd's priority where the journal reads them, and nowhere else", async () => {
    const { dev, ino } = fstatSync(fd);
    const journal = createLog('debug', openOutput(`${dev}:${ino}`, fd));
    for (const level of ['error', 'warn', 'info', 'debug'] as const) journal[level]('told');
    const starts = (await written(4)).map((line) => line.slice(0, '<3>{"level"'.length));
    expect(starts).to.deep.equal(['<3>', '<4>', '<6>', '<7>'].map((priority) => `${priority}{"level"`));
    for (const stream of [null, `${dev}:${ino + 1}`, ''])
      createLog('info', openOutput(stream, fd)).info('told');
    for (const line of (await written(7)).slice(4)) expect(JSON.parse(line)).to.include({ level: 'info' });
  });

  it('writes lines whole and in order', async () => {
    const output = new LogOutput(fd);
    const all = Array.from({ length: 5_000 }, (_, index) => `line ${index} ${'ä'.repeat(index % 50)}`);
    for (const line of all) output.write(`${line}\n`);
    expect(await written(all.length)).to.deep.equal(all);
  });

  itWith([LINUX], 'keeps what it cannot write until it can', async () => {
    const output = new LogOutput(fd);
    limitFileSize(1_000);
    for (let index = 0; index < 100; index += 1) output.write(`line ${index} ${'x'.repeat(40)}\n`);
    await eventually(async () => expect(readFileSync(file).length).to.equal(1_000));
    limitFileSize(null);
    const all = await written(100);
    expect(all.every((line, index) => line.startsWith(`line ${index} x`))).to.equal(true);
  });

  itWith([LINUX], 'leaves out what is too much to keep, and says how many lines', async () => {
    const log = createLog('info', new LogOutput(fd));
    limitFileSize(1);
    const count = 3_000;
    for (let index = 0; index < count; index += 1) log.info({ index, filling: 'x'.repeat(1_000) }, 'line');
    limitFileSize(null);
    const last = await eventually(async () => {
      const entry = JSON.parse(lines().at(-1) ?? '{}');
      expect(entry.level).to.equal('warn');
      return entry;
    });
    expect(lines().length - 1 + last.lines).to.equal(count);
    for (const line of lines()) JSON.parse(line);
  });
});
