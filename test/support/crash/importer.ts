/**
 * `hawser import-opendsc` under test, in a separate process: on a disk with failpoints that are recorded, with failpoints at
 * every commit, and with one after each of its deeds. The one argument is JSON. It prints its report as JSON.
 */

import { readConfig } from '../../../src/config.ts';
import { AtomicFs } from '../../../src/git/atomic-fs.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { importOpenDsc } from '../../../src/operations/import-opendsc/import.ts';
import { type Doom, Failpoints } from './failpoints.ts';
import { Journal } from './journal.ts';
import { RecordingDisk } from './recording-disk.ts';
import { watchCommits } from './watched-commits.ts';

export interface ImporterArguments {
  settings: Record<string, string>;
  /** The database and the data folder of the OpenDSC server. */
  source: { database: string; files: string };
  journal: string;
  /** The folder in which the recording disk keeps what may have to be restored. */
  kept: string;
  /** Where to kill itself; null if it must not. */
  doom: Doom | null;
}

/** What an import tells while it looks at the source. */
const READING = 'files read';

const {
  settings,
  source,
  journal: path,
  kept,
  doom,
} = JSON.parse(process.argv[2] ?? '') as ImporterArguments;
const config = readConfig(settings);
const journal = new Journal(path);
const failpoints = new Failpoints(journal, doom);
// A start does not differ from the rest of an import.
failpoints.up();
await watchCommits(failpoints, config.databaseUrl);
const report = await importOpenDsc({
  ...{ config, clock: systemClock, ...source, skip: new Set(), isDryRun: false },
  fs: new AtomicFs(new RecordingDisk({ journal, failpoints, root: config.reposDir, kept })),
  onProgress: (what) => what === READING || failpoints.pass('between two deeds'),
});
process.stdout.write(JSON.stringify(report));
