// full: SQLite
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Quarantine } from '../../../../src/git/push/quarantine.ts';
import { until } from '../../../support/git-client.ts';
import { packWith, refDelta } from '../../../support/hand-made-pack.ts';
import { failureOf, MIB, Site, streamOf } from './quarantine-support.ts';

describe('a quarantine', () => {
  let site: Site;
  beforeEach(() => {
    site = new Site();
  });
  afterEach(() => site.close());

  /** What was added, as type and content in latin1, in order. */
  async function contentsOf(quarantine: Quarantine): Promise<string[]> {
    const contents = new Map<string, string>();
    for await (const { oid, type, content } of quarantine.readAll(quarantine.added.keys()))
      contents.set(oid, `${type} ${Buffer.from(content).toString('latin1')}`);
    return [...quarantine.added.keys()].map((oid) => contents.get(oid) ?? 'not read');
  }

  const idsOf = ({ added }: Quarantine) => [...added.keys()].sort();
  const listed = (...args: string[]) =>
    site.git('rev-list', '--objects', '--no-object-names', ...args).split('\n');

  it('has the new commits, trees and files of a push, and leaves the repository as it was', async () => {
    const first = site.publish(site.commit({ 'a.txt': 'one', 'folder/b.txt': 'two' }));
    const second = site.commit({ 'folder/b.txt': 'changed' });
    const third = site.commit({ 'c.txt': 'new' });
    const before = site.repositoryFiles();
    const quarantine = await site.received(site.pack([third, `^${first}`]), [third]);
    expect([...quarantine.added.keys()]).to.deep.equal(listed(third, `^${first}`));
    expect([...quarantine.added.keys()].slice(0, 2)).to.deep.equal([third, second]);
    const contents = await contentsOf(quarantine);
    expect(contents[0]).to.match(/^commit tree [0-9a-f]{40}\nparent [0-9a-f]{40}\n/);
    expect(contents).to.include.members(['blob changed', 'blob new']);
    expect(contents.some((content) => /one|two/.test(content))).to.equal(false);
    const blob = site.git('rev-parse', `${third}:c.txt`);
    expect(quarantine.added.get(blob)).to.deep.equal({ type: 'blob', size: 3 });
    expect(site.repositoryFiles()).to.deep.equal(before);
  });

  it('takes a thin pack, whose bases do not count as new', async () => {
    const content = randomBytes(MIB);
    const first = site.publish(site.commit({ big: content }));
    const second = site.commit({ big: Buffer.concat([content, Buffer.from('more')]) });
    const pack = site.pack([second, `^${first}`], '--thin');
    expect(pack.length).to.be.lessThan(10_000);
    const quarantine = await site.received(pack, [second], { limits: { bytes: 1.5 * MIB } });
    expect(idsOf(quarantine)).to.deep.equal(listed(second, `^${first}`).sort());
    const { content: read } = await quarantine.read(site.git('rev-parse', 'HEAD:big'));
    expect(read.equals(Buffer.concat([content, Buffer.from('more')]))).to.equal(true);
  });

  it('has a tag object whose commit is known, and the tags inside a tag', async () => {
    const commit = site.publish(site.commit({ a: 'one' }));
    site.git('tag', '-a', '-m', 'one', 'v1');
    site.git('tag', '-a', '-m', 'two', 'nested', 'v1');
    const [tag, nested] = [site.git('rev-parse', 'v1'), site.git('rev-parse', 'nested')];
    const single = await site.received(site.pack([tag, `^${commit}`]), [tag]);
    expect([...single.added]).to.deep.equal([
      [tag, { type: 'tag', size: (await single.read(tag)).content.length }],
    ]);
    expect((await single.read(tag)).type).to.equal('tag');
    const both = await site.received(site.packOf([tag, nested]), [nested]);
    expect(idsOf(both)).to.deep.equal([tag, nested].sort());
  });

  it('has nothing when all is known, with an empty pack or with none', async () => {
    const commit = site.publish(site.commit({ a: 'one' }));
    const empty = site.pack([commit, `^${commit}`]);
    expect(empty.length).to.equal(32);
    for (const pack of [empty, null]) {
      const quarantine = await site.received(pack, [commit]);
      expect(idsOf(quarantine)).to.deep.equal([]);
    }
    const quarantine = await site.received(null, []);
    expect(idsOf(quarantine)).to.deep.equal([]);
  });

  it('finds anew for other tips, and against what the refs have by then', async () => {
    const first = site.commit({ a: 'one' });
    const second = site.commit({ a: 'two' });
    const quarantine = await site.received(site.pack([second]), [first]);
    expect(idsOf(quarantine)).to.deep.equal(listed(first).sort());
    await quarantine.findAdded([second]);
    expect(idsOf(quarantine)).to.deep.equal(listed(second).sort());
    site.publish(first);
    await quarantine.findAdded([second], [first]);
    expect(idsOf(quarantine)).to.deep.equal(listed(second, `^${first}`).sort());
  });

  it('passes over what no tip leads to', async () => {
    const stray = site.commit({ stray: 'stray' });
    site.git('checkout', '-q', '--orphan', 'other');
    site.git('rm', '-q', '-f', 'stray');
    const commit = site.commit({ a: 'one' });
    const quarantine = await site.received(site.pack([stray, commit]), [commit]);
    expect(idsOf(quarantine)).to.deep.equal(listed(commit).sort());
    expect(await thrownBy(quarantine.read(stray))).to.match(/no added object/);
  });

  it('counts what the repository has but no ref leads to as new', async () => {
    const first = site.publish(site.commit({ a: 'one' }));
    const left = site.publish(site.commit({ a: 'two', b: 'left' }), 'refs/heads/gone');
    site.server('update-ref', '-d', 'refs/heads/gone');
    const next = site.commit({ c: 'next' });
    const quarantine = await site.received(site.pack([next, `^${left}`], '--thin'), [next]);
    expect(idsOf(quarantine)).to.deep.equal(listed(next, `^${first}`).sort());
    expect(await contentsOf(quarantine)).to.include.members(['blob left', 'blob next']);
    const again = await site.received(null, [left]);
    expect(idsOf(again)).to.deep.equal(listed(left, `^${first}`).sort());
    const { code } = await failureOf(site.received(null, [left], { limits: { objects: 3 } }));
    expect(code).to.equal('payload_too_large');
  });

  it('takes trees and files as tips too', async () => {
    const commit = site.commit({ 'folder/a': 'one' });
    const [folder, blob] = [site.git('rev-parse', 'HEAD:folder'), site.git('rev-parse', 'HEAD:folder/a')];
    const pack = site.pack([commit]);
    expect(idsOf(await site.received(pack, [blob]))).to.deep.equal([blob]);
    expect(idsOf(await site.received(pack, [folder]))).to.deep.equal([blob, folder].sort());
  });

  it('takes what a shallow clone sends whose parent the server has', async () => {
    const first = site.publish(site.commit({ a: 'one' }));
    const second = site.publish(site.commit({ a: 'two' }));
    site.git('checkout', '-q', '--detach');
    writeFileSync(join(site.work, '.git/shallow'), `${second}\n`);
    const third = site.commit({ a: 'three' });
    expect(site.git('rev-list', third)).to.not.include(first);
    const quarantine = await site.received(site.pack([third, `^${second}`], '--thin', '--shallow'), [third]);
    expect([...quarantine.added.keys()][0]).to.equal(third);
    expect(quarantine.added.size).to.equal(3);
  });

  it('ends history where the repository does', async () => {
    const first = site.publish(site.commit({ a: 'one' }));
    const second = site.publish(site.commit({ a: 'two' }));
    const pack = site.pack([second, `^${first}`]);
    writeFileSync(join(site.gitdir, 'shallow'), `${second}\n`);
    site.server('gc', '-q', '--prune=now');
    expect(site.server('cat-file', '--batch-all-objects', '--batch-check')).to.not.include(first);
    // As if the version had been removed, and the client sends what it was made of.
    const quarantine = await site.received(pack, [second], { have: [] });
    expect([...quarantine.added.keys()][0]).to.equal(second);
    writeFileSync(join(site.gitdir, 'shallow'), '');
    expect((await failureOf(site.received(pack, [second], { have: [] }))).code).to.equal('incomplete_push');
  });

  it('is not troubled by refs that were deleted and pruned meanwhile', async () => {
    const commit = site.commit({ a: 'one' });
    const quarantine = await site.received(site.pack([commit]), [commit], { have: ['1'.repeat(40)] });
    expect(idsOf(quarantine)).to.deep.equal(listed(commit).sort());
  });

  it('takes a pack byte by byte, and leaves the stream and what follows the pack to others', async () => {
    const commit = site.commit({ a: 'one' });
    const quarantine = await site.open();
    const stream = streamOf(Buffer.concat([site.pack([commit]), Buffer.alloc(MIB)]), 1);
    await quarantine.receive(stream);
    expect(stream.destroyed).to.equal(false);
    stream.resume();
    await until(() => stream.readableEnded, 'the end of the stream');
    await quarantine.findAdded([commit]);
    expect(quarantine.added.size).to.equal(3);
  });

  it('keeps small objects that were read, and reads the others again', async () => {
    const commit = site.commit({ small: 'small', large: Buffer.alloc(100_000, 'x') });
    const quarantine = await site.received(site.pack([commit]), [commit]);
    const [small, large] = [site.git('rev-parse', 'HEAD:small'), site.git('rev-parse', 'HEAD:large')];
    await contentsOf(quarantine);
    expect((await quarantine.read(large)).content.length).to.equal(100_000);
    await quarantine.remove();
    expect((await quarantine.read(small)).content.toString()).to.equal('small');
    expect((await failureOf(quarantine.read(large))).code).to.equal('shutting_down');
  });

  it('ends the process of a reader who leaves early', async () => {
    const files = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`f${at}`, randomBytes(100_000)]));
    const commit = site.commit(files);
    const quarantine = await site.received(site.pack([commit]), [commit]);
    const blobs = [...quarantine.added.keys()].slice(-40);
    for await (const _ of quarantine.readAll(blobs)) {
      expect(site.processes().length).to.equal(1);
      break;
    }
    expect(site.processes()).to.deep.equal([]);
    // And of one who forgets it.
    await quarantine.readAll(blobs).next();
    expect(site.processes().length).to.equal(1);
    await quarantine.remove();
    expect(site.processes()).to.deep.equal([]);
  });

  it('says of an object that is broken in the repository that it is', async () => {
    const commit = site.publish(site.commit({ a: Buffer.alloc(100_000, 'x') }));
    const blob = site.git('rev-parse', 'HEAD:a');
    const path = join(site.gitdir, 'objects', blob.slice(0, 2), blob.slice(2));
    const quarantine = await site.received(null, [commit], { have: [] });
    writeFileSync(join(site.root, 'broken'), readFileSync(path).fill(0, 8));
    renameSync(join(site.root, 'broken'), path);
    expect((await failureOf(quarantine.read(blob))).code).to.equal('repository_damaged');
  });

  it('gives nothing but ids to git', async () => {
    const quarantine = await site.open();
    for (const oid of ['--all', 'HEAD', 'A'.repeat(40), `${'a'.repeat(40)}\n--all`]) {
      expect(await thrownBy(quarantine.findAdded([oid]))).to.match(/40 hexadecimal digits/);
      expect(await thrownBy(quarantine.findAdded([], [oid]))).to.match(/40 hexadecimal digits/);
      expect(await thrownBy(site.open({ have: [oid] }))).to.match(/40 hexadecimal digits/);
    }
  });

  it('works in folders with strange names', async () => {
    const strange = new Site();
    const gitdir = join(strange.root, 'a "b:c\\d $(touch x)\'.git');
    try {
      const first = strange.publish(strange.commit({ a: Buffer.alloc(5_000, 'one') }));
      strange.git('clone', '-q', '--bare', strange.gitdir, gitdir);
      const second = strange.commit({ a: `${'one'.repeat(1_667).slice(0, 5_000)}!` });
      const folder = join(strange.root, '.tmp $(touch y) "');
      const pack = strange.pack([second, `^${first}`], '--thin');
      const quarantine = await strange.received(pack, [second], { gitdir, folder, have: [first] });
      expect(quarantine.added.size).to.equal(3);
      await quarantine.remove();
      expect(existsSync(folder)).to.equal(false);
    } finally {
      await strange.close();
    }
  });

  it('removes its folder when it cannot be made whole', async () => {
    const absent = join(site.root, 'absent/folder');
    expect((await failureOf(site.open({ folder: absent }))).code).to.equal('repository_io');
    mkdirSync(join(site.gitdir, 'shallow'));
    const { folder } = site;
    expect((await failureOf(site.open({ folder }))).code).to.equal('repository_io');
    expect(existsSync(folder)).to.equal(false);
    rmdirSync(join(site.gitdir, 'shallow'));
  });

  it('runs git bounded, with its arguments as they are and in a clean environment', async () => {
    const script = `{ ulimit -v; ulimit -t; printf '%s\\n' "$@"; env; } > '${site.root}/seen'; cat > /dev/null`;
    const bounds = { memoryKib: 200_000, cpuSeconds: 7 };
    const quarantine = await site.open({ searchPath: site.fakeGit(script), bounds });
    process.env['GIT_DIR'] = '/elsewhere';
    try {
      await quarantine.receive(streamOf(packWith([refDelta('1'.repeat(40), 1, [])])));
      const seen = readFileSync(join(site.root, 'seen'), 'utf8');
      expect(seen).to.match(/^200000\n7\n/);
      expect(seen).to.match(/\n--stdin\n--fix-thin\n--strict=\S+\n--threads=1\n--max-input-size=104857600\n/);
      expect(seen).to.include(`\nGIT_ALTERNATE_OBJECT_DIRECTORIES="${site.gitdir}/objects"\n`);
      expect(seen).to.not.include('GIT_DIR');
      expect(seen.match(/^core\.fsync=.*$/gm)?.at(-1)).to.equal('core.fsync=none');
    } finally {
      delete process.env['GIT_DIR'];
    }
  });

  it('says so when there is no git', async () => {
    const quarantine = await site.open({ searchPath: join(site.root, 'nothing') });
    const failure = await failureOf(quarantine.receive(streamOf(packWith([]))));
    expect(failure).to.deep.equal({ code: 'internal_error', message: 'Git could not be started' });
  });
});

async function thrownBy(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'nothing',
    (error: unknown) => (error as Error).message,
  );
}
