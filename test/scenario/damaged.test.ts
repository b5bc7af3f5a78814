// full: SQLite
import {
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  addVersion,
  CONFIGURATIONS,
  create,
  fileOf,
  MAIN,
  publish,
  versionsOf,
} from '../support/configurations.ts';
import { describeOnSqlite } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { Outside } from '../support/outside.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

interface Listed {
  name: string;
  versionCount: number | null;
  latestVersion: string | null;
  latestPublishedVersion: string | null;
}

describeOnSqlite('a repository that is damaged costs nobody else anything', () => {
  const hawser = started(startHawser);
  const nodes = new Map<string, NodeUnderTest>();

  before(async () => {
    await make('sound');
  });

  async function make(name: string): Promise<void> {
    await publishConfiguration(hawser.admin, name, {
      '1.0.0': { [MAIN]: `${name} one\n`, 'a.txt': 'a' },
      '1.1.0': { [MAIN]: `${name} two\n`, 'b.txt': `b of ${name}` },
    });
    const node = await hawser.registerNode(`${name}.example.org`);
    await ok(204, hawser.admin.put(addressOf(node), { configurationName: name }));
    nodes.set(name, node);
  }

  const addressOf = ({ nodeId }: NodeUnderTest) => `/api/v1/nodes/${nodeId}/configuration`;
  const folderOf = (name: string) => join(hawser.reposDir, 'configurations', `${name}.git`);

  /** With a connection of its own, as the server may have been started anew. */
  const pull = (name: string, what = '') => {
    const node = nodes.get(name);
    if (!node) throw new Error(name);
    return hawser.client(node.identity).get(addressOf(node) + what);
  };

  const looseObject = (name: string, what: string) => {
    const oid = new Outside(hawser, name).git('rev-parse', what);
    return join(folderOf(name), 'objects', oid.slice(0, 2), oid.slice(2));
  };

  const ready = async (): Promise<string> => {
    const reply = await hawser.client().get('/health/ready');
    expect([reply.status, reply.json.status, reply.json.checks.database]).to.deep.equal([200, 'Ready', 'Ok']);
    return reply.json.checks.repositories;
  };

  const listed = async (): Promise<Listed[]> => ok(200, hawser.admin.get(CONFIGURATIONS));

  async function othersGoOn(broken: string): Promise<void> {
    const list = await listed();
    expect(list.map(({ name }) => name)).to.include.members(['sound', broken]);
    expect(list.find(({ name }) => name === 'sound')).to.include({ latestPublishedVersion: '1.1.0' });
    await ok(200, hawser.admin.get(`${CONFIGURATIONS}/sound`));
    await ok(200, hawser.admin.get(`${versionsOf('sound')}/1.1.0`));
    expect((await hawser.admin.get(fileOf('sound', '1.1.0', MAIN))).text).to.equal('sound two\n');
    for (const what of ['', '/checksum', '/bundle']) await ok(200, pull('sound', what));
    const { version } = await ok(201, addVersion(hawser.admin, 'sound'));
    await ok(204, hawser.admin.delete(`${versionsOf('sound')}/${version}`));
    expect(await ready()).to.match(new RegExp(`^Degraded: [^]*configurations/${broken}\\b`));
    expect(await ready()).to.not.include('sound');
    await ok(200, hawser.client().get('/health'));
  }

  const isHealed = (name: string) =>
    eventually(async () => expect(await ready()).to.not.include(`configurations/${name}`));

  it('by a pack that nobody has read since, which the look of each hour finds', async () => {
    await make('dusty');
    new Outside(hawser, 'dusty').git('repack', '-a', '-d', '-q');
    const folder = join(folderOf('dusty'), 'objects/pack');
    const [pack = ''] = readdirSync(folder).filter((name) => name.endsWith('.pack'));
    const whole = readFileSync(join(folder, pack));
    const damaged = Buffer.from(whole);
    const middle = Math.floor(damaged.length / 2);
    damaged.fill(0, middle, middle + 8);
    const write = async (content: Buffer) => {
      rmSync(join(folder, pack));
      writeFileSync(join(folder, pack), content);
      // The first look is made at the start.
      await hawser.restart();
    };
    await write(damaged);
    const told = `configurations/dusty pack objects/pack/${pack}`;
    await eventually(async () => expect(await ready()).to.include(told));
    await write(whole);
    await isHealed('dusty');
  });

  it('by a file that was cut short: the file and what holds it', async () => {
    await make('file');
    const object = looseObject('file', 'v1.1.0:b.txt');
    const whole = readFileSync(object);
    truncateSync(object, Math.floor(statSync(object).size / 2));
    await expectProblem(hawser.admin.get(fileOf('file', '1.1.0', 'b.txt')), 500, 'repository_damaged');
    await expectProblem(hawser.admin.get(`${versionsOf('file')}/1.1.0`), 500, 'repository_damaged');
    await expectProblem(pull('file', '/bundle'), 500, 'repository_damaged');
    // What does not need it is there.
    expect((await hawser.admin.get(fileOf('file', '1.1.0', MAIN))).text).to.equal('file two\n');
    expect((await pull('file')).text).to.equal('file two\n');
    await ok(200, pull('file', '/checksum'));
    await ok(200, hawser.admin.get(`${versionsOf('file')}/1.0.0`));
    expect(await ok(200, hawser.admin.get(versionsOf('file')))).to.have.length(2);
    await othersGoOn('file');
    writeFileSync(object, whole);
    expect((await hawser.admin.get(fileOf('file', '1.1.0', 'b.txt'))).text).to.equal('b of file');
    await ok(200, pull('file', '/bundle'));
    await ok(200, hawser.admin.get(`${versionsOf('file')}/1.1.0`));
    await isHealed('file');
  });

  it('also when an author uploads the same bytes again, which mends it', async () => {
    await make('mended');
    truncateSync(looseObject('mended', 'v1.1.0:b.txt'), 5);
    await expectProblem(pull('mended', '/bundle'), 500, 'repository_damaged');
    const files = { [MAIN]: 'x', 'again.txt': 'b of mended' };
    await ok(201, addVersion(hawser.admin, 'mended', {}, { files }));
    await ok(200, pull('mended', '/bundle'));
    new Outside(hawser, 'mended').git('fsck', '--strict');
    await isHealed('mended');
  });

  it('by a tag, commit or folder that is gone: all that needs it, and never a lower version', async () => {
    const cases = ['v1.1.0', 'v1.1.0^{commit}', 'v1.1.0^{tree}'];
    const objects = new Map<string, { path: string; whole: Buffer }>();
    for (const [at, what] of cases.entries()) {
      await make(`gone-${at}`);
      const path = looseObject(`gone-${at}`, what);
      objects.set(`gone-${at}`, { path, whole: readFileSync(path) });
      rmSync(path);
    }
    await hawser.restart();
    for (const [name, { path, whole }] of objects) {
      const gets = [versionsOf(name), `${versionsOf(name)}/1.1.0`, fileOf(name, '1.1.0', MAIN)];
      for (const get of gets)
        await expectProblem(hawser.admin.get(get), 500, 'repository_damaged', `${name} ${get}`);
      for (const what of ['', '/checksum', '/bundle']) {
        await expectProblem(pull(name, what), 500, 'repository_damaged', `${name} ${what}`);
      }
      expect((await hawser.admin.get(fileOf(name, '1.0.0', 'a.txt'))).text).to.equal('a');
      expect((await listed()).find((it) => it.name === name)).to.include({
        versionCount: 2,
        latestPublishedVersion: '1.1.0',
      });
      await othersGoOn(name);
      writeFileSync(path, whole);
      expect((await pull(name)).text).to.equal(`${name} two\n`);
      for (const get of gets) await ok(200, hawser.admin.get(get));
      await ok(201, addVersion(hawser.admin, name));
      await ok(200, publish(hawser.admin, name, '1.1.1'));
    }
    for (const name of objects.keys()) await isHealed(name);
  });

  it('by a pack that is gone', async () => {
    await make('pack');
    const outside = new Outside(hawser, 'pack');
    outside.git('gc', '-q', '--prune=now');
    const pack = join(folderOf('pack'), 'objects/pack');
    renameSync(pack, `${pack}-away`);
    await hawser.restart();
    const gets = [versionsOf('pack'), `${versionsOf('pack')}/1.0.0`, fileOf('pack', '1.0.0', MAIN)];
    for (const get of gets) await expectProblem(hawser.admin.get(get), 500, 'repository_damaged', get);
    await expectProblem(pull('pack', '/checksum'), 500, 'repository_damaged');
    await expectProblem(pull('pack', '/bundle'), 500, 'repository_damaged');
    await expectProblem(addVersion(hawser.admin, 'pack'), 500, 'repository_damaged');
    await othersGoOn('pack');
    rmSync(pack, { recursive: true, force: true });
    renameSync(`${pack}-away`, pack);
    for (const get of gets) await ok(200, hawser.admin.get(get));
    expect((await pull('pack')).text).to.equal('pack two\n');
    await ok(200, pull('pack', '/bundle'));
    await isHealed('pack');
    await ok(201, addVersion(hawser.admin, 'pack'));
    outside.git('fsck', '--strict');
  });

  it('by a folder that is gone, which may come back or be given up', async () => {
    await make('lost');
    renameSync(folderOf('lost'), `${folderOf('lost')}-away`);
    await eventually(() => expectProblem(hawser.admin.get(versionsOf('lost')), 500, 'repository_missing'));
    const isMissing = async () => {
      const gets = [`${CONFIGURATIONS}/lost`, versionsOf('lost'), fileOf('lost', '1.0.0', MAIN)];
      for (const get of gets) await expectProblem(hawser.admin.get(get), 500, 'repository_missing', get);
      for (const what of ['', '/checksum', '/bundle']) {
        await expectProblem(pull('lost', what), 500, 'repository_missing', what);
      }
      await expectProblem(addVersion(hawser.admin, 'lost'), 500, 'repository_missing');
      await expectProblem(create(hawser.admin, 'lost'), 409, 'name_taken');
      expect((await listed()).find(({ name }) => name === 'lost')).to.include({
        versionCount: null,
        latestVersion: null,
        latestPublishedVersion: null,
      });
      await ok(200, hawser.admin.get(`${CONFIGURATIONS}/lost/settings`));
      await othersGoOn('lost');
    };
    await isMissing();
    renameSync(`${folderOf('lost')}-away`, folderOf('lost'));
    expect(await ready(), 'before anybody asked for it').to.not.include('configurations/lost');
    expect((await pull('lost')).text).to.equal('lost two\n');
    await ok(200, hawser.admin.get(versionsOf('lost')));
    await isHealed('lost');

    rmSync(folderOf('lost'), { recursive: true });
    await hawser.restart();
    expect(await ready(), 'before anybody asked for it').to.include('configurations/lost');
    await isMissing();
    const node = nodes.get('lost');
    if (!node) throw new Error('lost');
    await expectProblem(hawser.admin.delete(`${CONFIGURATIONS}/lost`), 409, 'in_use');
    await ok(204, hawser.admin.delete(addressOf(node)));
    await ok(204, hawser.admin.delete(`${CONFIGURATIONS}/lost`));
    await expectProblem(hawser.admin.get(`${CONFIGURATIONS}/lost`), 404, 'not_found');
    await isHealed('lost');
    expect(await ok(201, create(hawser.admin, 'lost'))).to.include({ versionCount: 1 });
  });

  it('by a tag, commit or folder that is cut off, however short: never a shorter list nor a lower version', async () => {
    const cuts = ['v1.1.0', 'v1.1.0^{commit}', 'v1.1.0^{tree}'].flatMap((what, at) =>
      [0, 10, 40].map((length) => ({ name: `cut-${at}-${length}`, what, length })),
    );
    for (const { name, what, length } of cuts) {
      await publishConfiguration(hawser.admin, name, { '1.0.0': { [MAIN]: 'x' }, '1.1.0': { [MAIN]: 'y' } });
      const object = looseObject(name, what);
      const start = readFileSync(object).subarray(0, length);
      rmSync(object);
      writeFileSync(object, start);
    }
    await hawser.restart();
    const node = await hawser.registerNode('cut.example.org');
    for (const { name } of cuts) {
      for (const get of [versionsOf(name), fileOf(name, '1.1.0', MAIN)])
        await expectProblem(hawser.admin.get(get), 500, 'repository_damaged', get);
      await ok(204, hawser.admin.put(addressOf(node), { configurationName: name }));
      const poll = node.client.get(`${addressOf(node)}/checksum`);
      await expectProblem(poll, 500, 'repository_damaged', name);
    }
    await othersGoOn('cut-0-0');
  });
});
