/** Who holds an advisory lock by name in a database of the shared cluster. */

import { keyOfLock } from '../../../src/db/postgres/advisory-keys.ts';
import { databaseName, querySharedCluster } from '../postgres.ts';

/** The numbers of the processes of PostgreSQL whose connections hold the lock. */
export async function holdersOf(url: string, lock: string): Promise<number[]> {
  const rows = await querySharedCluster<{ pid: number }>(
    `select l.pid from pg_locks l join pg_database d on d.oid = l.database
    where d.datname = '${databaseName(url)}' and l.locktype = 'advisory' and l.granted
      and (l.classid::bigint << 32 | l.objid::bigint) = ${keyOfLock(lock)}`,
  );
  return rows.map(({ pid }) => pid);
}

/** Ends the connections that hold the lock, as a fault of the network would. */
export async function breakLock(url: string, lock: string): Promise<void> {
  for (const pid of await holdersOf(url, lock))
    await querySharedCluster(`select pg_terminate_backend(${pid})`);
}
