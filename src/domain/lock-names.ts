/**
 * The names of all locks (lib/locks.ts). Several locks are always taken in this order, so that there is no deadlock: a
 * resource, a name, the parameter writes, the assignments, a repository, the database.
 */

type Kind = 'configurations' | 'composites' | 'parameters';

/** This lock is held while a resource of the API is checked against If-Match and written. */
export const resourceLock = (path: string) => `resource ${path}`;

/**
 * Whether the holder of a lock judges by what is in memory, such as the versions of other repositories. Whoever holds that of
 * a resource goes by rows.
 */
export const judgesByMemory = (lock: string) => !lock.startsWith(resourceLock(''));

/** This lock is held while a configuration or composite is created or deleted, which takes several steps. */
export const nameLock = (kind: Kind, name: string) => `name ${kind}/${name.toLowerCase()}`;

/** All writers of parameter files share this lock. A change of scope types that files may belong to holds it alone. */
export const PARAMETER_WRITES = 'parameter writes';

/**
 * Whoever gives nodes what has an eligible version shares this lock. A cleanup holds it alone while it deletes versions, so
 * that none goes that a node is about to get.
 */
export const ASSIGNMENTS = 'assignments';

/** This lock is held while refs and objects of a repository are written. */
export const repositoryLock = ({ kind, name }: { kind: Kind | 'changes'; name: string }) =>
  `repository ${kind}/${name}`;

/** This lock is held while a cleanup of a type runs. The repositories that it deletes from are locked one by one. */
export const cleanupLock = (versionType: string) => `cleanup ${versionType}`;

/** This lock is held while the files of TLS are read, and made if they are absent. */
export const TLS_FILES = 'TLS files';

/** This lock is held while a start makes the rows that every database has. */
export const FIRST_START = 'first start';

/** On SQLite whoever writes holds this lock for its turn. */
export const DATABASE_WRITES = 'database';

/** A server holds this lock for as long as it lives, so that others can tell whether its previews go on. */
export const previewMaker = (maker: string) => `previews of ${maker}`;

/** Whoever wants to make a preview holds this lock while it waits for one of the places. */
export const PREVIEW_TURN = 'preview turn';

/** The places of those previews that are made at the same time by all servers. Nothing is locked before. */
export const PREVIEW_PLACES = ['preview place 1', 'preview place 2'] as const;

/** On PostgreSQL the server that leads holds this lock, beside its lease (db/postgres/lead.ts). */
export const LEADER = 'leader';
