// full: SQLite
/** A start on a database that is damaged or gone: it says which file, and what to do, and changes nothing. */

import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { describeOnSqlite } from '../support/engine.ts';
import { startHawser } from '../support/hawser.ts';
import { runHawser } from '../support/spawned.ts';

const PAGE = 4096;

describeOnSqlite('a start on a damaged database', () => {
  let whole: string;
  let folder: string;
  let file: string;

  before(async () => {
    whole = mkdtempSync(join(tmpdir(), 'hawser-whole-'));
    const hawser = await startHawser();
    cpSync(hawser.reposDir, join(whole, 'repos'), { recursive: true });
    await hawser.server.close();
    cpSync(hawser.dataDir, join(whole, 'data'), { recursive: true });
    rmSync(hawser.folder, { recursive: true, force: true });
  });
  after(() => rmSync(whole, { recursive: true, force: true }));
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'hawser-damaged-'));
    cpSync(whole, folder, { recursive: true });
    file = join(folder, 'data/hawser.db');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  async function refusal(): Promise<string> {
    const { code, stderr } = await runHawser(folder);
    expect(code).to.equal(1);
    expect(stderr.trim().split('\n'), stderr).to.have.length(1);
    expect(stderr).to.contain(file).and.to.contain('Keep a copy').and.to.contain('hawser restore');
    return stderr;
  }

  it('names a file that is no database', async () => {
    writeFileSync(file, 'not a database '.repeat(1_000));
    expect(await refusal())
      .to.contain('no SQLite database')
      .and.to.contain('hawser doctor');
  });

  it('names a file that was cut off', async () => {
    truncateSync(file, 5 * PAGE);
    expect(await refusal())
      .to.contain('is damaged')
      .and.to.contain('hawser doctor');
  });

  it('names a file with broken pages', async () => {
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.fill(0x5a, 3 * PAGE, 60 * PAGE));
    expect(await refusal())
      .to.contain('is damaged')
      .and.to.contain('hawser doctor');
  });

  for (const [what, lose] of [
    ['is empty', () => truncateSync(file, 0)],
    ['is gone', () => rmSync(file)],
  ] as const) {
    it(`keeps the log of a database that ${what}`, async () => {
      const log = `${file}-wal`;
      writeFileSync(log, 'changes');
      lose();
      expect(await refusal()).to.contain(log);
      expect(readFileSync(log, 'utf8')).to.equal('changes');
      expect(statSync(file, { throwIfNoEntry: false })?.size ?? 0).to.equal(0);
    });
  }

  it('names what cannot be opened as a database', async () => {
    rmSync(file);
    mkdirSync(file);
    const { code, stderr } = await runHawser(folder);
    expect(code).to.equal(1);
    expect(stderr).to.contain(file).and.to.contain('this user may read and write');
  });
});
