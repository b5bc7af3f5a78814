// full: SQLite
import { once } from 'node:events';
import { expect } from 'chai';
import type { Client } from 'pg';
import { PostgresChangeFeed } from '../../../../src/db/postgres/change-feed.ts';
import { Connections } from '../../../../src/db/postgres/connections.ts';
import type { Awaitable } from '../../../../src/lib/awaitable.ts';
import { HawserError } from '../../../../src/lib/errors.ts';
import { createLog } from '../../../../src/lib/log.ts';
import { eventually } from '../../../support/eventually.ts';
import { type OwnCluster, ownCluster } from '../../../support/postgres.ts';

/** What the feed reads, without what fills it. */
const TABLES = `create table generation (id integer primary key, value bigint);
  create table access_generation (id integer primary key, value bigint);
  create table changes (seq bigint generated always as identity primary key, kind text, key text);
  create table node_certificates (thumbprint text, node_id text, state text);
  insert into generation values (1, 1); insert into access_generation values (1, 1)`;

describe('the change feed of PostgreSQL', () => {
  let own: OwnCluster;
  let url: string;
  let connections: Connections;
  let other: Client;
  let feed: PostgresChangeFeed;
  let told: string[];

  before(async () => {
    own = await ownCluster();
    ({ url } = await own.newDatabase());
    connections = await Connections.load(url);
    other = await connections.connect();
    await other.query(TABLES);
  });
  after(() => own.cluster.remove());
  beforeEach(async () => {
    feed = new PostgresChangeFeed(connections, null);
    await feed.catchUp('now');
    told = [];
    feed.subscribe({
      onChange: (kind, key) => void told.push(`${kind} ${key}`),
      onLost: (isUnsure) => void told.push(isUnsure ? 'unsure' : 'lost'),
    });
  });
  afterEach(() => feed.close());

  const change = (...keys: string[]) =>
    other.query('insert into changes (kind, key) select $1, unnest($2::text[])', ['certificates', keys]);
  const outcome = (promise: Awaitable<unknown>) =>
    Promise.resolve(promise).then(
      () => 'ok',
      (error: unknown) => (error instanceof HawserError ? error.code : String(error)),
    );

  it('tells of all that was committed before, in the order of the numbers', async () => {
    await change('a', 'b');
    await feed.catchUp('now');
    expect(told).to.deep.equal(['certificates a', 'certificates b']);
    await other.query(
      'update generation set value = value + 1; update access_generation set value = value + 3',
    );
    const before = [feed.generation, feed.accessGeneration] as const;
    await feed.catchUp('now');
    expect([feed.generation, feed.accessGeneration]).to.deep.equal([before[0] + 1, before[1] + 3]);
    expect(told).to.have.lengthOf(2);
  });

  it('tells of what others committed without being asked', async () => {
    await change('of another server');
    await eventually(async () => expect(told).to.deep.equal(['certificates of another server']));
  });

  it('answers at once from what it knows, unless this process has written', async () => {
    expect(feed.catchUp('recent')).to.equal(undefined);
    await change('mine');
    feed.markStale();
    const caughtUp = feed.catchUp('recent');
    expect(caughtUp).to.be.instanceOf(Promise);
    await caughtUp;
    expect(told).to.deep.equal(['certificates mine']);
    expect(feed.catchUp('recent')).to.equal(undefined);
  });

  it('tells of a certificate whose current one it is by then, and of what is no certificate nothing', async () => {
    const owners: unknown[] = [];
    feed.subscribe({
      onChange: (_kind, _key, owner) => void owners.push(owner),
      onLost: () => undefined,
    });
    await other.query(`insert into node_certificates values
      ('own', 'n1', 'current'), ('own', 'n0', 'pending'), ('announced', 'n1', 'pending')`);
    await change('own', 'announced', 'gone');
    await other.query(`insert into changes (kind, key) values ('scopes', 'own')`);
    await feed.catchUp('now');
    expect(owners).to.deep.equal(['n1', '', null, null]);
  });

  it('gives what is kept only while PostgreSQL is away, and passes other errors on', async () => {
    const fail = (error: Error) =>
      feed.orKept<string>(
        () => Promise.reject(error),
        () => 'kept',
      );
    const lost = new HawserError('unavailable', 'unavailable', 'one connection was lost');
    expect(
      await feed.orKept<string>(
        () => 'read',
        () => 'kept',
      ),
    ).to.equal('read');
    expect(await outcome(fail(lost))).to.equal('unavailable');
    await own.cluster.kill();
    try {
      expect(await fail(lost)).to.equal('kept');
      expect(feed.isAway).to.equal(true);
      expect(await outcome(fail(new HawserError('not_found', 'not_found', 'nothing')))).to.equal('not_found');
      expect(
        await outcome(
          feed.orKept(
            () => Promise.reject(lost),
            () => undefined,
          ),
        ),
      ).to.equal('unavailable');
    } finally {
      await own.cluster.start();
    }
    await eventually(async () => expect(feed.isAway).to.equal(false));
    other = await connections.connect();
  });

  it('says so where nobody knows whether a commit was made', () => {
    feed.forget();
    expect(told).to.deep.equal(['unsure']);
  });

  it('says that all may have changed where changes are no longer listed', async () => {
    await change('x');
    await feed.catchUp('now');
    told = [];
    await other.query(`insert into changes (kind, key) select 'certificates', 'y' from generate_series(1, 50);
      delete from changes where seq < (select max(seq) from changes) - 10`);
    await feed.catchUp('now');
    expect(told).to.deep.equal(['lost']);
    told = [];
    await other.query('delete from changes where seq > (select min(seq) from changes)');
    await feed.catchUp('now');
    expect(told, 'a database that was brought back').to.deep.equal(['lost']);
  });

  it('warns of connections that were lost while PostgreSQL answers', async () => {
    const lines: string[] = [];
    // The other feed would tell of them too.
    const used = await Connections.load(url);
    const warning = new PostgresChangeFeed(used, createLog('info', { write: (line) => lines.push(line) }));
    const pool = used.pool(1);
    try {
      const client = await pool.connect();
      await warning.catchUp('now');
      expect(lines).to.deep.equal([]);
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
      const lost = once(client, 'error');
      await other.query(`select pg_terminate_backend(${rows[0]?.pid})`);
      await lost;
      client.release(true);
      warning.noteFailed();
      await eventually(async () => expect(lines).to.have.length(1));
      const line = JSON.parse(lines[0] ?? '');
      expect(line).to.include({ level: 'warn', connections: 1 });
      expect(line.err.code).to.equal('57P01');
    } finally {
      await warning.close();
      await pool.end();
    }
  });

  for (const [name, take, bring] of [
    ['dies', () => own.cluster.kill(), () => own.cluster.start()],
    ['stands still', async () => own.cluster.freeze(), async () => own.cluster.thaw()],
  ] as const)
    it(`goes on from memory for polls while the server ${name}, and comes back with it`, async () => {
      await take();
      try {
        const waiting = feed.whileHere(new Promise<void>(() => undefined), () => undefined);
        expect(await outcome(feed.catchUp('now'))).to.equal('unavailable');
        expect(await outcome(waiting), 'who waits for a connection').to.equal('unavailable');
        await eventually(async () => expect(() => feed.requireHere()).to.throw(HawserError));
        const late = feed.whileHere(new Promise<void>(() => undefined), () => undefined);
        expect(await outcome(late), 'who begins to wait later').to.equal('unavailable');
        expect(feed.catchUp('recent')).to.equal(undefined);
      } finally {
        await bring();
      }
      await eventually(async () => expect(await outcome(feed.catchUp('now'))).to.equal('ok'));
      feed.requireHere();
      other = await connections.connect();
      await change('after it');
      await feed.catchUp('now');
      expect(told).to.include('certificates after it');
    });
});
