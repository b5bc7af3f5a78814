// full: SQLite
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'chai';
import { Program } from '../../scripts/support/program.ts';
import { PROJECT } from '../../scripts/support/project.ts';
import { type Client, makeUncheckedClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { signIn } from '../support/hawser.ts';
import { ok } from '../support/replies.ts';

const DEMO = ['scripts/run.js', 'scripts/demo.ts'];

describe('the demo', () => {
  it('tells its story to the end, with proofs', () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, DEMO, {
      cwd: PROJECT,
      encoding: 'utf8',
      timeout: 170_000,
    });
    expect(status, stdout + stderr).to.equal(0);
    expect(stdout).to.match(/git log: [0-9a-f]+ \(HEAD -> main, tag: v2\.0\.0\) admin/);
    expect(stdout).to.match(/200: version 2\.0\.0, checksum [0-9a-f]{12}/);
    expect(stdout).to.match(/304: web-02 still has checksum [0-9a-f]{12}/);
    expect(stdout).to.include('git log: Hawser, web 3.0.0: Halted and reverted');
    expect(stdout).to.include('git log: Hawser, web 3.0.1: Completed');
    expect(stdout).to.match(/All \d+ steps held/);
  });

  it('refuses an argument that it does not know, and says which there are', () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [...DEMO, '--stays'], {
      cwd: PROJECT,
      encoding: 'utf8',
    });
    expect(status).to.equal(2);
    expect(stdout).to.equal('');
    expect(stderr).to.include('unknown argument "--stays"').and.include('--stay  keep the server');
  });

  it('stays with a fleet that goes on reporting, until it is told to end', async function () {
    this.timeout(180_000);
    const demo = new Program(process.execPath, [...DEMO, '--stay'], {
      cwd: PROJECT,
      env: { PATH: process.env['PATH'] ?? '', TMPDIR: process.env['TMPDIR'] ?? '/tmp' },
    });
    let client: Client | undefined;
    try {
      expect(await demo.waitFor((output) => output.includes('Ctrl-C stops'), 120_000), demo.output).to.equal(
        true,
      );
      const said = (name: string) => new RegExp(`^ +${name} +(\\S+)`, 'm').exec(demo.output)?.[1] ?? '';
      const address = new URL(said('console'));
      expect(address.pathname).to.equal('/ui/');
      const authority = said('authority');
      client = makeUncheckedClient({ port: Number(address.port), ca: readFileSync(authority, 'utf8') });
      const session = client.with({ Cookie: await signIn(client, said('user name'), said('password')) });
      const summary = await ok(200, session.get('/api/v1/fleet/summary'));
      expect(summary.nodes).to.equal(62);
      expect(summary.byStatus.Error).to.be.greaterThan(0);
      const countReports = async () =>
        Number((await session.get('/api/v1/reports')).headers['x-total-count']);
      const before = await countReports();
      await eventually(async () => expect(await countReports()).to.be.greaterThan(before + 2));
      expect(await demo.stop(), demo.output).to.equal(0);
      expect(existsSync(dirname(dirname(authority))), 'the folders').to.equal(false);
    } finally {
      client?.close();
      demo.kill();
    }
  });
});
