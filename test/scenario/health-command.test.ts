// full: SQLite
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Ended, runHawser, spawnHawser } from '../support/spawned.ts';

describe('hawser health', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'hawser-health-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const health = (settings: Record<string, string>): Promise<Ended> =>
    runHawser(folder, settings, ['health']);

  for (const tls of ['on', 'off']) {
    it(`asks the server that its settings speak of, with TLS ${tls}`, async () => {
      const hawser = await spawnHawser(folder, { HAWSER_TLS: tls });
      await hawser.logged(/"msg":"listening"/);
      const port = /"url":"https?:\/\/[^":]+:(\d+)"/.exec(hawser.stdout())?.[1] ?? '';
      const { code, stdout } = await health({ HAWSER_TLS: tls, HAWSER_PORT: port });
      expect(JSON.parse(stdout)).to.include({ status: 'Ready' });
      expect(code).to.equal(0);
      hawser.child.kill('SIGTERM');
      await hawser.ended;
    });
  }

  it('fails in one line when nobody answers', async () => {
    const { code, stdout, stderr } = await health({ HAWSER_PORT: '1' });
    expect({ code, stderr }).to.deep.equal({ code: 1, stderr: '' });
    expect(stdout).to.match(/^no answer: .*\n$/);
  });

  it('asks for the port where the settings leave it open', async () => {
    const { code, stderr } = await health({ HAWSER_PORT: '0' });
    expect(code).to.equal(78);
    expect(stderr).to.match(/^hawser: HAWSER_PORT: .*\n$/);
  });
});
