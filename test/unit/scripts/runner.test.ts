// full: SQLite
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';

const RUNNER = join(import.meta.dirname, '../../../scripts/test.js');
const STEADY = join(import.meta.dirname, '../../../scripts/test/steady.js');
const UNSTEADY = 'test/fixtures/runner/unsteady.test.ts';

describe('the runner of tests', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'hawser-runner-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function run(program: string, words: readonly string[], more: Record<string, string> = {}) {
    const env = {
      PATH: process.env['PATH'],
      TMPDIR: folder,
      UNSTEADY_MARKER: join(folder, 'marker'),
      ...more,
    };
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words], {
      encoding: 'utf8',
      env,
    });
    return { status, stdout, stderr };
  }

  it('fails when a test fails, and tells which and why', () => {
    const { status, stdout } = run(RUNNER, [UNSTEADY]);
    expect(status).to.equal(1);
    expect(stdout)
      .to.include(`✗ ${UNSTEADY}: 0 passed, 1 FAILED`)
      .and.include('1 failing')
      .and.include('it was the first time');
    expect(stdout).to.not.include('unsteady: ');
    expect(run(RUNNER, [UNSTEADY])).to.deep.include({ status: 0 });
  });

  it('runs a file that failed once more where it is asked to, and names it when it passes then', () => {
    const { status, stdout } = run(RUNNER, [UNSTEADY], { TESTS_AGAIN: 'on' });
    expect(status).to.equal(0);
    expect(stdout).to.match(
      new RegExp(`^unsteady: ${UNSTEADY} on SQLite\\n.*\\n.*it was the first time`, 'm'),
    );
  });

  it('counts how often a file passes', () => {
    const { status, stdout } = run(STEADY, [UNSTEADY, '--times', '2', '--load', '1']);
    expect(status).to.equal(1);
    expect(stdout).to.include('run 1 failed:').and.include('1 of 2 runs passed');
  });

  it('says what is wrong with its arguments', () => {
    expect(run(RUNNER, ['test/absent.test.ts'])).to.deep.equal({
      ...{ status: 2, stdout: '' },
      stderr: 'there is no file test/absent.test.ts; name files, or one of everyday, rest, full, endurance\n',
    });
    expect(run(RUNNER, ['--engine', 'mysql'])).to.include({ status: 2 });
    expect(run(STEADY, [])).to.include({ status: 2 });
  });
});
