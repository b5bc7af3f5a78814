// full: SQLite
import { expect } from 'chai';
import { addVersion, CONFIGURATIONS, fileOf, MAIN, publish, versionsOf } from '../support/configurations.ts';
import { describeOnSqlite } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { Outside } from '../support/outside.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';
import { unzipTexts } from '../support/unzip.ts';

describeOnSqlite('an administrator moves refs with stock git beside the running server', () => {
  const hawser = started(startHawser);
  /** A repository that the tests look at only to see when the watch has come by. */
  let canary: Outside;

  before(async () => {
    await publishConfiguration(hawser.admin, 'canary', { '1.0.0': { [MAIN]: 'one\n' } });
    canary = new Outside(hawser, 'canary');
  });

  /** A configuration with 1.0.0 published, loaded, and pulled by a node. */
  async function start(name: string): Promise<{ outside: Outside; node: NodeUnderTest; path: string }> {
    await publishConfiguration(hawser.admin, name, { '1.0.0': { [MAIN]: 'one\n' } });
    const node = await hawser.registerNode(`${name}.example.org`);
    const path = `/api/v1/nodes/${node.nodeId}/configuration`;
    await ok(204, hawser.admin.put(path, { configurationName: name }));
    await ok(200, node.client.get(`${path}/checksum`));
    return { outside: new Outside(hawser, name), node, path };
  }

  const listed = async (name: string) => {
    const list: { version: string; status: string }[] = await ok(200, hawser.admin.get(versionsOf(name)));
    return list.map(({ version, status }) => `${version} ${status}`);
  };
  const of = (name: string) => ok(200, hawser.admin.get(`${CONFIGURATIONS}/${name}`));
  const ready = async () => {
    const reply = await hawser.client().get('/health/ready');
    expect([reply.status, reply.json.status, reply.json.checks.database]).to.deep.equal([200, 'Ready', 'Ok']);
    return String(reply.json.checks.repositories);
  };
  const warnings = (text: string) =>
    hawser
      .log()
      .split('\n')
      .filter((line) => /"level":("warn"|40)/.test(line) && line.includes(text)).length;

  /**
   * Waits until the watch has come by all repositories and has passed on what it found. It goes through all of them again
   * and again, so in the round after one that has seen a new draft it is through with what it found in that round.
   */
  async function untilLooked(): Promise<void> {
    for (let round = 0; round < 2; round += 1) {
      const drafts = (await listed('canary')).length;
      canary.draft(`2.${drafts}.0`);
      await eventually(async () => expect(await listed('canary')).to.have.length(drafts + 1));
    }
  }

  it('and an annotated tag is a version that nodes pull, a draft branch a draft', async () => {
    const { outside, node, path } = await start('tagged');
    const before = await of('tagged');
    hawser.clock.advance(1_000);
    outside.tag('1.1.0', [
      outside.file(MAIN, 'from outside\n'),
      outside.folderOf('sub', outside.file('a.json')),
    ]);
    await eventually(async () => {
      expect((await ok(200, node.client.get(`${path}/checksum`))).version).to.equal('1.1.0');
    });
    const bundle = await node.client.get(`${path}/bundle`);
    expect(await unzipTexts(bundle.bytes)).to.deep.equal({ [MAIN]: 'from outside\n', 'sub/a.json': 'x\n' });
    expect((await node.client.get(path)).text).to.equal('from outside\n');
    const shown = await ok(200, hawser.admin.get(`${versionsOf('tagged')}/1.1.0`));
    const { createdAt, publishedAt, files, findings, ...rest } = shown;
    expect(rest).to.deep.equal({
      version: '1.1.0',
      status: 'Published',
      entryPoint: MAIN,
      prereleaseChannel: null,
      fileCount: 2,
      createdBy: 'Carol',
      author: { name: 'Carol', email: 'carol@example.org' },
      signature: null,
      publishedBy: 'Carol',
      message: 'Version 1.1.0',
      commit: outside.git('rev-parse', 'v1.1.0^{commit}'),
      signatureCheck: null,
      withdrawn: null,
      rollout: null,
    });
    expect(files.map((file: { path: string }) => file.path)).to.deep.equal([MAIN, 'sub/a.json']);
    for (const time of [createdAt, publishedAt]) expect(time).to.match(/^\d{4}-.*\.\d{3}Z$/);
    // A reader may see the tag before the watch has passed on the word of it, which moves updatedAt.
    await eventually(async () => {
      const { updatedAt, ...now } = await of('tagged');
      expect(now).to.include({ versionCount: 2, latestVersion: '1.1.0', latestPublishedVersion: '1.1.0' });
      expect(Date.parse(updatedAt)).to.be.greaterThan(Date.parse(before.updatedAt));
    });
    await eventually(async () => {
      expect(outside.git('rev-parse', 'main')).to.equal(rest.commit);
    });

    outside.draft('2.0.0-beta.1', [outside.file(MAIN, 'a draft\n')]);
    await eventually(async () => {
      expect(await listed('tagged')).to.deep.equal([
        '2.0.0-beta.1 Draft',
        '1.1.0 Published',
        '1.0.0 Published',
      ]);
    });
    expect((await hawser.admin.get(fileOf('tagged', '2.0.0-beta.1', MAIN))).text).to.equal('a draft\n');
    await expectProblem(addVersion(hawser.admin, 'tagged', { version: '1.1.0' }), 409, 'version_exists');
    await expectProblem(
      addVersion(hawser.admin, 'tagged', { version: '2.0.0-beta.1' }),
      409,
      'version_exists',
    );
    await expectProblem(publish(hawser.admin, 'tagged', '1.1.0'), 409, 'already_published');
    await ok(200, publish(hawser.admin, 'tagged', '2.0.0-beta.1'));
    const next = await ok(201, addVersion(hawser.admin, 'tagged'));
    expect(next).to.include({ version: '2.0.0', entryPoint: MAIN });
    outside.git('fsck', '--strict');
  });

  it('and a draft or tag that they delete is gone', async () => {
    const { outside, node, path } = await start('deleted');
    await ok(201, addVersion(hawser.admin, 'deleted', { version: '2.0.0' }));
    await ok(201, addVersion(hawser.admin, 'deleted', { version: '1.1.0' }));
    await ok(200, publish(hawser.admin, 'deleted', '1.1.0'));
    expect((await ok(200, node.client.get(`${path}/checksum`))).version).to.equal('1.1.0');
    outside.git('branch', '-D', 'draft/2.0.0');
    await eventually(async () => {
      expect(await listed('deleted')).to.deep.equal(['1.1.0 Published', '1.0.0 Published']);
    });
    await expectProblem(hawser.admin.get(`${versionsOf('deleted')}/2.0.0`), 404, 'not_found');
    await expectProblem(publish(hawser.admin, 'deleted', '2.0.0'), 404, 'not_found');
    outside.git('tag', '-d', 'v1.1.0');
    await eventually(async () => {
      expect((await ok(200, node.client.get(`${path}/checksum`))).version).to.equal('1.0.0');
    });
    expect(await of('deleted')).to.include({ versionCount: 1, latestPublishedVersion: '1.0.0' });
    await ok(201, addVersion(hawser.admin, 'deleted', { version: '1.1.0' }));
    await ok(200, publish(hawser.admin, 'deleted', '1.1.0'));
    outside.git('fsck', '--strict');
  });

  it('and a lightweight tag is no version, which is worth no word', async () => {
    const { outside, node, path } = await start('light');
    outside.git('tag', 'v2.0.0', outside.commit());
    // Leads to an annotated tag, but to that of another version.
    outside.git('tag', 'v3.0.0', 'v1.0.0');
    // One that counts shows that the refs were read again.
    outside.tag('1.0.1');
    await eventually(async () => {
      expect(await listed('light')).to.deep.equal(['1.0.1 Published', '1.0.0 Published']);
    });
    // On PostgreSQL a poll may be answered for a second by what was there before.
    await eventually(async () => {
      expect((await ok(200, node.client.get(`${path}/checksum`))).version).to.equal('1.0.1');
    });
    for (const version of ['2.0.0', '3.0.0']) {
      await expectProblem(hawser.admin.get(`${versionsOf('light')}/${version}`), 404, 'not_found');
      expect(warnings(`refs/tags/v${version}`)).to.equal(0);
    }
    expect(await ready()).to.equal('Ok');
  });

  const faults: [what: string, entries: (outside: Outside) => string[]][] = [
    ['a .git folder', (it) => [it.file(MAIN), it.folderOf('.GIT', it.file('config'))]],
    ['a way out', (it) => [it.file(MAIN), it.folderOf('..', it.file('evil'))]],
    ['two names of one', (it) => [it.file(MAIN), it.file('A.yaml'), it.file('a.yaml')]],
    ['a device', (it) => [it.file(MAIN), it.file('con.txt')]],
    ['a trailing dot', (it) => [it.file(MAIN), it.file('x.')]],
    ['a backslash', (it) => [it.file(MAIN), it.file('a\\b')]],
    ['a link', (it) => [it.file(MAIN), it.file('link').replace('100644', '120000')]],
    ['a submodule', (it) => [it.file(MAIN), `160000 commit ${'1'.repeat(40)}\tsub`]],
    ['no entry point', (it) => [it.file('other.yaml')]],
    ['nothing', () => []],
  ];

  it('and a tag that cannot be a version is none anywhere, but named until it goes', async () => {
    const { outside, node, path } = await start('faulty');
    const checksum = (await node.client.get(`${path}/checksum`)).text;
    const before = await of('faulty');
    for (const [minor, [, make]] of faults.entries()) outside.tag(`2.${minor}.0`, make(outside));
    const refs = faults.map((_, minor) => `refs/tags/v2.${minor}.0`);
    await eventually(async () => {
      const said = await ready();
      expect(said).to.match(/^Degraded: /);
      for (const [at, ref] of refs.entries()) {
        expect(said, faults[at]?.[0]).to.include(`configurations/faulty ${ref} (`);
      }
    });
    expect(await listed('faulty')).to.deep.equal(['1.0.0 Published']);
    const { updatedAt: _, ...now } = await of('faulty');
    expect({ ...now, updatedAt: before.updatedAt }).to.deep.equal(before);
    for (const [minor, [what]] of faults.entries()) {
      const version = `2.${minor}.0`;
      await expectProblem(hawser.admin.get(`${versionsOf('faulty')}/${version}`), 404, 'not_found', what);
      await expectProblem(hawser.admin.get(fileOf('faulty', version, MAIN)), 404, 'not_found', what);
      await expectProblem(publish(hawser.admin, 'faulty', version), 404, 'not_found', what);
    }
    expect((await node.client.get(`${path}/checksum`)).text).to.equal(checksum);
    expect(await unzipTexts((await node.client.get(`${path}/bundle`)).bytes)).to.deep.equal({
      [MAIN]: 'one\n',
    });
    const major = hawser.admin.put(path, { configurationName: 'faulty', majorVersion: 2 });
    await expectProblem(major, 409, 'no_eligible_version');

    // Whatever else moves there, each of them is warned of once.
    outside.tag('1.5.0', [outside.file(MAIN, 'sound\n')]);
    await eventually(async () => {
      expect((await node.client.get(path)).text).to.equal('sound\n');
    });
    await ok(201, addVersion(hawser.admin, 'faulty', { version: '1.6.0' }));
    for (const [at, ref] of refs.entries()) expect(warnings(`"${ref}"`), faults[at]?.[0]).to.equal(1);

    outside.git('tag', '-d', ...refs.map((ref) => ref.replace('refs/tags/', '')));
    await eventually(async () => {
      expect(await ready()).to.not.include('faulty');
    });
    outside.tag('2.0.0');
    await eventually(async () => {
      expect((await ok(200, node.client.get(`${path}/checksum`))).version).to.equal('2.0.0');
    });
  });

  it('and a draft branch that cannot be a version is none either', async () => {
    const { outside } = await start('draft');
    outside.draft('2.0.0', [outside.file('other.yaml')]);
    outside.draft('3.0.0', [outside.file(MAIN), outside.file('link').replace('100644', '120000')]);
    outside.draft('1.1.0');
    await eventually(async () => {
      expect(await listed('draft')).to.deep.equal(['1.1.0 Draft', '1.0.0 Published']);
    });
    for (const version of ['2.0.0', '3.0.0']) {
      await expectProblem(publish(hawser.admin, 'draft', version), 404, 'not_found');
      expect(await ready()).to.include(`configurations/draft refs/heads/draft/${version} (`);
    }
    outside.git('branch', '-D', 'draft/2.0.0', 'draft/3.0.0');
    await eventually(async () => {
      expect(await ready()).to.not.include('configurations/draft');
    });
  });

  it('and looking after the repository changes nothing', async () => {
    const { outside, node, path } = await start('gc');
    for (const version of ['1.1.0', '1.2.0']) {
      const more = { files: { [MAIN]: `${version}\n`, 'same.txt': 'same' } };
      await ok(201, addVersion(hawser.admin, 'gc', { version }, more));
      await ok(200, publish(hawser.admin, 'gc', version));
    }
    await ok(201, addVersion(hawser.admin, 'gc', { version: '2.0.0' }));
    outside.tag('1.3.0', [outside.file(MAIN, 'three\n')]);
    await eventually(async () => expect((await listed('gc'))[1]).to.equal('1.3.0 Published'));
    // A reader may see the tag before the watch has passed on the word of it, which moves updatedAt.
    await untilLooked();
    const look = async () => {
      const replies = [];
      for (const get of [
        `${CONFIGURATIONS}/gc`,
        versionsOf('gc'),
        ...['1.0.0', '1.2.0', '1.3.0', '2.0.0'].map((version) => `${versionsOf('gc')}/${version}`),
        fileOf('gc', '1.1.0', MAIN),
      ]) {
        replies.push((await hawser.admin.get(get)).text);
      }
      for (const get of ['/checksum', '/bundle', '']) {
        replies.push((await node.client.get(path + get)).bytes.toString('base64'));
      }
      return replies;
    };
    const before = await look();
    const checksum = String((await node.client.get(`${path}/checksum`)).headers['etag']);
    const commands = [
      ['pack-refs', '--all'],
      ['repack', '-ad'],
      ['gc', '-q', '--prune=now'],
      ['gc', '-q', '--aggressive', '--prune=now'],
      ['pack-refs', '--all', '--prune'],
    ];
    for (const command of commands) {
      outside.git(...command);
      expect(await look(), command.join(' ')).to.deep.equal(before);
    }
    // The watch has its look at what was packed.
    await untilLooked();
    expect(await look()).to.deep.equal(before);
    const poll = await node.client.get(`${path}/checksum`, { 'If-None-Match': checksum });
    expect(poll.status).to.equal(304);
    await ok(200, publish(hawser.admin, 'gc', '2.0.0'));
    expect((await ok(200, node.client.get(`${path}/checksum`))).version).to.equal('2.0.0');
    await ok(201, addVersion(hawser.admin, 'gc', {}, { files: { [MAIN]: 'last\n' } }));
    await ok(204, hawser.admin.delete(`${versionsOf('gc')}/2.0.1`));
    outside.git('fsck', '--strict');
    expect(outside.git('rev-parse', 'main')).to.equal(outside.git('rev-parse', 'v2.0.0^{commit}'));
    await hawser.restart();
    const versions = ['2.0.0', '1.3.0', '1.2.0', '1.1.0', '1.0.0'];
    expect(await listed('gc')).to.deep.equal(versions.map((version) => `${version} Published`));
  });
});
