/**
 * The server under test, in a separate process: the real Hawser on a disk with failpoints that are recorded, and with
 * failpoints at every commit. The one argument is JSON. A line of input is JSON too, and tells the running server
 * where to kill itself.
 */

import { join } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import { readConfig } from '../../../src/config.ts';
import { AtomicFs } from '../../../src/git/atomic-fs.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { createLog } from '../../../src/lib/log.ts';
import { startServer } from '../../../src/server.ts';
import { type Doom, Failpoints } from './failpoints.ts';
import { Journal } from './journal.ts';
import { RecordingDisk } from './recording-disk.ts';

export interface ServerArguments {
  settings: Record<string, string>;
  journal: string;
  /** The folder in which the recording disk keeps what may have to be restored. */
  kept: string;
  /** Where to kill itself while starting; null if it must not. */
  doom: Doom | null;
}

const { settings, journal: path, kept, doom } = JSON.parse(process.argv[2] ?? '{}') as ServerArguments;
const config = readConfig(settings);
const journal = new Journal(path);
const failpoints = new Failpoints(journal, doom);
watchCommits(failpoints);
if (config.databaseUrl !== null) await watchCommitsOnPostgres(failpoints);
const fs = new AtomicFs(new RecordingDisk({ journal, failpoints, root: config.reposDir, kept }));
const log = createLog(config.logLevel);
const server = await startServer({ config, clock: systemClock, log, fs, showFirstPassword: () => undefined });
failpoints.up();
process.stdin.on('data', (line) => failpoints.arm(JSON.parse(line.toString('utf8'))));
log.info({ url: server.url, dataDir: join(config.dataDir) }, 'listening');

/** Puts a failpoint before and after every commit that PostgreSQL is asked for. */
async function watchCommitsOnPostgres(points: Failpoints): Promise<void> {
  const { prototype } = (await import('pg')).default.Client;
  const query = prototype.query as (...given: unknown[]) => unknown;
  const commit = async (client: unknown) => {
    points.pass('before commit');
    const result = await query.call(client, 'commit');
    points.pass('after commit');
    return result;
  };
  prototype.query = function (this: unknown, ...given: unknown[]) {
    return given[0] === 'commit' ? commit(this) : query.apply(this, given);
  } as typeof prototype.query;
}

/** Puts a failpoint before and after every statement that ends a transaction, or is one by itself. */
function watchCommits(points: Failpoints): void {
  const { prototype } = SqliteDatabase;
  const prepare = prototype.prepare as (sql: string) => SqliteDatabase.Statement;
  prototype.prepare = function (this: SqliteDatabase.Database, sql: string) {
    const statement = prepare.call(this, sql);
    const isEnd = /^commit/i.test(sql);
    const isControl = isEnd || /^(?:begin|rollback|savepoint|release|pragma)/i.test(sql);
    for (const name of ['run', 'all', 'get'] as const) {
      const work = statement[name] as (...values: unknown[]) => unknown;
      const watched = (...values: unknown[]) => {
        if (!isEnd && (isControl || statement.readonly || this.inTransaction)) {
          return work.apply(statement, values);
        }
        points.pass('before commit');
        const result = work.apply(statement, values);
        points.pass('after commit');
        return result;
      };
      Object.assign(statement, { [name]: watched });
    }
    return statement;
  } as typeof prototype.prepare;
}
