/** Imports a source site into a server of the tests, which is closed meanwhile. */

import { rmSync } from 'node:fs';
import type { CheckReport } from '../../../src/operations/import-opendsc/check/check.ts';
import type { ImportReport, Kind, KindReport } from '../../../src/operations/import-opendsc/kinds.ts';
import { ENGINE } from '../engine.ts';
import { type Hawser, startHawser } from '../hawser.ts';
import { type Ended, runHawser } from '../spawned.ts';
import { OpenDscSite } from './site.ts';

/** Where a site is, as the command names it. */
export type Written = Awaited<ReturnType<OpenDscSite['write']>>;

interface Moved {
  report: ImportReport;
  code: number | null;
  written: Written;
  /** What of a kind was left out. */
  leftOut(kind: Kind): KindReport['leftOut'];
}

interface How {
  /** What the command is given beside the source and `--json`. */
  words?: readonly string[];
  /** The settings of the command alone. */
  settings?: Record<string, string>;
  /** Changes the files of the source before the import. */
  spoil?(files: string): void;
}

/** A server, and a site of OpenDSC that a test fills and moves there. Each test of a suite has new ones. */
export class Moving {
  hawser!: Hawser;
  site!: OpenDscSite;
  /** What goes with the test. */
  readonly folders: string[] = [];

  /** To be called in the suite. */
  constructor() {
    beforeEach(async () => {
      this.hawser = await startHawser();
      this.site = new OpenDscSite();
    });
    afterEach(async () => {
      await this.hawser.close();
      for (const folder of this.folders.splice(0)) rmSync(folder, { recursive: true, force: true });
    });
  }

  /** Runs the import to its end, whatever becomes of it. */
  async run({ words = [], settings = {}, spoil }: How = {}): Promise<{ ended: Ended; written: Written }> {
    const written = await write(this.site);
    this.folders.push(written.files);
    spoil?.(written.files);
    return { ended: await importInto(this.hawser, written, settings, ...words), written };
  }

  /** Runs an import that has a report. */
  async move({ words = [], ...how }: How = {}): Promise<Moved> {
    const { ended, written } = await this.run({ ...how, words: [...words, '--json'] });
    const report = reportOf(ended);
    return { report, code: ended.code, written, leftOut: (kind) => kindOf(report, kind).leftOut };
  }
}

/** Writes the site for the engine on which the tests run. */
export const write = (site: OpenDscSite): Promise<Written> => site.write({ engine: ENGINE });

export const sourceWords = ({ location, files }: Written) => ['--database', location, '--files', files];

/** Runs the command with the server closed, and starts it again. @param settings are those of the command alone */
export async function importInto(
  hawser: Hawser,
  written: Written,
  settings: Record<string, string>,
  ...words: string[]
): Promise<Ended> {
  await hawser.server.close();
  const command = ['import-opendsc', ...sourceWords(written), ...words];
  const ended = await runHawser(hawser.folder, settings, command);
  await hawser.restart();
  return ended;
}

/** Compares what nodes are served on both servers. The server may run meanwhile. */
export async function checkMove(
  hawser: Hawser,
  written: Written,
): Promise<{ code: number | null; report: CheckReport }> {
  const words = ['import-opendsc', ...sourceWords(written), '--check', '--json'];
  const { code, stdout, stderr } = await runHawser(hawser.folder, {}, words);
  if (stdout === '') throw new Error(stderr);
  return { code, report: JSON.parse(stdout) };
}

/** The report of an import that was asked for JSON. */
export function reportOf({ stdout, stderr, code }: Ended): ImportReport {
  if (code !== 0 && code !== 2) throw new Error(`exit code ${code}: ${stderr}`);
  return JSON.parse(stdout);
}

/** What became of a kind: found, imported, there, and how many are in conflict and left out. */
export function countsOf(report: ImportReport, kind: Kind): number[] {
  const { found, imported, alreadyThere, conflicts, leftOut } = kindOf(report, kind);
  return [found, imported, alreadyThere, conflicts.length, leftOut.length];
}

export function kindOf(report: ImportReport, kind: Kind): KindReport {
  const found = report.kinds.find((each) => each.kind === kind);
  if (found === undefined) throw new Error(`the report has no ${kind}`);
  return found;
}
