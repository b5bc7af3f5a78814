// full: SQLite
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { type FetchCall, UploadPack, type UploadPackLimits } from '../../../src/git/upload-pack.ts';
import type { HawserError } from '../../../src/lib/errors.ts';
import { createLog } from '../../../src/lib/log.ts';
import { refusalOf } from '../../support/failures.ts';
import { fetchRequest, processesIn, until } from '../../support/git-client.ts';
import { git } from '../../support/hawser.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { NO_CACHE } from './support.ts';

const SYSTEM_PATH = process.env['PATH'] ?? '';

describe('UploadPack', () => {
  const temporary = temporaryFolder();
  let folder: string;
  let lines: string[];
  let open: UploadPack[];

  beforeEach(() => {
    folder = temporary();
    lines = [];
    open = [];
  });

  afterEach(async () => {
    for (const uploadPack of open) await uploadPack.close();
    expect(processesIn(folder)).to.deep.equal([]);
  });

  async function uploadPackWith(
    limits: Partial<UploadPackLimits> = {},
    searchPath = SYSTEM_PATH,
  ): Promise<UploadPack> {
    const log = createLog('debug', { write: (line: string) => void lines.push(line) });
    const uploadPack = new UploadPack({ root: folder, searchPath, log, folders: NO_CACHE, limits });
    await uploadPack.open();
    open.push(uploadPack);
    return uploadPack;
  }

  function callOf(overrides: Partial<FetchCall> = {}): FetchCall {
    return {
      repository: { kind: 'configurations', name: 'web' },
      caller: 'ann',
      protocol: 'version=2',
      gone: new AbortController().signal,
      ...overrides,
    };
  }

  /** A repository with one commit of one file. */
  function makeRepository(content: string | Buffer = 'one'): string {
    const gitdir = join(folder, 'configurations/web.git');
    mkdirSync(join(folder, 'configurations'));
    git(folder, 'init', '-q', '--bare', '-b', 'main', gitdir);
    writeFileSync(join(folder, 'content'), content);
    const as = ['--git-dir', gitdir, '--work-tree', folder];
    git(folder, ...as, 'add', 'content');
    git(folder, '-c', 'user.name=a', '-c', 'user.email=a@b', ...as, 'commit', '-q', '-m', 'one');
    return gitdir;
  }

  /** A program that is taken for git: a shell script, run for everything but `--version`. */
  function fakeGit(script: string, version = '2.40.1'): string {
    // A version that was found is remembered, so that another one needs a folder of its own.
    const path = join(folder, `bin-${version}`);
    mkdirSync(path, { recursive: true });
    const answer = `[ "$1" = --version ] && echo git version ${version} && exit`;
    const text = `#!/bin/sh\ncd '${folder}'\n${answer}\n${script}\n`;
    writeFileSync(join(path, 'git'), text, { mode: 0o755 });
    return `${path}:/usr/bin:/bin`;
  }

  const warnings = () => lines.filter((line) => line.includes('"level":"warn"'));
  const processes = () => processesIn(folder);
  const none = () => until(() => processes().length === 0, 'the end of all processes');

  it('hands git nothing of its own environment and no configuration', async () => {
    process.env['GIT_DIR'] = '/elsewhere';
    process.env['HAWSER_ADMIN_PASSWORD'] = 'secret';
    try {
      const path = fakeGit('env | sort > env; echo "$@" > args; echo done');
      const uploadPack = await uploadPackWith({}, path);
      expect(await text(await uploadPack.advertise(callOf()))).to.equal('done\n');
      const environment = readFileSync(join(folder, 'env'), 'utf8')
        .split('\n')
        .filter((line) => line !== '' && !/^(?:PWD|OLDPWD|SHLVL|_)=/.test(line));
      expect(environment).to.deep.equal([
        'GIT_CONFIG_GLOBAL=/dev/null',
        'GIT_CONFIG_NOSYSTEM=1',
        'GIT_PROTOCOL=version=2',
        'HOME=/nonexistent',
        'LC_ALL=C',
        `PATH=${path}`,
      ]);
      expect(readFileSync(join(folder, 'args'), 'utf8')).to.match(
        / upload-pack --stateless-rpc --advertise-refs --strict --timeout=1800 --end-of-options \/.*\/web\.git\n$/,
      );
    } finally {
      delete process.env['GIT_DIR'];
      delete process.env['HAWSER_ADMIN_PASSWORD'];
    }
  });

  it('runs no hook that the repository names', async () => {
    const gitdir = makeRepository();
    const hook = join(folder, 'hook');
    writeFileSync(hook, `#!/bin/sh\ntouch '${folder}/ran'\nexec "$@"\n`, { mode: 0o755 });
    git(gitdir, 'config', 'uploadpack.packObjectsHook', hook);
    const oid = git(gitdir, 'rev-parse', 'main').trim();
    const answer = await (await uploadPackWith()).serve(callOf(), Readable.from([fetchRequest(oid)]));
    expect(await text(answer)).to.include('PACK');
    expect(readdirSync(folder)).to.not.include('ran');
  });

  if (process.getuid?.() === 0) {
    it('serves a repository that belongs to another user', async () => {
      const gitdir = makeRepository();
      execFileSync('chown', ['-R', '12345', gitdir]);
      expect(await text(await (await uploadPackWith()).advertise(callOf()))).to.match(/^000eversion 2/);
    });
  }

  it('lets as many run as may, the next few wait, and sends the rest away', async () => {
    const path = fakeGit('echo begun; read line; echo $line');
    const uploadPack = await uploadPackWith({ processes: 2, queue: 1 }, path);
    const inputs = Array.from({ length: 3 }, () => new Readable({ read: () => undefined }));
    const [first, second] = await Promise.all(
      ['ann', 'bob'].map((caller, at) => uploadPack.serve(callOf({ caller }), inputs[at] as Readable)),
    );
    let third: Readable | undefined;
    const waiting = uploadPack.serve(callOf({ caller: 'cyd' }), inputs[2] as Readable).then((answer) => {
      third = answer;
      return answer;
    });
    const refusal = await refusalOf(uploadPack.advertise(callOf({ caller: 'dan' })));
    expect(refusal).to.include({ kind: 'unavailable', code: 'overloaded', retryAfter: 5 });
    expect(third).to.equal(undefined);
    inputs[0]?.push('a\n');
    expect(await text(first as Readable)).to.equal('begun\na\n');
    await waiting;
    for (const input of inputs.slice(1)) input.push('b\n');
    expect(await text(second as Readable)).to.equal('begun\nb\n');
    expect(await text(third as unknown as Readable)).to.equal('begun\nb\n');
  });

  it('gives half of the places to one user at most', async () => {
    const path = fakeGit('echo begun; exec sleep 60');
    const uploadPack = await uploadPackWith({ processes: 4, queuePerCaller: 1 }, path);
    const answers = [await uploadPack.advertise(callOf()), await uploadPack.advertise(callOf())];
    const gone = new AbortController();
    const third = refusalOf(uploadPack.advertise(callOf({ gone: gone.signal })));
    expect((await refusalOf(uploadPack.advertise(callOf()))).code).to.equal('rate_limited');
    for (const _place of [1, 2]) answers.push(await uploadPack.advertise(callOf({ caller: 'bob' })));
    gone.abort();
    expect((await third).code).to.equal('client_gone');
    for (const answer of answers) answer.destroy();
    await none();
  });

  it('gives waiting up after a while, and forgets who left', async () => {
    const path = fakeGit('echo begun; exec sleep 60');
    const uploadPack = await uploadPackWith({ processes: 1, queue: 1, patience: 100 }, path);
    const running = await uploadPack.advertise(callOf());
    expect((await refusalOf(uploadPack.advertise(callOf()))).code).to.equal('rate_limited');
    const leaver = new AbortController();
    const left = refusalOf(uploadPack.advertise(callOf({ gone: leaver.signal })));
    leaver.abort();
    expect((await left).code).to.equal('client_gone');
    running.destroy();
    await none();
    (await uploadPack.advertise(callOf())).destroy();
  });

  it('breaks off what nobody reads, and what takes too long', async () => {
    const path = fakeGit('while :; do head -c 65536 /dev/zero; sleep 0.01; done');
    for (const limits of [{ stall: 1_000 }, { total: 1_500 }]) {
      const uploadPack = await uploadPackWith(limits, path);
      const answer = await uploadPack.advertise(callOf());
      if ('total' in limits) answer.resume();
      const error = await new Promise<Error>((resolve) => answer.on('error', resolve));
      expect((error as HawserError).code).to.equal('git_timeout');
      await none();
    }
  });

  it('says in time that git does not answer', async () => {
    const uploadPack = await uploadPackWith({ stall: 300 }, fakeGit('exec sleep 60'));
    const refusal = await refusalOf(uploadPack.advertise(callOf()));
    expect(refusal).to.include({ kind: 'unavailable', code: 'git_timeout' });
    await none();
  });

  it('ends a process that will not end when told, and its children', async () => {
    const path = fakeGit(`trap '' TERM; sh -c "trap '' TERM; sleep 60; :" & echo begun; sleep 60; sleep 60`);
    const uploadPack = await uploadPackWith({}, path);
    const gone = new AbortController();
    const answer = await uploadPack.advertise(callOf({ gone: gone.signal }));
    answer.on('error', () => undefined);
    expect(processes().length).to.be.greaterThan(1);
    gone.abort();
    await none();
    expect(answer.destroyed).to.equal(true);
  });

  it('ends what is still running when it is closed, and refuses more', async () => {
    const path = fakeGit('echo begun; exec sleep 60');
    const uploadPack = await uploadPackWith({}, path);
    const answers = await Promise.all([uploadPack.advertise(callOf()), uploadPack.advertise(callOf())]);
    for (const answer of answers) answer.on('error', () => undefined);
    await uploadPack.close();
    expect(processes()).to.deep.equal([]);
    expect((await refusalOf(uploadPack.advertise(callOf()))).code).to.equal('shutting_down');
  });

  it('tells a damaged repository from a bad request', async () => {
    const gitdir = makeRepository();
    const uploadPack = await uploadPackWith();
    const bad = await refusalOf(uploadPack.serve(callOf(), Readable.from(['garbage'])));
    expect(bad).to.include({ kind: 'invalid', code: 'malformed_body' });
    rmSync(join(gitdir, 'HEAD'));
    const damaged = await refusalOf(uploadPack.advertise(callOf()));
    expect(damaged).to.include({ kind: 'internal', code: 'repository_damaged' });
    expect(damaged.message).to.not.include(folder);
    await until(() => warnings().length > 0, 'a warning');
    expect(warnings().join()).to.include('does not appear');
  });

  it('hands on what git says when it finds damage in the middle', async () => {
    const gitdir = makeRepository();
    const blob = git(gitdir, 'rev-parse', 'main:content').trim();
    rmSync(join(gitdir, 'objects', blob.slice(0, 2), blob.slice(2)));
    const uploadPack = await uploadPackWith();
    const oid = git(gitdir, 'rev-parse', 'main').trim();
    const answer = await uploadPack.serve(callOf(), Readable.from([fetchRequest(oid)]));
    expect(await text(answer)).to.include('possible repository corruption on the remote side');
    await until(() => warnings().length > 0, 'a warning');
  });

  it('breaks the answer off when git is killed', async () => {
    const uploadPack = await uploadPackWith({}, fakeGit('echo begun; sleep 0.1; kill -9 $$'));
    const answer = await uploadPack.advertise(callOf());
    const error = await refusalOf(text(answer));
    expect(error.code).to.equal('internal_error');
  });

  it('wants a git that is there and not too old', async () => {
    const empty = await uploadPackWith({}, folder);
    const absent = await refusalOf(empty.advertise(callOf()));
    expect(absent).to.include({ kind: 'not_implemented', code: 'git_not_available' });
    const old = await uploadPackWith({}, fakeGit('', '2.23.4'));
    expect((await refusalOf(old.advertise(callOf()))).code).to.equal('git_not_available');
    const recent = await uploadPackWith({}, fakeGit('echo x', '3.1'));
    expect(await text(await recent.advertise(callOf()))).to.equal('x\n');
    expect(warnings()).to.have.length(2);
  });
});
