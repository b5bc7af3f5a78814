// full: SQLite
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { PROJECT } from '../../scripts/support/project.ts';
import { COMMANDS } from '../../src/commands.ts';
import { type Ended, runHawser, spawnHawser } from '../support/spawned.ts';

describe('the command line', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'hawser-commands-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const run = (words: readonly string[], settings: Record<string, string> = {}): Promise<Ended> =>
    runHawser(folder, settings, words);

  it('lists every command, whatever the settings are', async () => {
    const { code, stdout, stderr } = await run(['help'], { HAWSER_PORT: 'none' });
    expect(code).to.equal(0);
    expect(stderr).to.equal('');
    for (const { name } of COMMANDS) expect(stdout).to.match(new RegExp(`^  ${name}( .*)?\n {6}\\S`, 'm'));
  });

  it('tells the version of its package', async () => {
    const { version } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'));
    expect(await run(['--version'])).to.deep.equal({ code: 0, stdout: `hawser ${version}\n`, stderr: '' });
  });

  it('refuses a command that there is not in one line and the usage, and does nothing', async () => {
    const { code, stdout, stderr } = await run(['dcotor']);
    expect(code).to.equal(64);
    expect(stdout).to.equal('');
    expect(stderr).to.match(/^hawser: unknown command "dcotor"\n\nusage: hawser /);
    expect(readdirSync(folder)).to.deep.equal([]);
  });

  it('refuses a bad setting of any command with another exit code', async () => {
    const { code, stdout, stderr } = await run(['doctor'], { HAWSER_PORT: 'none' });
    expect(code).to.equal(78);
    expect(stdout).to.equal('');
    expect(stderr).to.match(/^hawser: HAWSER_PORT: .*\n$/);
  });

  it('serves when told to, as it does when told nothing', async () => {
    const hawser = await spawnHawser(folder, {}, ['serve']);
    await hawser.listening();
    hawser.child.kill('SIGTERM');
    expect((await hawser.ended).code).to.equal(0);
  });
});
