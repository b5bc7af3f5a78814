import { randomBytes, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Database } from '../../../../src/db/database.ts';
import type { GitTables, MovedRef, StoredObject, StoredRepository } from '../../../../src/db/git-tables.ts';
import { openDatabase } from '../../../../src/db/open.ts';
import { failureOf } from '../../../support/failures.ts';
import { newDatabase, type TestDatabase } from '../../../support/postgres.ts';

const NAME = { kind: 'configurations', name: 'web' } as const;

const newObject = (bytes: number): StoredObject => ({
  oid: randomBytes(20).toString('hex'),
  type: 'blob',
  size: bytes,
  deflated: [randomBytes(bytes)],
});

const bytesOf = (object: StoredObject | null) => object && Buffer.concat(object.deflated);

describe('the tables of repositories', () => {
  let place: TestDatabase;
  let database: Database;
  let tables: GitTables;
  let repository: StoredRepository;

  before(async () => {
    place = await newDatabase('migrated');
    database = await openDatabase({ dataDir: '', databaseUrl: place.url });
    if (database.repositories === null) throw new Error('no tables');
    tables = database.repositories;
  });
  after(async () => {
    await database.close();
    await place.drop();
  });
  beforeEach(async () => {
    repository = { ...NAME, id: randomUUID(), settings: { id: 'x' }, shallow: [], state: randomUUID() };
    await tables.transaction((trx) => tables.create(trx, repository));
  });
  afterEach(() => tables.transaction((trx) => tables.remove(trx, NAME)));

  const changeOf = (move: MovedRef) => ({
    ...{ ...NAME, id: repository.id, before: repository.state, after: randomUUID() },
    ...{ moves: [move], shallow: null },
  });

  it('give a repository as it was made, with its refs', async () => {
    expect(await tables.find(NAME)).to.deep.equal(repository);
    expect(await tables.list()).to.deep.equal([repository]);
    expect((await tables.refs(NAME))?.refs.size).to.equal(0);
    expect(await tables.find({ ...NAME, name: 'other' })).to.equal(undefined);
  });

  it('give objects of any size byte for byte, once each', async () => {
    const objects = [0, 1, 65_536, 65_537, 1_048_576, 3_000_000].map(newObject);
    await Promise.all([...objects, ...objects].map((object) => tables.writeObject(repository.id, object)));
    for (const object of objects) {
      const read = await tables.readObject(repository.id, object.oid);
      expect(bytesOf(read)?.equals(bytesOf(object) as Buffer), `${object.size} bytes`).to.equal(true);
      expect(read).to.include({ oid: object.oid, type: 'blob', size: object.size });
    }
    const found = new Set<string>();
    const ids = objects.map(({ oid }) => oid);
    for await (const some of tables.readObjects(repository.id, ids))
      for (const { oid } of some) found.add(oid);
    expect(found.size).to.equal(objects.length);
    expect([...(await tables.objectTypes(repository.id)).keys()]).to.have.members([...found]);
    expect(await tables.readObject(randomUUID(), objects[0]?.oid ?? '')).to.equal(null);
  });

  it('move refs only from the state that the mover has seen', async () => {
    const object = newObject(10);
    await tables.writeObject(repository.id, object);
    const move = { name: 'refs/tags/v1.0.0', from: null, to: object.oid };
    const change = changeOf(move);
    let moved: boolean[] = [];
    const run = async () =>
      tables.transaction(async (trx) => {
        moved = [...moved, await tables.moveRefs(trx, change)];
      });
    await run();
    await run();
    expect(moved).to.deep.equal([true, false]);
    const refs = await tables.refs(NAME);
    expect(refs?.refs).to.deep.equal(new Map([[move.name, object.oid]]));
    expect(refs?.repository.state).to.equal(change.after);
  });

  it('refuse a ref that leads to no object', async () => {
    const move = { name: 'refs/tags/v1.0.0', from: null, to: '1'.repeat(40) };
    const moving = tables.transaction(async (trx) => void (await tables.moveRefs(trx, changeOf(move))));
    expect((await failureOf(moving)).message).to.match(/foreign key/);
    expect((await tables.refs(NAME))?.refs.size).to.equal(0);
  });

  it('tell the feed of each change with its moves, and of a repository that goes', async () => {
    const told: unknown[] = [];
    database.changes.subscribe({
      onChange: (kind, key) => kind === 'refs' && told.push(JSON.parse(key)),
      onLost: () => told.push('lost'),
    });
    await database.changes.catchUp('now');
    told.length = 0;
    const object = newObject(10);
    await tables.writeObject(repository.id, object);
    const moves = [{ name: 'refs/heads/main', from: null, to: object.oid }];
    const change = { ...NAME, before: repository.state, after: randomUUID(), moves };
    await tables.transaction(
      async (trx) =>
        void (await tables.moveRefs(trx, { ...change, id: repository.id, shallow: ['2'.repeat(40)] })),
    );
    expect((await tables.find(NAME))?.shallow).to.deep.equal(['2'.repeat(40)]);
    await tables.transaction((trx) => tables.remove(trx, NAME));
    await database.changes.catchUp('now');
    expect(told).to.deep.equal([change, { ...NAME, before: change.after, after: null, moves: null }]);
    expect(await tables.refs(NAME)).to.equal(undefined);
  });
});
