/** Whether the database is whole, reachable, fit for its work, and of this release. */

import type { DatabasePlace } from '../../db/database.ts';
import { readFreeze } from '../../db/freeze.ts';
import type { InspectedDatabase } from '../../db/inspected-database.ts';
import { inspectDatabase, nameOfDatabase, unusedDatabase } from '../../db/inspection.ts';
import { toTimestamp } from '../../lib/clock.ts';
import { type Check, describeFailure, type Finding, faultOf, noteOf } from './findings.ts';

const OPEN = 'see whether the settings name it, and whether it lets this user in';

/**
 * Opens the database of the settings, and looks at it.
 * @returns null in place of a database that cannot be opened
 */
export async function openDatabase(
  place: DatabasePlace,
  now: number,
): Promise<[InspectedDatabase | null, Check]> {
  const name = nameOfDatabase(place);
  try {
    const database = await inspectDatabase(place);
    return [database, await checkDatabase(place, database, now)];
  } catch (error) {
    const findings = [faultOf(name, `cannot be opened: ${describeFailure(error)}`, OPEN)];
    return [null, { name: 'database', summary: name, findings }];
  }
}

async function checkDatabase(place: DatabasePlace, database: InspectedDatabase, now: number): Promise<Check> {
  const { name, scope, looks, remedy } = database;
  const findings: Finding[] = [];
  for (const look of [
    ...looks.map(asFindings(name)),
    () => compareRelease(database),
    () => tellFreeze(database, now),
  ]) {
    try {
      findings.push(...(await look()));
    } catch (error) {
      findings.push(faultOf(name, `cannot be read: ${describeFailure(error)}`, remedy));
    }
  }
  // A file that is no database makes each of them fail in the same way.
  const distinct = [...new Map(findings.map((finding) => [finding.what, finding])).values()];
  const summary = scope === '' ? name : `${name}, ${scope}`;
  return { name: 'database', summary, findings: [...distinct, ...findUnused(place)] };
}

const asFindings =
  (where: string) => (look: InspectedDatabase['looks'][number]) => async (): Promise<Finding[]> =>
    (await look()).map((fault) => ({ where, ...fault }));

async function compareRelease({ name, read, migrations }: InspectedDatabase): Promise<Finding[]> {
  if (read === null) return [];
  const { pending, unknown, hindrance } = await migrations();
  const install = 'install that release, or restore a backup of before it';
  const start =
    'the next start of the server does so; if that fails with migration_failed, start the former release again';
  if (hindrance === 'gap') {
    const what = `it is damaged: its list of migrations lacks ${pending.join(', ')} and has later ones`;
    return [faultOf(name, what, 'stop the server, keep a copy of it, and restore the latest backup')];
  }
  // Servers of two releases may use one database, while one after the other is brought to the newer one.
  const judge = hindrance === null ? noteOf : faultOf;
  return [
    ...unknown.map((each) => judge(name, `it has the form of a newer release (${each})`, install)),
    ...pending.map((each) => noteOf(name, `it has yet to be brought to this release (${each})`, start)),
  ];
}

async function tellFreeze({ name, read }: InspectedDatabase, now: number): Promise<Finding[]> {
  const freeze = read && (await readFreeze(read, now));
  if (freeze === null) return [];
  const { reason, frozenBy, until } = freeze;
  const what = `what nodes get may not be changed until ${toTimestamp(until)}: ${frozenBy} has frozen it (${reason})`;
  return [noteOf(name, what, 'hawserctl freeze end lifts it')];
}

/** The database of a server that went on with PostgreSQL. */
function findUnused(place: DatabasePlace): Finding[] {
  const file = unusedDatabase(place);
  if (file === null) return [];
  return [
    noteOf(file, 'it is not used, because HAWSER_DATABASE_URL is set', 'move it away once it is of no use'),
  ];
}
