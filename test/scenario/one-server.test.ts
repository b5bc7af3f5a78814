// full: SQLite
/** A folder has one server at a time: who is refused, whom that names, and how a folder becomes free (decision 0042). */

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { PROJECT } from '../../scripts/support/project.ts';
import { CHEAP_HASHES } from '../support/cheap-hashes.ts';
import { makeClient, type Target } from '../support/client.ts';
import { databaseSettings } from '../support/engine.ts';
import { ADMIN_PASSWORD, signIn } from '../support/hawser.ts';
import { itWith } from '../support/optional-tools.ts';
import { programArguments } from '../support/program.ts';
import { type Ended, runHawser, type Spawned, spawnHawser } from '../support/spawned.ts';

describe('a folder', () => {
  let folder: string;
  let running: Spawned[];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'hawser-folder-'));
    running = [];
  });
  afterEach(async () => {
    for (const { child } of running) child.kill('SIGKILL');
    for (const spawned of running) await spawned.ended;
    rmSync(folder, { recursive: true, force: true });
  });

  async function start(settings: Record<string, string> = {}): Promise<Spawned> {
    const spawned = await spawnHawser(folder, settings);
    running.push(spawned);
    return spawned;
  }

  async function ended(settings: Record<string, string> = {}): Promise<Ended> {
    const spawned = await start(settings);
    return spawned.ended;
  }

  async function started(settings: Record<string, string> = {}): Promise<Spawned & { target: Target }> {
    const spawned = await start(settings);
    return { ...spawned, target: await spawned.listening() };
  }

  const serves = async (target: Target): Promise<void> => {
    const client = makeClient(target);
    await signIn(client, 'admin', ADMIN_PASSWORD);
    client.close();
  };

  /** The refusal is one line that names the setting and the process. */
  function expectRefused({ code, stdout, stderr }: Ended, setting: string, pid: number | undefined): void {
    expect(stderr.trim().split('\n'), stderr).to.have.length(1);
    expect(stderr).to.include(`${setting}: another Hawser server (process ${pid}) uses `);
    expect(stderr).to.include('Stop that one first');
    expect(stdout).to.equal('');
    expect(code).to.equal(78);
  }

  it('that a server uses is refused to every other one, by each of its names, and stays as it is', async () => {
    const first = await started();
    const before = readdirSync(join(folder, 'data')).sort();
    const log = first.stdout();
    symlinkSync(folder, join(folder, 'link'));
    const other = join(folder, 'other');
    const [again, linked, sharing] = await Promise.all([
      ended(),
      ended({ HAWSER_DATA_DIR: join(folder, 'link/data') }),
      ended({ HAWSER_DATA_DIR: other }),
    ]);
    expectRefused(again, 'HAWSER_DATA_DIR', first.child.pid);
    expectRefused(linked, 'HAWSER_DATA_DIR', first.child.pid);
    expectRefused(sharing, 'HAWSER_REPOS_DIR', first.child.pid);
    expect(readdirSync(other), 'no database, and no word of who has gone').to.deep.equal(['hawser.lock']);
    expect(readdirSync(join(folder, 'data')).sort()).to.deep.equal(before);
    expect(first.stdout()).to.equal(log);
    await serves(first.target);
    // Each with folders of its own, they serve side by side.
    await started({ HAWSER_DATA_DIR: other, HAWSER_REPOS_DIR: join(folder, 'other-repos') });
  });

  it('may be both: the data folder and that of the repositories', async () => {
    const both = { HAWSER_DATA_DIR: join(folder, 'both'), HAWSER_REPOS_DIR: join(folder, 'both') };
    const first = await start(both);
    await first.logged('"msg":"listening"');
    expectRefused(await ended(both), 'HAWSER_DATA_DIR', first.child.pid);
  });

  it('is free at once when its server has closed or was killed', async () => {
    const closed = await started();
    closed.child.kill('SIGTERM');
    expect((await closed.ended).code).to.equal(0);
    for (const name of ['data', 'repos'])
      expect(existsSync(join(folder, name, 'hawser.pid'))).to.equal(false);
    const killed = await started();
    expect(readFileSync(join(folder, 'data/hawser.pid'), 'utf8').split('\n')[0]).to.equal(
      String(killed.child.pid),
    );
    killed.child.kill('SIGKILL');
    // It starts while the other is only just dying.
    await serves((await started()).target);
  });

  it('is free when its server is a zombie, which nobody has waited for', async () => {
    const env = {
      ...{ PATH: process.env['PATH'] ?? '', HAWSER_HOST: '127.0.0.1', HAWSER_PORT: '0' },
      ...{ HAWSER_DATA_DIR: join(folder, 'data'), HAWSER_REPOS_DIR: join(folder, 'repos') },
      ...{ HAWSER_ADMIN_PASSWORD: ADMIN_PASSWORD, ...CHEAP_HASHES },
      ...(await databaseSettings(join(folder, 'data'))),
    };
    // The shell becomes a sleep, which never waits for the child that it has inherited.
    const script = '"$@" & echo "pid $!"; exec sleep 600';
    const words = ['-c', script, 'sh', process.execPath, ...programArguments('main')];
    const parent = spawn('sh', words, { cwd: PROJECT, env });
    try {
      let pid = 0;
      for await (const line of createInterface({ input: parent.stdout })) {
        if (line.startsWith('pid ')) pid = Number(line.slice(4));
        if (line.includes('"msg":"listening"')) break;
      }
      process.kill(pid, 'SIGKILL');
      while (stateOf(pid) !== 'Z') await sleep(5);
      await serves((await started()).target);
      expect(stateOf(pid), 'it is one still').to.equal('Z');
    } finally {
      parent.kill('SIGKILL');
      await once(parent, 'close');
    }
  });

  for (const left of ['nothing', 'a killed server'] as const) {
    it(`goes to exactly one of those that start at the same moment, after ${left}`, async () => {
      if (left === 'a killed server') {
        const killed = await started();
        killed.child.kill('SIGKILL');
        await killed.ended;
      }
      const all = await Promise.all([start(), start(), start()]);
      const outcomes = await Promise.all(
        all.map(async (one) => one.listening().catch(async () => (await one.ended).code)),
      );
      const targets = outcomes.filter((outcome) => typeof outcome === 'object' && outcome !== null);
      expect(targets).to.have.length(1);
      const winner = all[outcomes.indexOf(targets[0] ?? null)];
      for (const one of all) {
        if (one !== winner) expectRefused(await one.ended, 'HAWSER_DATA_DIR', winner?.child.pid);
      }
      await serves(targets[0] as Target);
    });
  }

  it('that cannot be locked is refused with the reason', async () => {
    mkdirSync(join(folder, 'data'));
    for (const [make, reason] of [
      [(path: string) => mkdirSync(path), 'SQLITE_CANTOPEN'],
      [(path: string) => writeFileSync(path, 'not what a server makes '.repeat(1_000)), 'SQLITE_NOTADB'],
    ] as const) {
      const path = join(folder, 'data/hawser.lock');
      make(path);
      const { code, stderr } = await ended();
      expect(stderr).to.match(
        new RegExp(
          `^hawser: HAWSER_DATA_DIR: its file hawser.lock cannot be locked \\(${reason}\\w*\\); allowed: .+\n$`,
        ),
      );
      expect(code).to.equal(78);
      rmSync(path, { recursive: true });
    }
    await started();
  });

  itWith(
    ['python3'],
    'that is in use is open to the other commands, whose archives hold no lock',
    async () => {
      const first = await started();
      const run = (...words: string[]) => runHawser(folder, {}, words);
      const archive = join(folder, 'archive.zip');
      const backup = await run('backup', archive);
      expect(backup.code, backup.stderr).to.equal(0);
      expect(execFileSync('python3', ['-m', 'zipfile', '-l', archive], { encoding: 'utf8' })).to.not.match(
        /hawser\.(lock|pid)/,
      );
      const doctor = await run('doctor');
      expect(doctor.code, doctor.stdout).to.equal(0);
      expect(doctor.stdout).to.not.match(/hawser\.(lock|pid)/);
      // A server that was refused has left its lock file in a folder that holds nothing else.
      const site = { HAWSER_DATA_DIR: join(folder, 'site'), HAWSER_REPOS_DIR: join(folder, 'site-repos') };
      await ended({ ...site, HAWSER_REPOS_DIR: join(folder, 'repos') });
      const restored = await runHawser(folder, site, ['restore', archive]);
      expect(restored.code, restored.stderr).to.equal(0);
      const refused = await run('restore', archive);
      expect(refused.stderr).to.match(/is not empty/);
      expect(refused.code).to.equal(1);
      await serves(first.target);
    },
  );
});

/** The letter of /proc: `Z` is a zombie. */
function stateOf(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3);
}
