// full: SQLite
/** Pushes of history that programs other than today's git have made: odd dates, zones, modes, and texts that are no UTF-8. */

import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { fileOf, MAIN, versionsOf } from '../support/configurations.ts';
import { save, versionOf } from '../support/draft-files.ts';
import { gitClient } from '../support/git-client.ts';
import { createToken, type Hawser, startHawser } from '../support/hawser.ts';
import { assign, poll } from '../support/parameter-files.ts';
import { beginAuthor, cloneOf, DRAFT, type PushAuthor } from '../support/push-author.ts';
import { ok } from '../support/replies.ts';
import { runHawser } from '../support/spawned.ts';
import { started } from '../support/started.ts';

const BY = 'Ada Author <ada@example.org> 1700000000 +0000';
const ODD: Record<string, string> = {
  badTimezone: 'Ada Author <ada@example.org> 1700000000 +051800',
  badDateOverflow: 'Ada Author <ada@example.org> 18446744073709551616 +0000',
  missingSpaceBeforeDate: 'Ada Author <ada@example.org>1700000000 +0000',
};
const DOCUMENT = '$schema: x\nresources: []\n';

/** Writes objects into an author's clone as they are. */
function writerOf({ folder }: PushAuthor) {
  const put = (type: string, content: Buffer | string) =>
    execFileSync('git', ['-C', folder, 'hash-object', '-w', '--literally', '-t', type, '--stdin'], {
      input: content,
      encoding: 'utf8',
    }).trim();
  const tree = (...entries: [mode: string, name: string, oid: string][]) =>
    put(
      'tree',
      Buffer.concat(
        entries.flatMap(([mode, name, oid]) => [Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, 'hex')]),
      ),
    );
  const files = () => tree(['100644', MAIN, put('blob', DOCUMENT)]);
  const commit = (of: string, by: { author?: string; committer?: string; parent?: string } = {}) => {
    const parent = by.parent === undefined ? '' : `parent ${by.parent}\n`;
    const people = `author ${by.author ?? BY}\ncommitter ${by.committer ?? BY}\n`;
    return put('commit', `tree ${of}\n${parent}${people}\nwhat was done\n`);
  };
  return { put, tree, files, commit };
}

describe('a push of old history', () => {
  const hawser = started(startHawser);
  const client = started(async () => gitClient(hawser));
  let token: string;
  let author: PushAuthor;

  before(async () => {
    token = await createToken(hawser.client(), hawser.session, ['configurations.admin-override']);
  });
  beforeEach(async () => {
    author = await beginAuthor(hawser, client, token);
  });

  const taken = async (...args: string[]) => {
    const { code, output } = await author.push('-q', ...args);
    expect(code, output).to.equal(0);
  };
  const show = (version: string) => ok(200, hawser.admin.get(versionOf(author.name, version)));

  for (const [fault, who] of Object.entries(ODD)) {
    it(`is taken with ${fault}, below the version and in it, and by a tag`, async () => {
      const { put, files, commit } = writerOf(author);
      const first = commit(files(), { author: who });
      const second = commit(files(), { committer: who, parent: first });
      await taken(`${commit(files(), { parent: second })}:${DRAFT}/1.1.0`);
      await taken('-o', 'publish', `${commit(files(), { author: who, committer: who })}:${DRAFT}/1.2.0`);
      const tag = `object ${second}\ntype commit\ntag v1.3.0\ntagger ${who}\n\nold\n`;
      await taken(`${put('tag', tag)}:refs/tags/v1.3.0`);
      for (const version of ['1.1.0', '1.2.0', '1.3.0']) {
        const shown = await show(version);
        expect(shown.author).to.deep.equal({ name: 'Ada Author', email: 'ada@example.org' });
        expect(shown.files.map(({ path }: { path: string }) => path)).to.deep.equal([MAIN]);
        const blamed = await ok(200, hawser.admin.get(`${versionOf(author.name, version)}/blame/${MAIN}`));
        expect(blamed[0]).to.include({ author: 'Ada Author' });
      }
    });
  }

  it('is taken with zeros at the front of modes, and its drafts can be edited', async () => {
    const { put, tree, commit } = writerOf(author);
    const sub = tree(['0100644', 'x.txt', put('blob', 'x\n')], ['100755', 'y.sh', put('blob', 'y\n')]);
    const root = tree(['0100644', MAIN, put('blob', DOCUMENT)], ['040000', 'sub', sub]);
    await taken(`${commit(root, { parent: commit(root) })}:${DRAFT}/1.1.0`);
    const paths = async () => (await show('1.1.0')).files.map(({ path }: { path: string }) => path);
    expect(await paths()).to.deep.equal([MAIN, 'sub/x.txt', 'sub/y.sh']);
    await ok(200, save(hawser.admin, [author.name, '1.1.0', 'sub/x.txt'], 'edited\n'));
    await ok(201, save(hawser.admin, [author.name, '1.1.0', 'sub-1'], 'new\n'));
    expect(await paths()).to.deep.equal([MAIN, 'sub-1', 'sub/x.txt', 'sub/y.sh']);
    expect((await hawser.admin.get(fileOf(author.name, '1.1.0', 'sub/x.txt'))).text).to.equal('edited\n');
    await author.ok('fetch', '-q', 'origin', `${DRAFT}/1.1.0`);
    expect(await author.ok('ls-tree', '-r', '--name-only', 'FETCH_HEAD')).to.equal(
      `${MAIN}\nsub-1\nsub/x.txt\nsub/y.sh\n`,
    );
  });

  it('is no damage to those who look for it, and can be cloned', async () => {
    const { put, tree, files, commit } = writerOf(author);
    let parent = commit(tree(['0100644', MAIN, put('blob', DOCUMENT)], ['040000', 'sub', files()]));
    for (const who of Object.values(ODD)) parent = commit(files(), { author: who, committer: who, parent });
    await taken('-o', 'publish', `${parent}:${DRAFT}/1.1.0`);
    const node = await hawser.registerNode('old.example.org');
    await assign(hawser, node, author.name);
    const { checksum } = await ok(200, poll(node));
    await cloneOf(client, author.name, token);
    await expectSound(hawser, checksum);
  });

  it('is refused with other faults, in words', async () => {
    const { tree, put, files, commit } = writerOf(author);
    const twice = put('blob', DOCUMENT);
    const faults: [oid: string, words: RegExp][] = [
      [
        commit(files(), { author: 'Ada 1700000000 +0000' }),
        /no e-mail address between < and >.*missingEmail/,
      ],
      [commit(files(), { committer: 'Ada <a@x> soon' }), /no date that can be read.*badDate/],
      [commit(tree(['100644', MAIN, twice], ['100644', MAIN, twice])), /two of its files have the same name/],
    ];
    for (const [oid, words] of faults) {
      const { code, output } = await author.push(`${oid}:${DRAFT}/1.1.0`);
      expect(code).to.equal(1);
      expect(output)
        .to.match(/\(invalid_pack\)/)
        .and.to.match(words);
      expect(output).to.include('hawser: Nothing was changed.');
    }
  });

  describe('with an encoding', () => {
    const latin1 = (text: string) => Buffer.from(text, 'latin1');
    const shiftJis = (text: string) =>
      Buffer.concat(
        text.split('日本').flatMap((part, at) => [...(at ? [latin1('\x93\xfa\x96\x7b')] : []), latin1(part)]),
      );
    const encodedCommit = (who: string, label: string, write: (text: string) => Buffer) => {
      const { put, files } = writerOf(author);
      const person = `${who} <j@example.org> 1700000000 +0100`;
      const text = `tree ${files()}\nauthor ${person}\ncommitter ${person}\nencoding ${label}\n\n`;
      return put('commit', write(`${text}${who} was here\n\nEntry-Point: ${MAIN}\n`));
    };

    for (const [label, who, write] of [
      ['ISO-8859-1', 'Jörg Müller', latin1],
      ['Shift_JIS', '日本', shiftJis],
      ['x-nothing-at-all', 'Ada', latin1],
    ] as const) {
      it(`${label} shows who made it and why`, async () => {
        await taken(`${encodedCommit(who, label, write)}:${DRAFT}/1.1.0`);
        await taken('-o', 'publish', `${encodedCommit(who, label, write)}:${DRAFT}/1.2.0`);
        for (const version of ['1.1.0', '1.2.0']) {
          const shown = await show(version);
          expect(shown.author).to.deep.equal({ name: who, email: 'j@example.org' });
          expect(shown.message).to.equal(`${who} was here`);
          const [line] = await ok(200, hawser.admin.get(`${versionOf(author.name, version)}/blame/${MAIN}`));
          expect(line.author).to.equal(who);
        }
        const listed = await ok(200, hawser.admin.get(versionsOf(author.name)));
        expect(listed.map((each: { author: { name: string } }) => each.author.name)).to.include(who);
      });
    }

    it('is left behind in what this server writes', async () => {
      await taken(`${encodedCommit('Jörg', 'ISO-8859-1', latin1)}:${DRAFT}/1.1.0`);
      await ok(200, save(hawser.admin, [author.name, '1.1.0', MAIN], `${DOCUMENT}# edited\n`));
      expect((await show('1.1.0')).message).to.equal('Jörg was here');
      await author.ok('fetch', '-q', 'origin', `${DRAFT}/1.1.0`);
      const edited = await author.ok('cat-file', 'commit', 'FETCH_HEAD');
      expect(edited)
        .to.include('Jörg was here')
        .and.to.not.match(/^encoding/m);
    });
  });
});

async function expectSound(hawser: Hawser, checksum: string): Promise<void> {
  const doctor = await runHawser(hawser.folder, {}, ['doctor', '--json']);
  expect(JSON.parse(doctor.stdout)).to.include({ errors: 0, warnings: 0 });
  const verified = await runHawser(hawser.folder, {}, ['verify', checksum]);
  expect(verified.stdout, verified.stderr).to.equal('match\n');
}
