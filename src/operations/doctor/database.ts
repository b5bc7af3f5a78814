/** Whether the database is whole, and of this release. */

import type { InspectedDatabase } from '../../db/inspection.ts';
import { type Check, describeFailure, type Finding, faultOf, noteOf } from './findings.ts';

const RESTORE = 'stop the server, keep a copy of the data folder, and restore the latest backup';

export function checkDatabase(file: string, database: InspectedDatabase): Check {
  const parts = [checkIntegrity, checkForeignKeys, checkMigrations];
  const findings = parts.flatMap((part) => {
    try {
      return part(file, database);
    } catch (error) {
      return [faultOf(file, `cannot be read: ${describeFailure(error)}`, RESTORE)];
    }
  });
  return { name: 'database', summary: `${file}, every page read`, findings: withoutRepeats(findings) };
}

function checkIntegrity(file: string, database: InspectedDatabase): Finding[] {
  return database.integrityFaults().map((line) => faultOf(file, line, RESTORE));
}

function checkForeignKeys(file: string, database: InspectedDatabase): Finding[] {
  return database.foreignKeyFaults().map(({ table, parent, rows }) => {
    const what = `${rows} rows of ${table} refer to rows of ${parent} that are not there`;
    return faultOf(file, what, RESTORE);
  });
}

function checkMigrations(file: string, database: InspectedDatabase): Finding[] {
  const { pending, unknown } = database.migrations();
  const newer = unknown.map((name) =>
    faultOf(
      file,
      `it has the form of a newer release (${name})`,
      'install that release, or restore a backup of before it',
    ),
  );
  const older = pending.map((name) =>
    noteOf(
      file,
      `it has yet to be brought to this release (${name})`,
      'the next start of the server does so',
    ),
  );
  return [...newer, ...older];
}

/** A file that is no database fails each part alike. */
function withoutRepeats(findings: readonly Finding[]): Finding[] {
  return [...new Map(findings.map((finding) => [finding.what, finding])).values()];
}
