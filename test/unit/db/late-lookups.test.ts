import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Database as SqliteHandle } from 'better-sqlite3';
import { expect } from 'chai';
import { sql } from 'kysely';
import type { Database } from '../../../src/db/database.ts';
import { NodeLookup } from '../../../src/db/node-lookup.ts';
import { NodeNames } from '../../../src/db/node-names.ts';
import type { NodeReader } from '../../../src/db/node-reader.ts';
import { noteRefsMoved } from '../../../src/db/repository-rows.ts';
import { SqliteChangeFeed } from '../../../src/db/sqlite/change-feed.ts';
import { SqliteNodeReader } from '../../../src/db/sqlite/node-reader.ts';
import { DATABASE_FILE, openReader, openSqlite } from '../../../src/db/sqlite/open.ts';
import { certificateRow, nodeRows } from '../../support/engines/rows.ts';
import { temporaryFolder } from '../../support/temporary.ts';

/** A reader whose answers are on their way until they are let in, as those of another machine are. */
class LateReader {
  readonly reader: NodeReader;
  /** The names of the methods that were called. */
  readonly calls: string[] = [];
  private readonly held: (() => void)[] = [];
  private fault: Error | null = null;

  constructor(reader: NodeReader) {
    this.reader = new Proxy(reader, {
      get: (target, name: keyof NodeReader) => {
        const read = (target[name] as (...values: unknown[]) => unknown).bind(target);
        return (...values: unknown[]) => {
          this.calls.push(name);
          return this.hold(read(...values));
        };
      },
    });
  }

  /** Waits until something is on its way, and lets it in. */
  async letIn(): Promise<void> {
    while (this.held.length === 0) await nextTurn();
    this.letInNow();
  }

  letInNow(): void {
    for (const resolve of this.held.splice(0)) resolve();
  }

  failOnce(error: Error): void {
    this.fault = error;
  }

  private async hold<T>(value: T): Promise<T> {
    await new Promise<void>((resolve) => this.held.push(resolve));
    const { fault } = this;
    this.fault = null;
    if (fault !== null) throw fault;
    return value;
  }
}

describe('look-ups whose answers come late', () => {
  const folder = temporaryFolder();
  let database: Database;
  let handle: SqliteHandle;
  let late: LateReader;
  let feed: SqliteChangeFeed;
  let lookup: NodeLookup;

  beforeEach(async () => {
    database = await openSqlite(folder());
    await write(nodeRows(['n1', 'web-01'], ['n2', 'web-02']));
    await write(certificateRow('AB', 'n1'));
    handle = openReader(folder(DATABASE_FILE));
    late = new LateReader(new SqliteNodeReader(handle));
    feed = new SqliteChangeFeed(handle);
    lookup = new NodeLookup(late.reader, feed);
  });

  afterEach(async () => {
    handle.close();
    await database.close();
  });

  const write = (statement: string) => sql.raw(statement).execute(database.write);

  /** Writes, and has the feed tell of it. */
  async function tell(statement: string): Promise<void> {
    await write(statement);
    catchUp();
  }
  function catchUp(): void {
    feed.markStale();
    feed.catchUp('now');
  }

  /** The certificate's end as a look-up sees it, while which `meanwhile` happens. */
  async function end(meanwhile: () => Promise<unknown> = async () => undefined) {
    const found = lookup.byThumbprint('AB');
    await meanwhile();
    if (found instanceof Promise) await late.letIn();
    return (await found)?.certificateNotAfter;
  }

  it('are remembered, so that the next one asks nothing', async () => {
    expect(await end()).to.equal(9);
    expect(lookup.byThumbprint('AB')).to.include({ nodeId: 'n1' });
    expect(late.calls).to.deep.equal(['byThumbprint']);
  });

  it('are not remembered where the certificate changes meanwhile', async () => {
    await end(() => tell('update node_certificates set not_after = 10'));
    expect(await end()).to.equal(10);
    expect(await end()).to.equal(10);
    expect(late.calls).to.deep.equal(['byThumbprint', 'byThumbprint']);
  });

  it('are not remembered where the feed no longer lists what changes meanwhile', async () => {
    await end(() =>
      tell(`with recursive n (i) as (select 1 union all select i + 1 from n where i < 10100)
        insert into changes (kind, key) select 'nodes', '0' from n`),
    );
    await end();
    expect(late.calls).to.deep.equal(['byThumbprint', 'byThumbprint']);
  });

  it('are remembered where something else changes, with the generation before it', async () => {
    const found = lookup.byThumbprint('AB');
    const { generation } = feed;
    await noteRefsMoved(database.write, { kind: 'parameters', name: 'web' }, 1);
    catchUp();
    await late.letIn();
    expect((await found)?.generation).to.equal(generation);
    expect(lookup.byThumbprint('AB')).to.include({ generation: generation + 1 });
  });

  it('of scopes are not remembered where a scope changes meanwhile', async () => {
    await end();
    const scopes = async (meanwhile: () => Promise<unknown> = async () => undefined) => {
      const node = await lookup.byThumbprint('AB');
      const links = node && lookup.scopesOf(node);
      await meanwhile();
      if (links instanceof Promise) await late.letIn();
      return (await links)?.map(({ scopeTypeName }) => scopeTypeName);
    };
    const turnOff = () => tell(`update scope_types set is_enabled = 0 where name = 'Node'`);
    const again = async () => {
      feed.markStale();
      const node = lookup.byThumbprint('AB');
      if (node instanceof Promise) await late.letIn();
      await node;
    };
    expect(await scopes(turnOff)).to.deep.equal(['Default', 'Node']);
    await again();
    expect(await scopes()).to.deep.equal(['Default']);
    expect(await scopes()).to.deep.equal(['Default']);
    expect(late.calls.filter((call) => call === 'scopesOf')).to.have.lengthOf(2);
  });

  it('find nobody for an unknown certificate, and find it once it is there', async () => {
    const find = async () => {
      const found = lookup.byThumbprint('CD');
      await late.letIn();
      return (await found)?.nodeId ?? null;
    };
    expect(await find()).to.equal(null);
    await tell(certificateRow('CD', 'n2'));
    expect(await find()).to.equal('n2');
  });

  it('pass an error on and remember nothing of it', async () => {
    late.failOnce(new Error('away'));
    const outcome = await end().catch((error: Error) => error.message);
    expect(outcome).to.equal('away');
    expect(await end()).to.equal(9);
  });

  describe('of names', () => {
    let names: NodeNames;

    beforeEach(() => {
      names = new NodeNames(late.reader, feed);
    });

    async function find(meanwhile: () => Promise<unknown> = async () => undefined) {
      let isOver = false;
      const found = names.find('web', 10, 'a user').finally(() => {
        isOver = true;
      });
      found.catch(() => undefined);
      await nextTurn();
      await meanwhile();
      // Whether it asks once more is not known, so that nothing here may wait for that.
      while (!isOver) {
        late.letInNow();
        await nextTurn();
      }
      return (await found).names;
    }

    it('leave out a node that is deleted while they are on their way', async () => {
      expect(await find(() => tell(`delete from nodes where id = 'n1'`))).to.deep.equal(['web-02']);
      expect(await find()).to.deep.equal(['web-02']);
    });

    it('are read anew where the feed no longer lists what changes meanwhile', async () => {
      expect(await find()).to.deep.equal(['web-01', 'web-02']);
      const found = await find(() =>
        tell(`with recursive n (i) as (select 1 union all select i + 1 from n where i < 10100)
          insert into changes (kind, key) select 'certificates', 'other' from n`),
      );
      expect(found).to.deep.equal(['web-01', 'web-02']);
    });

    it('pass an error on, and are found at the next call', async () => {
      late.failOnce(new Error('away'));
      expect(await find().catch((error: Error) => error.message)).to.equal('away');
      expect(await find()).to.deep.equal(['web-01', 'web-02']);
    });
  });
});
