// full: SQLite, PostgreSQL
import { expect } from 'chai';
import type { Database } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/open.ts';
import { PREVIEW_PLACES, previewMaker } from '../../src/domain/lock-names.ts';
import { HOUR } from '../../src/lib/clock.ts';
import { newId } from '../../src/lib/ids.ts';
import { LocalLocks } from '../../src/lib/locks.ts';
import type { Client } from '../support/client.ts';
import { publishWithChildren } from '../support/composites.ts';
import { addVersion, CONFIGURATIONS, create, MAIN } from '../support/configurations.ts';
import { withDatabase } from '../support/database.ts';
import { itOnSqlite } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { type Hawser, publishConfiguration, startHawser } from '../support/hawser.ts';
import { type Holder, holdDatabase } from '../support/held-database.ts';
import { assign } from '../support/parameter-files.ts';
import { grant, makeUser } from '../support/people.ts';
import { askFor, groupsOf, nodesOf, PREVIEWS, preview, publishing } from '../support/previews.ts';
import { expectProblem, ok } from '../support/replies.ts';

const FILES = { [MAIN]: '$schema: x\nresources: []\n' };
const OTHERS = { files: { [MAIN]: '$schema: x\nresources: []\n# other\n' } };

describe('the life of a preview, and who may read it', () => {
  /** Those of the server, in whose process this one is. On SQLite no other process has them. */
  let ownLocks: LocalLocks;
  const { acquire } = LocalLocks.prototype;
  let hawser: Hawser;
  let admin: Client;
  /** As another process has it. */
  let database: Database;

  before(async () => {
    LocalLocks.prototype.acquire = function (key, mode) {
      if (key.startsWith(previewMaker(''))) ownLocks = this;
      return acquire.call(this, key, mode);
    };
    hawser = await startHawser();
    database = await openDatabase(hawser);
    admin = hawser.admin;
    for (const name of ['web', 'db']) {
      await publishConfiguration(admin, name, { '1.0.0': FILES });
      await ok(201, addVersion(admin, name, { version: '1.1.0' }, OTHERS));
    }
    await publishWithChildren(admin, 'farm', '1.0.0', ['web', 'db']);
    for (const name of ['web', 'db']) await assign(hawser, await hawser.registerNode(`${name}-01`), name);
    const both = await hawser.registerNode('farm-01');
    await assign(hawser, both, 'farm', { isComposite: true });
    await hawser.registerNode('idle-01');
  });
  after(async () => {
    LocalLocks.prototype.acquire = acquire;
    await database.close();
    await hawser.close();
  });

  const read = (client: Client, id: string) => client.get(`${PREVIEWS}/${id}`);
  const ended = (id: string, client = admin) =>
    eventually(async () => {
      const shown = await ok(200, read(client, id));
      expect(shown.state).to.not.equal('Running');
      return shown;
    });

  /** Nothing is made meanwhile. */
  async function whileNothingIsMade(work: () => Promise<void>): Promise<void> {
    const locks = hawser.databaseUrl === null ? ownLocks : database.locks;
    const places = await Promise.all(PREVIEW_PLACES.map((place) => locks.acquire(place, 'alone')));
    try {
      await work();
    } finally {
      for (const release of places) release();
    }
  }

  it('leaves out nodes of which the maker may not read all', async () => {
    const permissions = ['nodes.read'] as const;
    const grants = [{ on: 'configuration', name: 'web', level: 'Read' }] as const;
    const maker = await makeUser(hawser, { username: 'maker', permissions, grants });
    const made = await preview(maker, [publishing('web', '1.1.0')]);
    expect(made.counts).to.deep.equal({ nodes: 2, changed: 1, unchanged: 1, unresolvable: 0, notVisible: 2 });
    const names = (await nodesOf(maker, made)).map(({ fqdn }: { fqdn: string }) => fqdn);
    expect(names).to.deep.equal(['idle-01', 'web-01']);
    expect(await groupsOf(maker, made)).to.have.length(1);

    const others = { permissions: ['nodes.read', 'users.manage'], grants } as const;
    const keeper = await makeUser(hawser, { username: 'keeper', ...others });
    const stranger = await makeUser(hawser, { username: 'stranger', permissions, grants });
    const blind = await makeUser(hawser, { username: 'blind', permissions: others.permissions });
    const paths = ['', '/groups', '/groups/1', `/groups/1/files/${MAIN}`, '/nodes'];
    for (const path of paths.map((each) => `${PREVIEWS}/${made.id}${each}`)) {
      await ok(200, maker.get(path));
      await ok(200, keeper.get(path));
      await expectProblem(stranger.get(path), 404, 'not_found', path);
      await expectProblem(blind.get(path), 404, 'not_found', path);
      await expectProblem(maker.get(path.replace(made.id, newId())), 404, 'not_found', path);
    }
    await grant(hawser, maker, 'web', null);
    for (const path of paths)
      await expectProblem(maker.get(`${PREVIEWS}/${made.id}${path}`), 404, 'not_found', path);
    await expectProblem(
      (await maker.withToken('configurations.grants')).get(`${PREVIEWS}/${made.id}`),
      403,
      'forbidden',
    );
  });

  it('is Running while it waits, and then Done', async () => {
    let id = '';
    await whileNothingIsMade(async () => {
      const reply = await askFor(admin, [publishing('web', '1.1.0')]);
      expect(reply.status, reply.text).to.equal(202);
      id = reply.json.id;
      expect(reply.headers['location']).to.equal(`${PREVIEWS}/${id}`);
      expect(reply.json).to.deep.include({
        state: 'Running',
        completedAt: null,
        error: null,
        groupCount: null,
      });
      expect(reply.json.counts).to.deep.equal({
        nodes: 4,
        changed: 0,
        unchanged: 0,
        unresolvable: 0,
        notVisible: 0,
      });
      expect((await ok(200, read(admin, id))).state).to.equal('Running');
      expect(await ok(200, admin.get(`${PREVIEWS}/${id}/groups`))).to.deep.equal([]);
      expect(await ok(200, admin.get(`${PREVIEWS}/${id}/nodes`))).to.deep.equal([]);
      await expectProblem(admin.get(`${PREVIEWS}/${id}/groups/1`), 404, 'not_found');
    });
    expect(await ended(id)).to.deep.include({ state: 'Done', groupCount: 2 });
  });

  it('is refused while twenty others wait', async () => {
    const ids: string[] = [];
    const change = [publishing('web', '1.1.0')];
    await whileNothingIsMade(async () => {
      const asked = await Promise.all(Array.from({ length: 22 }, () => askFor(admin, change)));
      for (const { status, json } of asked) {
        expect(status).to.equal(202);
        ids.push(json.id);
      }
      const reply = await expectProblem(askFor(admin, change), 429, 'rate_limited');
      expect(Number(reply.headers['retry-after'])).to.be.greaterThan(0);
    });
    for (const id of ids) expect((await ended(id)).state).to.equal('Done');
    expect((await askFor(admin, change)).status).to.be.oneOf([201, 202]);
  });

  it('is Failed where a configuration that it names is deleted meanwhile', async () => {
    const author = await makeUser(hawser, {
      username: 'author',
      permissions: ['nodes.read', 'configurations.create'],
    });
    await ok(201, create(author, 'passing', { version: '1.0.0' }));
    let id = '';
    await whileNothingIsMade(async () => {
      id = (await ok(202, askFor(author, [publishing('passing', '1.0.0')]))).id;
      await ok(204, author.delete(`${CONFIGURATIONS}/passing`));
    });
    const failed = await ended(id);
    expect(failed).to.deep.include({ state: 'Failed', groupCount: null });
    expect(failed.error).to.match(/passing.*deleted.*\.$/);
    // Only who may read every configuration may read it now.
    await expectProblem(read(author, id), 404, 'not_found');
  });

  it('is Failed when the process that makes it has ended', async () => {
    let id = '';
    await whileNothingIsMade(async () => {
      id = (await ok(202, askFor(admin, [publishing('web', '1.1.0')]))).id;
      // As if another process had begun it, and had been killed.
      await withDatabase(hawser, ({ write }) =>
        write.updateTable('previews').set({ maker: newId() }).where('id', '=', id).execute(),
      );
      const failed = await ok(200, read(admin, id));
      expect(failed.state).to.equal('Failed');
      expect(failed.error).to.match(/^The server ended .*\.$/);
    });
  });

  // On PostgreSQL a write waits for 30 s for another program, and a preview makes more than one.
  itOnSqlite(
    'is Failed as soon as that can be written, where another program held the database,',
    async () => {
      let id = '';
      let holder: Holder | undefined;
      await whileNothingIsMade(async () => {
        id = (await ok(202, askFor(admin, [publishing('web', '1.1.0')]))).id;
        holder = await holdDatabase(hawser);
      });
      try {
        await eventually(async () =>
          expect(hawser.log()).to.match(new RegExp(`"level":"error".*"previewId":"${id}"`)),
        );
        expect((await ok(200, read(admin, id))).state).to.equal('Running');
      } finally {
        await holder?.release();
      }
      const failed = await ok(200, read(admin, id));
      expect(failed.state).to.equal('Failed');
      expect(failed.error).to.match(/\.$/);
    },
  );

  it('is Failed when the server ends, and what is Done can be read afterwards', async () => {
    const done = await preview(admin, [publishing('web', '1.1.0')]);
    await whileNothingIsMade(async () => {
      const { id } = await ok(202, askFor(admin, [publishing('web', '1.1.0')]));
      await hawser.restart();
      admin = hawser.admin;
      expect(await ok(200, read(admin, id))).to.include({ state: 'Failed' });
    });
    expect(await ok(200, read(admin, done.id))).to.deep.equal(done);
    expect(await groupsOf(admin, done)).to.have.length(2);
  });

  it('is gone after an hour, and leaves nothing behind', async () => {
    const { id } = await preview(admin, [publishing('web', '1.1.0')]);
    hawser.clock.advance(HOUR);
    await expectProblem(read(admin, id), 404, 'not_found');
    await expectProblem(admin.get(`${PREVIEWS}/${id}/groups`), 404, 'not_found');
    await hawser.restart();
    const left = () =>
      withDatabase(hawser, async ({ read: db }) => [
        ...(await db.selectFrom('previews').select('id').execute()),
        ...(await db.selectFrom('preview_results').select('preview_id').execute()),
      ]);
    // Many previews of the tests before are deleted one after the other.
    await eventually(async () => expect(await left()).to.deep.equal([]));
  });
});
