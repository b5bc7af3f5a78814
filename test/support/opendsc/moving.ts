/** Imports a source site into a server of the tests, which is closed meanwhile. */

import type { CheckReport } from '../../../src/operations/import-opendsc/check/check.ts';
import type { ImportReport, Kind, KindReport } from '../../../src/operations/import-opendsc/kinds.ts';
import { ENGINE } from '../engine.ts';
import type { Hawser } from '../hawser.ts';
import { type Ended, runHawser } from '../spawned.ts';
import type { OpenDscSite } from './site.ts';

/** Where a site is, as the command names it. */
export type Written = Awaited<ReturnType<OpenDscSite['write']>>;

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
