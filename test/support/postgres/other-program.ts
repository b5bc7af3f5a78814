/** Another program on the database of a server: it holds locks that the server's writes wait for. */

import { expect } from 'chai';
import pg from 'pg';
import { eventually } from '../eventually.ts';
import { querySharedCluster, superUrlOf } from '../postgres.ts';

export interface OtherProgram {
  query(text: string): Promise<void>;
  /** Resolves once so many connections of the server wait for this program. */
  waitedFor(connections?: number): Promise<void>;
  /** Ends the program, and with it its transaction and its locks. */
  end(): Promise<void>;
}

/** @param url the server's; the program is the superuser */
export async function otherProgram(url: string): Promise<OtherProgram> {
  const client = new pg.Client({ connectionString: await superUrlOf(url) });
  client.on('error', () => undefined);
  await client.connect();
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const pid = rows[0]?.pid ?? 0;
  return {
    query: async (text) => void (await client.query(text)),
    waitedFor: async (connections = 1) => {
      await eventually(async () => {
        const waiting = await querySharedCluster(
          `select pid from pg_stat_activity where ${pid} = any(pg_blocking_pids(pid))`,
        );
        expect(waiting.length).to.be.at.least(connections);
      });
    },
    end: () => client.end(),
  };
}
