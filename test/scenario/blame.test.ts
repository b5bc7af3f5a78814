// full: SQLite
import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import { addVersion, CONFIGURATIONS, create, MAIN, publish, versionsOf } from '../support/configurations.ts';
import { itOnSqlite } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { startHawser } from '../support/hawser.ts';
import { Outside } from '../support/outside.ts';
import { makeUser, type Person } from '../support/people.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { cleanUp, NOTHING_KEPT } from '../support/retention.ts';
import { started } from '../support/started.ts';

interface Entry {
  startLine: number;
  lineCount: number;
  version: string;
  commit: string;
  author: string;
  authoredAt: string;
}

const blameOf = (name: string, version: string, path: string) =>
  `${versionsOf(name)}/${version}/blame/${encodeURI(path)}`;

/** Numbered lines, with others in place of some. */
const text = (count: number, changed: Record<number, string> = {}) =>
  Array.from({ length: count }, (_, at) => `${changed[at + 1] ?? `line ${at + 1}`}\n`).join('');

/**
 * What stock git says of a file.
 * @param versions published ones, the lowest first
 */
function blameByGit(
  outside: Outside,
  { ref, path, versions }: { ref: string; path: string; versions: readonly string[] },
): Entry[] {
  const containing = (commit: string) => {
    const tags = outside.git('tag', '--contains', commit).split('\n');
    return versions.find((version) => tags.includes(`v${version}`)) ?? ref.replace('draft/', '');
  };
  const entries: Entry[] = [];
  let [commit, author] = ['', ''];
  for (const line of outside.git('blame', '--line-porcelain', ref, '--', path).split('\n')) {
    const [first = '', ...rest] = line.split(' ');
    if (/^[0-9a-f]{40}$/.test(first)) commit = first;
    if (first === 'author') author = rest.join(' ');
    if (first !== 'author-time') continue;
    const last = entries.at(-1);
    const startLine = last ? last.startLine + last.lineCount : 1;
    const authoredAt = new Date(Number(rest[0]) * 1_000).toISOString();
    if (last?.commit === commit) last.lineCount += 1;
    else entries.push({ startLine, lineCount: 1, version: containing(commit), commit, author, authoredAt });
  }
  return entries;
}

describe('blame', () => {
  const hawser = started(startHawser);
  let alice: Person;
  let outside: Outside;

  const versions = ['1.0.0', '1.0.1', '1.1.0', '1.2.0', '2.0.0'];
  const expectAsGit = async (version: string, path: string, ref = `v${version}`) => {
    const entries: Entry[] = await ok(200, hawser.admin.get(blameOf('web', version, path)));
    expect(entries, `${version} ${path}`).to.deep.equal(blameByGit(outside, { ref, path, versions }));
    return entries;
  };

  before(async () => {
    outside = new Outside(hawser, 'web');
    const special = { '[a] é.txt': text(3), '-x': text(2), 'crlf.txt': 'a\r\nb\r\nc', empty: '' };
    const binary = { 'tool.exe': Buffer.from([1, 0, 2]) };
    const of = (files: Record<string, string | Buffer>) => ({
      files: { [MAIN]: '$schema: x\nresources: []\n', ...special, ...binary, ...files },
    });
    await ok(201, create(hawser.admin, 'web', {}, of({ 'a.txt': text(40) })));
    await ok(200, publish(hawser.admin, 'web', '1.0.0'));
    alice = await makeUser(hawser, {
      username: 'alice',
      grants: [{ on: 'configuration', name: 'web', level: 'Manage' }],
    });
    const add = async (version: string, files: Record<string, string>) => {
      hawser.clock.advance(61_234);
      await ok(201, addVersion(alice, 'web', { version }, of(files)));
      await ok(200, publish(hawser.admin, 'web', version));
    };
    await add('1.1.0', { 'a.txt': text(40, { 3: 'three', 20: 'twenty' }), '[a] é.txt': text(4) });
    // A later version may be lower than one before, and then comes from an earlier one.
    await add('1.0.1', { 'a.txt': text(41, { 1: 'one' }) });
    await add('1.2.0', { 'moved/b.txt': text(40, { 3: 'three', 20: 'twenty', 39: 'new' }) });
    await add('2.0.0', { 'moved/b.txt': text(44, { 3: 'three', 20: 'twenty', 39: 'new', 21: 'next' }) });
    hawser.clock.advance(61_234);
    const draft = of({ 'moved/b.txt': `first\n${text(44, { 20: 'twenty' })}last without LF` });
    await ok(201, addVersion(hawser.admin, 'web', { version: '2.1.0' }, draft));
  });

  it('says of each line what git blame says, with the lowest version that contains it', async () => {
    expect((await expectAsGit('1.0.0', 'a.txt')).length).to.equal(1);
    expect((await expectAsGit('1.1.0', 'a.txt')).map(({ version }) => version)).to.deep.equal([
      ...['1.0.0', '1.1.0', '1.0.0', '1.1.0', '1.0.0'],
    ]);
    await expectAsGit('1.0.1', 'a.txt');
    for (const path of ['[a] é.txt', '-x', 'crlf.txt', MAIN]) await expectAsGit('2.0.0', path);
  });

  it('follows a renamed file to where its lines come from', async () => {
    const entries = await expectAsGit('2.0.0', 'moved/b.txt');
    expect(new Set(entries.map(({ version }) => version))).to.deep.equal(
      new Set(['1.0.0', '1.1.0', '1.2.0', '2.0.0']),
    );
    expect(new Set(entries.map(({ author }) => author))).to.deep.equal(new Set(['admin', 'alice']));
    expect(entries.reduce((sum, { lineCount }) => sum + lineCount, 0)).to.equal(44);
  });

  it('names the draft that is looked at where no published version has the line', async () => {
    const entries = await expectAsGit('2.1.0', 'moved/b.txt', 'draft/2.1.0');
    expect(entries[0]).to.include({ startLine: 1, lineCount: 1, version: '2.1.0', author: 'admin' });
    expect(entries.at(-1)).to.include({ startLine: 46, lineCount: 1, version: '2.1.0' });
  });

  it('answers with all of a file, or with the page that is asked for', async () => {
    const path = blameOf('web', '2.0.0', 'moved/b.txt');
    const whole = await hawser.admin.get(path);
    expect(whole.headers).to.include({ 'x-total-count': String(whole.json.length) });
    expect(whole.headers).to.not.have.property('link');
    const page = await hawser.admin.get(`${path}?take=2&skip=1`);
    expect(page.json).to.deep.equal(whole.json.slice(1, 3));
    expect(page.headers['x-total-count']).to.equal(whole.headers['x-total-count']);
    expect(page.headers['link']).to.match(/[?&]skip=3.*rel="next"/);
  });

  it('has nothing to say of an empty file, and refuses what has no lines or is not there', async () => {
    expect(await ok(200, hawser.admin.get(blameOf('web', '2.0.0', 'empty')))).to.deep.equal([]);
    await expectProblem(hawser.admin.get(blameOf('web', '2.0.0', 'tool.exe')), 409, 'binary_file');
    for (const [version, path] of [
      ['2.0.0', 'a.txt'],
      ['2.0.0', 'moved'],
      ['2.0.0', 'no/such'],
      ['2.0.0', '../a'],
      ['9.9.9', MAIN],
    ] as const)
      await expectProblem(hawser.admin.get(blameOf('web', version, path)), 404, 'not_found', path);
    await expectProblem(hawser.admin.get(blameOf('gone', '1.0.0', MAIN)), 404, 'not_found');
  });

  itOnSqlite('runs no program and takes no name that the repository brings along', async () => {
    const attributes = '* diff=run\n';
    const files = {
      [MAIN]: '$schema: x\nresources: []\n',
      'a.txt': text(2),
      '.gitattributes': attributes,
      '.mailmap': 'Somebody Else <else@example.org> <admin@localhost>\nElse <a@b> admin <>\n',
    };
    await ok(201, create(hawser.admin, 'hostile', {}, { files }));
    await ok(200, publish(hawser.admin, 'hostile', '1.0.0'));
    const hostile = new Outside(hawser, 'hostile');
    const email = hostile.git('log', '-1', '--format=%ae', 'v1.0.0');
    const mailmap = hostile.file('.mailmap', `Somebody Else <else@example.org> <${email}>\n`);
    const entries = [mailmap, hostile.file('.gitattributes', attributes), hostile.file('a.txt', text(2))];
    hostile.tag('1.1.0', [...entries, hostile.file(MAIN)]);
    await eventually(() => ok(200, hawser.admin.get(`${versionsOf('hostile')}/1.1.0`)));
    hostile.git('config', 'diff.run.textconv', `touch ${hawser.dataDir}/ran; cat`);
    for (const version of ['1.0.0', '1.1.0']) {
      const [entry] = await ok(200, hawser.admin.get(blameOf('hostile', version, 'a.txt')));
      expect(entry.author).to.equal(version === '1.0.0' ? 'admin' : 'Carol');
      expect(entry.lineCount).to.equal(2);
    }
    expect(readdirSync(hawser.dataDir)).to.not.include('ran');
  });

  itOnSqlite('follows merges, which stock git may have made, to both sides', async () => {
    await ok(201, create(hawser.admin, 'merged', {}, { files: { [MAIN]: text(9) } }));
    await ok(200, publish(hawser.admin, 'merged', '1.0.0'));
    const git = new Outside(hawser, 'merged');
    const side = (content: string, ...parents: string[]) =>
      git.git(
        ...['commit-tree', git.tree(git.file(MAIN, content)), '-m', 'x'],
        ...parents.flatMap((parent) => ['-p', parent]),
      );
    const base = git.git('rev-parse', 'v1.0.0^{commit}');
    const left = side(text(9, { 1: 'left' }), base);
    const right = side(text(9, { 9: 'right' }), base);
    const merge = side(text(9, { 1: 'left', 9: 'right' }), left, right);
    git.git('tag', '-a', 'v1.5.0', '-m', 'Merge', merge);
    git.git('tag', '-a', 'v1.4.0', '-m', 'Right', right);
    await eventually(() => ok(200, hawser.admin.get(`${versionsOf('merged')}/1.4.0`)));
    const entries: Entry[] = await ok(200, hawser.admin.get(blameOf('merged', '1.5.0', MAIN)));
    const wanted = { ref: 'v1.5.0', path: MAIN, versions: ['1.0.0', '1.4.0', '1.5.0'] };
    expect(entries).to.deep.equal(blameByGit(git, wanted));
    expect(entries.map(({ version, commit }) => [version, commit])).to.deep.equal([
      ...[
        ['1.5.0', left],
        ['1.0.0', base],
        ['1.4.0', right],
      ],
    ]);
  });

  it('blames what is older than the history that retention has left on its first commit', async () => {
    for (const version of ['1.0.0', '1.1.0', '1.2.0']) {
      const files = { [MAIN]: text(5, { [Number(version[2]) + 1]: version }) };
      const form = [hawser.admin, 'cut', { version }, { files }] as const;
      await ok(201, version === '1.0.0' ? create(...form) : addVersion(...form));
      await ok(200, publish(hawser.admin, 'cut', version));
    }
    await ok(200, hawser.admin.get(blameOf('cut', '1.2.0', MAIN)));
    hawser.clock.advance(1_000);
    await cleanUp(hawser.admin, 'configurations', { ...NOTHING_KEPT, keepVersions: 1 });
    const git = new Outside(hawser, 'cut');
    const entries = await ok(200, hawser.admin.get(blameOf('cut', '1.2.0', MAIN)));
    expect(entries).to.deep.equal(blameByGit(git, { ref: 'v1.2.0', path: MAIN, versions: ['1.2.0'] }));
    expect(entries).to.have.length(1);
    expect(entries[0]).to.include({ version: '1.2.0', startLine: 1, lineCount: 5 });
  });
});

describe('blame without a git binary', () => {
  const hawser = started(() => startHawser({ PATH: '/nonexistent' }));

  it('answers 501 where nothing else can tell', async () => {
    const files = { [MAIN]: '$schema: x\nresources: []\n', empty: '', 'tool.exe': Buffer.from([0]) };
    await ok(201, create(hawser.admin, 'web', {}, { files }));
    const problem = await expectProblem(
      hawser.admin.get(blameOf('web', '1.0.0', MAIN)),
      501,
      'git_not_available',
    );
    expect(problem.json.title).to.equal('Not Implemented');
    await ok(200, hawser.admin.get(blameOf('web', '1.0.0', 'empty')));
    await expectProblem(hawser.admin.get(blameOf('web', '1.0.0', 'tool.exe')), 409, 'binary_file');
    await expectProblem(hawser.admin.get(blameOf('web', '1.0.0', 'other')), 404, 'not_found');
    expect((await ok(200, hawser.admin.get(`${CONFIGURATIONS}/web`))).versionCount).to.equal(1);
  });
});
