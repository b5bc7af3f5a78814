/**
 * The server under test, in a separate process: the real Hawser on a disk with failpoints that are recorded, and with
 * failpoints at every commit. The one argument is JSON. A line of input is JSON too, and tells the running server
 * where to kill itself.
 */

import { join } from 'node:path';
import { readConfig } from '../../../src/config.ts';
import { AtomicFs } from '../../../src/git/atomic-fs.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { createLog } from '../../../src/lib/log.ts';
import { startServer } from '../../../src/server.ts';
import { type Doom, Failpoints } from './failpoints.ts';
import { Journal } from './journal.ts';
import { RecordingDisk } from './recording-disk.ts';
import { watchCommits } from './watched-commits.ts';

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
await watchCommits(failpoints, config.databaseUrl);
const fs = new AtomicFs(new RecordingDisk({ journal, failpoints, root: config.reposDir, kept }));
const log = createLog(config.logLevel);
const server = await startServer({ config, clock: systemClock, log, fs, showFirstPassword: () => undefined });
failpoints.up();
process.stdin.on('data', (line) => failpoints.arm(JSON.parse(line.toString('utf8'))));
log.info({ url: server.url, dataDir: join(config.dataDir) }, 'listening');
