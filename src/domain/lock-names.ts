/**
 * The names of all locks (lib/locks.ts). Whoever holds several took them in this order, so that no two wait for each
 * other: a resource, a name, the parameter writes, a repository, the database.
 */

type Kind = 'configurations' | 'composites' | 'parameters';

/** Held while a resource of the API is checked against If-Match and written. */
export const resourceLock = (path: string) => `resource ${path}`;

/** Held over the making and the end of a configuration or composite, each of which takes several steps. */
export const nameLock = (kind: Kind, name: string) => `name ${kind}/${name.toLowerCase()}`;

/** Shared by all who write parameter files; held alone by those who change scope types that files may be of. */
export const PARAMETER_WRITES = 'parameter writes';

/** Held while refs and objects of a repository are written. */
export const repositoryLock = ({ kind, name }: { kind: Kind; name: string }) => `repository ${kind}/${name}`;

/** Held while a cleanup of a type runs; the repositories that it deletes from are locked one after the other. */
export const cleanupLock = (versionType: string) => `cleanup ${versionType}`;

/** Held while the files of TLS are read, and made where they are absent. */
export const TLS_FILES = 'TLS files';

/** Held for a write transaction by one of several processes. */
export const DATABASE_WRITES = 'database';
