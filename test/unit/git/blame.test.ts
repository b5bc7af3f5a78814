import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { GitBlame, type GitBlameLimits } from '../../../src/git/blame.ts';
import { BlameOutput } from '../../../src/git/blame-output.ts';
import { createLog } from '../../../src/lib/log.ts';
import { failureOf, refusalOf } from '../../support/failures.ts';
import { processesIn, until } from '../../support/git-client.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { NO_CACHE } from './support.ts';

const [ONE, TWO] = ['1'.repeat(40), '2'.repeat(40)];
const FILE = { repository: { kind: 'configurations', name: 'web' } as const, commit: ONE, path: 'a' };

describe('GitBlame', () => {
  const temporary = temporaryFolder();
  let folder: string;
  let open: GitBlame[];

  beforeEach(() => {
    folder = temporary();
    mkdirSync(join(folder, 'configurations/web.git'), { recursive: true });
    open = [];
  });
  afterEach(async () => {
    for (const blame of open) await blame.close();
    expect(processesIn(folder)).to.deep.equal([]);
  });

  /** Takes a shell script for git. */
  function blameWith(script: string, limits: Partial<GitBlameLimits> = {}): GitBlame {
    const path = join(folder, 'bin');
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, 'git'), `#!/bin/sh\ncd '${folder}'\n${script}\n`, { mode: 0o755 });
    const options = { root: folder, searchPath: `${path}:/usr/bin:/bin`, hasGit: true, limits };
    const blame = new GitBlame({ ...options, folders: NO_CACHE, log: createLog('silent') });
    open.push(blame);
    return blame;
  }

  const here = () => new AbortController().signal;

  it('breaks off what takes too long, and what prints too much', async () => {
    const slow = blameWith('exec sleep 60', { total: 200 });
    const late = await refusalOf(slow.lines(FILE, here()));
    expect(late).to.include({ kind: 'unavailable', code: 'git_timeout' });
    expect(await refusalOf(slow.parents(FILE.repository, [ONE]))).to.include({ code: 'git_timeout' });
    const endless = blameWith(`echo ${ONE} 1 1 1; while :; do echo summary x; done`, { output: 100_000 });
    expect(await refusalOf(endless.lines(FILE, here()))).to.include({ code: 'git_timeout' });
    expect(endless.processes).to.equal(0);
  });

  it('ends the process of a caller who has gone, and refuses when it is closed', async () => {
    const blame = blameWith('exec sleep 60');
    const caller = new AbortController();
    const left = refusalOf(blame.lines(FILE, caller.signal));
    await until(() => processesIn(folder).length > 0, 'the start of git');
    caller.abort();
    expect((await left).code).to.equal('client_gone');
    const cutOff = refusalOf(blame.lines(FILE, here()));
    await until(() => processesIn(folder).length > 0, 'the start of git');
    await blame.close();
    expect((await cutOff).code).to.equal('shutting_down');
    expect((await refusalOf(blame.lines(FILE, here()))).code).to.equal('shutting_down');
  });

  it('tells a damaged repository from one that is gone, and shows no path', async () => {
    const blame = blameWith(`echo fatal: bad object in ${folder} >&2; exit 128`);
    const damaged = await refusalOf(blame.lines(FILE, here()));
    expect(damaged).to.include({ kind: 'internal', code: 'repository_damaged' });
    expect(damaged.message).to.not.include(folder);
    rmSync(join(folder, 'configurations/web.git'), { recursive: true });
    expect((await refusalOf(blame.lines(FILE, here()))).code).to.equal('repository_missing');
    const other = await failureOf(blameWith('echo what is this').lines(FILE, here()));
    expect(other.message).to.match(/no entry/);
  });

  it('serves callers in turn, and bounds how many of one wait', async () => {
    const blame = blameWith('exit 0', { slots: 1, waiting: 8, waitingPerCaller: 1 });
    const order: string[] = [];
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const turn = (caller: string, name: string, work: Promise<void> = Promise.resolve()) =>
      blame.inTurn({ caller, gone: here() }, () => {
        order.push(name);
        return work;
      });
    const first = turn('alice', 'a1', released);
    const waiting = [turn('alice', 'a2'), turn('bob', 'b1')];
    expect((await refusalOf(turn('alice', 'a3'))).code).to.equal('rate_limited');
    release();
    await Promise.all([first, ...waiting]);
    expect(order[0]).to.equal('a1');
    expect(order).to.have.members(['a1', 'a2', 'b1']);
  });
});

describe('the output of git blame', () => {
  const entry = (commit: string, line: number, count: number, ...facts: string[]) => [
    `${commit} 7 ${line} ${count}`,
    ...facts,
    'filename "a\\nb"',
  ];

  it('is put into the order of the lines, and adjacent ones of a commit are one entry', async () => {
    const output = new BlameOutput();
    const lines = [
      ...entry(TWO, 3, 2, 'author Ä b', 'author-time 1795396756', `summary ${ONE} 1 1 1`, 'boundary'),
      ...entry(ONE, 2, 1, 'author ', 'author-time 99999999999999'),
      ...entry(ONE, 1, 1),
      ...entry(TWO, 5, 4),
    ];
    for (const line of lines) output.take(line);
    expect(await output.finish()).to.deep.equal([
      { startLine: 1, lineCount: 2, commit: ONE, author: '', authoredAt: 0 },
      { startLine: 3, lineCount: 6, commit: TWO, author: 'Ä b', authoredAt: 1_795_396_756_000 },
    ]);
  });
});
