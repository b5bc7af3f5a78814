/** What `--database` names: an SQLite file or the URL of a PostgreSQL database. It may hold a password. */

import type { ForeignPlace } from '../../../db/foreign-database.ts';
import { UsageError } from '../../../lib/command-words.ts';
import { DatabaseUrlFault, parseDatabaseUrl } from '../../../lib/database-url.ts';
import { HawserError } from '../../../lib/errors.ts';

const SQL_SERVER_URL = /^(?:sqlserver|mssql(?:\+\w+)?|jdbc:sqlserver):/i;
/** The words of a connection string as .NET programs have them in their settings. */
const CONNECTION_STRING = /^\s*[a-z ]+\s*=[^;]*(?:;|$)/i;
const OF_SQL_SERVER =
  /(?:^|;)\s*(?:server|initial catalog|integrated security|trusted_connection|trustservercertificate)\s*=/i;

/**
 * Neither result nor error repeats a password.
 * @returns the place, and its name for people: the path, or `host:port/database`
 * @throws UsageError; HawserError `source_of_other_engine` for SQL Server
 */
export function parseLocation(location: string): { place: ForeignPlace; name: string } {
  const isConnectionString = CONNECTION_STRING.test(location);
  if (SQL_SERVER_URL.test(location) || (isConnectionString && OF_SQL_SERVER.test(location)))
    throw new HawserError(
      'not_implemented',
      'source_of_other_engine',
      "SQL Server is not read; export the database to an SQLite file with OpenDSC's own tools first, and name that file",
    );
  if (isConnectionString)
    throw new UsageError(
      'import-opendsc: --database takes the path of an SQLite file, or postgres://USER:PASSWORD@HOST:PORT/DATABASE, and no connection string',
    );
  if (/^postgres(?:ql)?:/i.test(location)) return parsePostgres(location);
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(location))
    throw new UsageError('import-opendsc: --database is a URL, but not that of a PostgreSQL database');
  if (location === '' || location.includes('\0'))
    throw new UsageError('import-opendsc: --database is no path');
  return { place: { engine: 'sqlite', file: location }, name: location };
}

function parsePostgres(url: string): { place: ForeignPlace; name: string } {
  try {
    const address = parseDatabaseUrl(url);
    const host = address.host.includes(':') ? `[${address.host}]` : address.host;
    return {
      place: { engine: 'postgres', url, address },
      name: `${host}:${address.port}/${address.database}`,
    };
  } catch (error) {
    if (error instanceof DatabaseUrlFault)
      throw new UsageError(`import-opendsc: the URL of --database ${wordsOf(error.message)}`);
    throw error;
  }
}

/** Some faults are whole predicates, the others need a verb. */
function wordsOf(fault: string): string {
  return fault.startsWith('not ') ? `is ${fault}` : fault;
}
