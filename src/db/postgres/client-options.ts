/** What pg's client is given for the URL of the settings. pg itself would ignore what it does not know in a URL. */

import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import type { ClientConfig } from 'pg';
import { type DatabaseUrl, parseDatabaseUrl } from '../../lib/database-url.ts';

/**
 * The file of `sslrootcert` is read each time, so that a new one counts for the connections after it.
 * @throws Error if that file cannot be read any more
 */
export function clientOptions(databaseUrl: string): ClientConfig {
  const url = parseDatabaseUrl(databaseUrl);
  return {
    host: url.host,
    port: url.port,
    database: url.database,
    user: url.user,
    ...(url.password !== null && { password: url.password }),
    ssl: url.sslMode === 'disable' ? false : tlsOptions(url),
    application_name: url.applicationName,
    connectionTimeoutMillis: url.connectTimeout,
    keepAlive: true,
  };
}

/** As in libpq: `require` checks the certificate only if there is a file of authorities, and names only for `verify-full`. */
function tlsOptions({ sslMode, sslRootCert }: DatabaseUrl): ConnectionOptions {
  return {
    ...(sslRootCert !== null && { ca: readFileSync(sslRootCert) }),
    ...(sslMode === 'require' && sslRootCert === null && { rejectUnauthorized: false }),
    ...(sslMode !== 'verify-full' && { checkServerIdentity: () => undefined }),
  };
}
