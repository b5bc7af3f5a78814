/** Commits of one small row each, over one connection: the least that a change of a database takes. */

import pg from 'pg';

export interface BareCommits {
  /** @returns milliseconds of so many commits, one after the other */
  commit(count: number): Promise<number>;
  close(): Promise<void>;
}

/** @param url of an empty database */
export async function bareCommits(url: string): Promise<BareCommits> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('create table bare (id bigint generated always as identity primary key, text text)');
  return {
    async commit(count) {
      const start = performance.now();
      for (let at = 0; at < count; at += 1) {
        await client.query('begin');
        await client.query('insert into bare (text) values ($1)', ['a small row']);
        await client.query('commit');
      }
      return performance.now() - start;
    },
    close: () => client.end(),
  };
}
