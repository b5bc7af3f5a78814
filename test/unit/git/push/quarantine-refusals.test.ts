// full: SQLite
import { randomBytes } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { tooLarge } from '../../../../src/lib/errors.ts';
import { until } from '../../../support/git-client.ts';
import { entry, type Instruction, idOf, packWith, refDelta, tree } from '../../../support/hand-made-pack.ts';
import { failureOf, MIB, Site, streamOf } from './quarantine-support.ts';

const ONE = Buffer.from('one');
const NOWHERE = '1'.repeat(40);

describe('a quarantine refuses', () => {
  let site: Site;
  beforeEach(() => {
    site = new Site();
  });
  afterEach(() => site.close());

  async function refusalOf(pack: Buffer, options?: Parameters<Site['open']>[0]) {
    const quarantine = await site.open({ have: [], ...options });
    const failure = await failureOf(quarantine.receive(streamOf(pack)));
    expect(site.processes()).to.deep.equal([]);
    return failure;
  }

  const missing = (oid: string) => ({
    code: 'incomplete_push',
    message: `The object ${oid} is neither in the push nor in the repository`,
  });
  const broken = (words: string) => ({ code: 'invalid_pack', message: `Git refuses the pack: ${words}` });
  const faultIn = (type: 'tree' | 'commit', content: Buffer, words: string) =>
    `Git finds a fault in the object ${idOf(type, content)} of the push: ${words}`;
  const tooMuch = (message: string) => ({ code: 'payload_too_large', message });

  describe('a pack', () => {
    const whole = packWith([entry('blob', ONE)]);

    for (const [what, pack, message] of [
      ['that is none', Buffer.from('GARBAGE, and more of it'), 'The push has no pack where one must be'],
      ['of nothing', Buffer.alloc(0), 'The push has no pack where one must be'],
      ['of half a header', whole.subarray(0, 7), 'The push has no pack where one must be'],
      [
        'of another version',
        Buffer.concat([whole.subarray(0, 4), Buffer.from([0, 0, 0, 4]), whole.subarray(8)]),
        'Packs of version 4 are unknown',
      ],
    ] as const) {
      it(`${what}, without asking git`, async () => {
        const failure = await refusalOf(pack, { searchPath: '/nowhere' });
        expect(failure).to.deep.equal({ code: 'invalid_pack', message });
      });
    }

    for (const [what, pack, words] of [
      ['that is cut off in an object', whole.subarray(0, 20), 'early EOF'],
      ['that is cut off after its objects', whole.subarray(0, -20), 'early EOF'],
      ['with fewer objects than it says', packWith([entry('blob', ONE)], 2), /^Git refuses the pack: /],
      [
        'with a wrong checksum',
        Buffer.concat([whole.subarray(0, -1), Buffer.from([~(whole.at(-1) ?? 0) & 0xff])]),
        'pack is corrupted (SHA1 mismatch)',
      ],
      [
        'with an object twice',
        packWith([entry('blob', ONE), entry('blob', ONE)]),
        `The same object ${idOf('blob', ONE)} appears twice in the pack`,
      ],
      ['with an object that is longer than it says', packWith([entry('blob', ONE, 2)]), /inflate/],
      ['with bytes that are not compressed', packWith([Buffer.from('3'), Buffer.alloc(50, 'x')]), /inflate/],
      [
        'with a delta that is none',
        packWith([entry('blob', ONE), refDelta(idOf('blob', ONE), 3, [[1, 50]])]),
        /delta/,
      ],
    ] as const) {
      it(what, async () => {
        const failure = await refusalOf(pack);
        if (typeof words === 'string') expect(failure).to.deep.equal(broken(words));
        else expect(failure.message).to.match(words);
        expect(failure.code).to.equal('invalid_pack');
      });
    }

    it('with a tree that git fsck finds fault with', async () => {
      const blob = idOf('blob', ONE);
      for (const [content, words] of [
        [tree(['100644', '.git', blob]), 'one of its files is named ".git" (git calls it hasDotgit)'],
        [tree(['100644', '..', blob]), 'one of its files is named ".." (git calls it hasDotdot)'],
        [tree(['100644', 'a', blob], ['100644', 'a', blob]), 'two of its files have the same name'],
        [tree(['100644', 'b', blob], ['100644', 'a', blob]), 'its files are not in the order that git needs'],
        [tree(['100644', 'a/b', blob]), 'one of its files has a name with a slash'],
        // Another fault may stand beside one that is taken.
        [tree(['0100644', '.git', blob]), 'one of its files is named ".git"'],
      ] as const) {
        const failure = await refusalOf(packWith([entry('blob', ONE), entry('tree', content)]));
        expect(failure.code).to.equal('invalid_pack');
        expect(failure.message).to.include(faultIn('tree', content, words));
        expect(failure.message).to.match(/; make that part of the history anew and push again$/);
      }
    });

    it('with a commit that git fsck finds fault with', async () => {
      const files = tree(['100644', 'a', idOf('blob', ONE)]);
      const by = (author: string, committer = author) => `author ${author}\ncommitter ${committer}\n\nx\n`;
      const good = 'Ada <ada@example.org> 1700000000 +0000';
      for (const [people, words] of [
        [by('Ada 1700000000 +0000'), 'the line that says who made it has no e-mail address between < and >'],
        [by('Ada<ada@x> 1700000000 +0000'), 'has no space before the e-mail address'],
        [by('Ada <ada@x> soon +0000'), 'has no date that can be read'],
        [`committer ${good}\n\nx\n`, 'it does not say who its author is'],
        [`author ${good}\n${by(good)}`, 'it has more than one author line'],
        [`${by(good)}\0\n`, 'its text has a NUL byte'],
        // Another fault may stand beside one that is taken.
        [by('Ada <ada@x>1700000000 +0000', 'Ada <ada@x> soon'), 'has no date that can be read'],
      ] as const) {
        const content = Buffer.from(`tree ${idOf('tree', files)}\n${people}`);
        const pack = packWith([entry('blob', ONE), entry('tree', files), entry('commit', content)]);
        const failure = await refusalOf(pack);
        expect(failure.code).to.equal('invalid_pack');
        expect(failure.message)
          .to.include(faultIn('commit', content, ''))
          .and.to.include(words);
      }
    });

    it('whose words are those of a full disk', async () => {
      const url = '"-u\\nfatal: write error: No space left on device"';
      const modules = Buffer.from(`[submodule "a"]\n\tpath = a\n\turl = ${url}\n`);
      const content = tree(['100644', '.gitmodules', idOf('blob', modules)]);
      const failure = await refusalOf(packWith([entry('blob', modules), entry('tree', content)]));
      expect(failure.code).to.equal('invalid_pack');
      expect(failure.message).to.match(/a URL that would harm those who clone it .*gitmodulesUrl/);
    });

    it('with a tag or a tree that says another type than the object has', async () => {
      const blob = idOf('blob', ONE);
      const tag = Buffer.from(`object ${blob}\ntype commit\ntag v1\ntagger a <a@b> 1 +0000\n\none\n`);
      const folder = tree(['40000', 'folder', blob]);
      for (const content of [entry('tag', tag), entry('tree', folder)]) {
        const failure = await refusalOf(packWith([entry('blob', ONE), content]));
        expect(failure.code).to.equal('invalid_pack');
      }
      // The object may be the repository's.
      site.publish(site.commit({ a: ONE }));
      expect((await refusalOf(packWith([entry('tree', folder)]))).code).to.equal('invalid_pack');
    });

    it('that needs a file, a folder or a commit that is nowhere', async () => {
      const commit = site.commit({ 'folder/a': 'one', b: 'two' });
      const next = site.commit({ b: 'three' });
      const all = site.git('rev-list', '--objects', '--no-object-names', next).split('\n');
      for (const lacking of ['HEAD:b', 'HEAD:folder', 'HEAD:folder/a', commit, 'HEAD:']) {
        const oid = site.git('rev-parse', lacking);
        const failure = await refusalOf(site.packOf(all.filter((one) => one !== oid)));
        expect(failure).to.deep.equal(missing(oid));
      }
    });

    it('of a shallow clone whose parent the server lacks', async () => {
      const first = site.commit({ a: 'one' });
      const second = site.commit({ a: 'two' });
      const thin = await refusalOf(site.pack([second, `^${first}`], '--thin'));
      expect(thin.code).to.equal('incomplete_push');
      expect(await refusalOf(site.pack([second, `^${first}`]))).to.deep.equal(missing(first));
    });

    it('with a delta to an object that is nowhere', async () => {
      const failure = await refusalOf(packWith([refDelta(NOWHERE, 3, [[0, 3]])]));
      expect(failure).to.deep.equal({
        code: 'incomplete_push',
        message: 'Objects of the push are missing: pack has 1 unresolved delta',
      });
    });
  });

  describe('tips', () => {
    it('that are nowhere', async () => {
      const commit = site.publish(site.commit({ a: 'one' }));
      expect(await failureOf(site.received(null, [NOWHERE]))).to.deep.equal(missing(NOWHERE));
      const next = site.commit({ a: 'two' });
      const pack = site.pack([next, `^${commit}`]);
      expect(await failureOf(site.received(pack, [next, NOWHERE]))).to.deep.equal(missing(NOWHERE));
    });

    it('that lead to what the repository has only in part', async () => {
      const first = site.commit({ 'folder/a': 'one', b: 'two' });
      site.publish(first, 'refs/heads/gone');
      site.server('update-ref', '-d', 'refs/heads/gone');
      const next = site.commit({ c: 'three' });
      const pack = site.pack([next, `^${first}`], '--thin');
      expect((await site.received(pack, [next])).added.size).to.equal(8);
      for (const lacking of ['HEAD:b', 'HEAD:folder/a', 'HEAD:folder', first]) {
        const oid = site.git('rev-parse', lacking);
        const quarantine = await site.open();
        await quarantine.receive(streamOf(pack));
        const path = join(site.gitdir, 'objects', oid.slice(0, 2), oid.slice(2));
        expect(existsSync(path), lacking).to.equal(true);
        rmSync(path);
        expect(await failureOf(quarantine.findAdded([next])), lacking).to.deep.equal(missing(oid));
        expect(quarantine.added.size).to.equal(0);
        site.publish(first, 'refs/heads/gone');
        site.server('update-ref', '-d', 'refs/heads/gone');
      }
    });
  });

  describe('too much:', () => {
    it('objects, by what the header says and without asking git', async () => {
      const options = { limits: { objects: 10 }, searchPath: '/nowhere' };
      const failure = await refusalOf(packWith([], 11), options);
      expect(failure).to.deep.equal(tooMuch('The push has more than 10 objects'));
      expect((await refusalOf(packWith([], 0xff_ff_ff_ff), options)).code).to.equal('payload_too_large');
    });

    it('bytes of the pack', async () => {
      const pack = packWith([entry('blob', randomBytes(200_000))]);
      const failure = await refusalOf(pack, { limits: { packBytes: 100_000 } });
      expect(failure).to.deep.equal(
        tooMuch('The pack is larger than 100000 bytes, the limit that HAWSER_PUSH_LIMIT sets'),
      );
      expect((await refusalOf(pack, { limits: { packBytes: pack.length } })).code).to.equal('no error');
    });

    it('bytes of one object, by its header, also where a delta would make it', async () => {
      const objectBytes = 40 * MIB;
      const message =
        'A file of the push, perhaps of an earlier commit, is larger than 41943040 bytes, the limit that HAWSER_UPLOAD_LIMIT sets';
      // What follows the header is no such blob. Whoever inflated it would say so.
      const blob = packWith([entry('blob', Buffer.alloc(100), 41 * MIB)]);
      expect(await refusalOf(blob, { limits: { objectBytes } })).to.deep.equal(tooMuch(message));
      const base = Buffer.alloc(MIB);
      const copies = Array.from({ length: 41 }, (): Instruction => [0, MIB]);
      const delta = packWith([entry('blob', base), refDelta(idOf('blob', base), MIB, copies)]);
      expect(await refusalOf(delta, { limits: { objectBytes } })).to.deep.equal(tooMuch(message));
      const content = Buffer.alloc(1_001);
      const small = (bytes: number) =>
        site.received(packWith([entry('blob', content)]), [idOf('blob', content)], {
          have: [],
          limits: { objectBytes: bytes },
        });
      expect((await failureOf(small(1_000))).code).to.equal('payload_too_large');
      expect((await small(1_001)).added.size).to.equal(1);
    });

    it('bytes of its objects, and commits', async () => {
      const pack = packWith([entry('blob', Buffer.alloc(10_000)), entry('blob', Buffer.alloc(20_000))]);
      const tip = idOf('blob', Buffer.alloc(20_000));
      const within = (bytes: number) => site.received(pack, [tip], { have: [], limits: { bytes } });
      // What no tip leads to counts too.
      expect(await failureOf(within(29_999))).to.deep.equal(
        tooMuch('The objects of the push have more than 29999 bytes when they are unpacked'),
      );
      expect((await within(30_000)).added.size).to.equal(1);
      const [last = ''] = ['1', '2', '3'].map((a) => site.commit({ a })).reverse();
      const ofThree = (commits: number) => site.received(site.pack([last]), [last], { limits: { commits } });
      expect(await failureOf(ofThree(2))).to.deep.equal(tooMuch('The push has more than 2 new commits'));
      expect((await ofThree(3)).added.size).to.equal(9);
    });
  });

  describe('for other reasons:', () => {
    for (const [words, code] of [
      ['fatal: write error: No space left on device', 'insufficient_storage'],
      ["fatal: unable to create '/a/b': Disk quota exceeded", 'insufficient_storage'],
      ['fatal: read error: Input/output error', 'unavailable'],
      ['fatal: Out of memory, malloc failed (tried to allocate 1 bytes)', 'payload_too_large'],
    ] as const) {
      it(words, async () => {
        const searchPath = site.fakeGit(`cat > /dev/null; echo "${words}" >&2; exit 128`);
        expect((await refusalOf(packWith([]), { searchPath })).code).to.equal(code);
      });
    }

    it('words of git that hold paths and signs, which nobody sees', async () => {
      const { folder } = site;
      const words = `fatal: odd \\033[31m '${folder}/objects/x' '${site.gitdir}' (/etc/passwd)`;
      const searchPath = site.fakeGit(`cat > /dev/null; printf "${words}\\n" >&2; exit 128`);
      const failure = await refusalOf(packWith([]), { searchPath });
      expect(failure).to.deep.equal(broken("odd \\u{1b}[31m '... '' (..."));
    });

    it('the stream fails, with the error of the stream', async () => {
      const quarantine = await site.open();
      const stream = new Readable({ read: () => undefined });
      const receiving = failureOf(quarantine.receive(stream));
      stream.push(packWith([entry('blob', ONE)]).subarray(0, 14));
      await until(() => site.processes().length > 0, 'git');
      stream.destroy(tooLarge('Its own'));
      expect(await receiving).to.deep.equal(tooMuch('Its own'));
      expect((await failureOf(quarantine.receive(stream))).message).to.equal('Its own');
    });

    it('the stream breaks off, which is a client that went away', async () => {
      const stream = new Readable({ read: () => undefined });
      const receiving = failureOf((await site.open()).receive(stream));
      stream.push(packWith([entry('blob', ONE)]).subarray(0, 14));
      await until(() => site.processes().length > 0, 'git');
      stream.destroy();
      expect((await receiving).code).to.equal('client_gone');
      const early = new Readable({ read: () => undefined });
      const waiting = failureOf((await site.open()).receive(early));
      early.push('PA');
      setImmediate(() => early.destroy());
      expect((await waiting).code).to.equal('client_gone');
    });
  });
});
