import { expect } from 'chai';
import type { DatabaseFault } from '../../../../src/db/inspected-database.ts';
import { inspectDatabase } from '../../../../src/db/inspection.ts';
import { startTransactionPooler } from '../../../support/postgres/transaction-pooler.ts';
import { newDatabase, querySharedCluster, type TestDatabase } from '../../../support/postgres.ts';

const NO_TABLES = 'it holds no tables of Hawser';

describe('a look at a database of PostgreSQL', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await newDatabase();
  });
  afterEach(() => database.drop());

  async function look(databaseUrl = database.url): Promise<DatabaseFault[]> {
    const inspected = await inspectDatabase({ dataDir: '/nowhere', databaseUrl });
    try {
      const found = [];
      for (const find of inspected.looks) found.push(...(await find()));
      return found;
    } finally {
      await inspected.close();
    }
  }

  it('finds nothing but that there are no tables where no server has been', async () => {
    const found = await look();
    expect(found.map(({ severity, what }) => [severity, what])).to.deep.equal([['error', NO_TABLES]]);
  });

  it('changes nothing, and cannot', async () => {
    await querySharedCluster('create table kysely_migration (name text)', database.name);
    await querySharedCluster('grant all on kysely_migration to hawser', database.name);
    const inspected = await inspectDatabase({ dataDir: '/nowhere', databaseUrl: database.url });
    const write = inspected.read?.insertInto('kysely_migration' as never).values({ name: 'x' } as never);
    const error = await write?.execute().catch((fault: Error) => fault);
    await inspected.close();
    expect(error)
      .to.be.an('error')
      .with.property('message')
      .that.matches(/read-only/);
  });

  const settings: [statement: string, severity: string, what: RegExp][] = [
    ['set synchronous_commit to off', 'warning', /^synchronous_commit is off/],
    ['connection limit 9', 'warning', /^there is room for 9 connections .* a server takes up to 10$/],
  ];
  for (const [statement, severity, what] of settings) {
    it(`names what comes of "alter database ${statement}"`, async () => {
      await querySharedCluster(`alter database ${database.name} ${statement}`);
      const [found, ...others] = (await look()).filter((fault) => fault.what !== NO_TABLES);
      expect(others).to.deep.equal([]);
      expect(found?.severity).to.equal(severity);
      expect(found?.what).to.match(what);
      expect(found?.remedy).to.match(/\w/);
    });
  }

  it('names an encoding that cannot hold every text', async () => {
    const name = `${database.name}_ascii`;
    await querySharedCluster(
      `create database ${name} owner hawser template template0 encoding 'SQL_ASCII' locale_provider libc locale 'C'`,
    );
    const found = await look(database.url.replace(database.name, name));
    await querySharedCluster(`drop database ${name}`);
    expect(found.map(({ what }) => what)).to.include('its encoding is SQL_ASCII');
  });

  it('names a pooler that shares connections between transactions', async () => {
    const pooler = await startTransactionPooler(Number(new URL(database.url).port));
    const url = database.url.replace(/:\d+\//, `:${pooler.port}/`);
    const found = await look(url).finally(() => pooler.close());
    const [fault] = found.filter(({ what }) => what.includes('pooler'));
    expect(fault).to.include({ severity: 'error' });
    expect(fault?.remedy).to.include('session mode');
  });
});
