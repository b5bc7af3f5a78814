/**
 * The rows of configurations and composites, and who works on which of them. The parameters of a configuration belong
 * to its row.
 */

import type { Selectable } from 'kysely';
import type { Database, Db } from '../db/database.ts';
import type { CompositesTable, ConfigurationSettingsTable, ConfigurationsTable } from '../db/schema.ts';
import type { OwnRetention } from '../domain/retention-plan.ts';
import type { RepositoryKind } from '../git/types.ts';
import { HawserError, notFound } from '../lib/errors.ts';
import type { GrantedResource } from '../security/access.ts';
import type { Actor } from '../security/audit.ts';
import type { UserPrincipal } from '../security/principal.ts';

export type ConfigurationRow = Selectable<ConfigurationsTable>;
export type CompositeRow = Selectable<CompositesTable>;

export interface ResourceRows {
  configurations: ConfigurationRow;
  composites: CompositeRow;
}

/** The kinds whose repositories have a row of their own. Each kind is also the name of its table. */
export type ResourceKind = keyof ResourceRows;

export const GRANT_KINDS = { configurations: 'configuration', composites: 'composite' } as const;
/** The first part of the audit actions of each kind of repository. */
export const AUDITED = { ...GRANT_KINDS, parameters: 'parameters' } as const;
/** The names of the kinds in messages. */
export const NOUNS = { configurations: 'configuration', composites: 'composite configuration' };

export const noResource = (kind: ResourceKind) => notFound(`No ${NOUNS[kind]} of this name`);

/** The resource for which the caller's access was checked, and one of the kinds of its repositories. */
export interface Owner<K extends RepositoryKind = RepositoryKind> {
  kind: K;
  resource: Pick<GrantedResource, 'id' | 'name'>;
}

/** In whose name versions of which resource are written. */
export interface Authorship<K extends RepositoryKind = RepositoryKind> extends Owner<K> {
  principal: Pick<UserPrincipal, 'username' | 'email'>;
  actor: Actor;
  /** Epoch milliseconds at which the versions were made. Default: when the actor acts. */
  madeAt?: number;
  /** Aborted when the caller has gone. Nothing is written from then on. */
  gone?: AbortSignal;
  /** Throws precondition_failed where the target is not what the caller has seen. Called under the lock. */
  requireCurrent?: () => Promise<void>;
}

/** Who works on which resource. */
export interface Target<K extends RepositoryKind = RepositoryKind> extends Authorship<K> {
  principal: UserPrincipal;
}

export async function findRow<K extends ResourceKind>(
  db: Db,
  kind: K,
  id: string,
): Promise<ResourceRows[K] | undefined> {
  const row = await db
    .selectFrom(kind as ResourceKind)
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst();
  return row as ResourceRows[K] | undefined;
}

/** @throws HawserError not_found where it was deleted meanwhile */
export async function requireRow<K extends ResourceKind>(
  db: Db,
  kind: K,
  id: string,
): Promise<ResourceRows[K]> {
  const row = await findRow(db, kind, id);
  if (!row) throw noResource(kind);
  return row;
}

/** Ignores case, because names are unique without regard to case. */
export async function isNameTaken(db: Db, kind: ResourceKind, name: string): Promise<boolean> {
  const row = await db
    .selectFrom(kind)
    .select('id')
    .where('name_key', '=', name.toLowerCase())
    .executeTakeFirst();
  return row !== undefined;
}

/** Notes that the configuration has a repository of parameters from now on. */
export async function noteParameters(db: Db, configurationId: string): Promise<void> {
  await db
    .updateTable('configurations')
    .set({ has_parameters: 1 })
    .where('id', '=', configurationId)
    .where('has_parameters', '=', 0)
    .execute();
}

type RetentionColumns = Pick<
  Selectable<ConfigurationSettingsTable>,
  'retention_enabled' | 'retention_keep_versions' | 'retention_keep_days' | 'retention_keep_release_versions'
>;

/** The retention that a configuration sets for itself. */
export function toRetention(row: RetentionColumns): OwnRetention {
  return {
    enabled: toBoolean(row.retention_enabled),
    keepVersions: row.retention_keep_versions,
    keepDays: row.retention_keep_days,
    keepReleaseVersions: toBoolean(row.retention_keep_release_versions),
  };
}

export function toBoolean(flag: number | null): boolean | null {
  return flag === null ? null : flag === 1;
}

/**
 * Runs work on a resource that somebody else may be deleting at the same time. A repository that is missing because its
 * row was deleted after the caller's access was checked is no fault of the server.
 * @throws HawserError not_found in that case, or what `work` throws
 */
export async function notFoundIfDeleted<T>(
  { read }: Pick<Database, 'read'>,
  kind: ResourceKind,
  id: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof HawserError && error.code === 'repository_missing') await requireRow(read, kind, id);
    throw error;
  }
}
