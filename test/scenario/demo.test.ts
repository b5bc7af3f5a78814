import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect } from 'chai';

const PROJECT = resolve(import.meta.dirname, '../..');

describe('the demo', () => {
  it('tells its story to the end, with proofs', function () {
    this.timeout(90_000);
    const args = ['--import', 'tsx', 'scripts/demo.ts'];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      cwd: PROJECT,
      encoding: 'utf8',
      timeout: 80_000,
    });
    expect(status, stdout + stderr).to.equal(0);
    expect(stdout).to.match(/git log: [0-9a-f]+ \(HEAD -> main, tag: v2\.0\.0\) admin/);
    expect(stdout).to.match(/200: version 2\.0\.0, checksum [0-9a-f]{12}/);
    expect(stdout).to.match(/304: web-02 still has checksum [0-9a-f]{12}/);
    expect(stdout).to.match(/All \d+ steps held/);
  });
});
