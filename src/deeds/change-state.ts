/**
 * What a change set changes, as it is at one moment. It is kept as it was before the set and as it was after it, so that the set can
 * be taken back, and so that what was changed again since is left alone.
 */

import type { Db } from '../db/database.ts';
import { engineOf } from '../db/engine-of.ts';
import { type Assignment, keyOfAssignment } from '../db/node-lookup.ts';
import { findProtection } from '../db/protections.ts';
import { findScopeTypeByName, listScopeTypes } from '../db/scope-types.ts';
import { findSigning } from '../db/signing.ts';
import type { Protection } from '../domain/protection.ts';
import type { Signing } from '../domain/signing.ts';
import type { RepositoryRef } from '../git/types.ts';
import { HawserError } from '../lib/errors.ts';
import { paced } from '../lib/pace.ts';
import { seriesOf } from '../versions/parameter-files.ts';
import type { SeriesIndex } from '../versions/types.ts';
import { ONLY_SERIES } from '../versions/types.ts';
import { type Change, type NamedFile, type ProtectedName, partsOf, toShownName } from './changes.ts';
import { findOwnSettings } from './configuration-settings.ts';
import { scopeNamed } from './parameter-scopes.ts';
import { findProtectable } from './set-protection.ts';

/** The desired settings of a node's LCM, as they are stored. */
export interface StoredLcm {
  configurationMode: string | null;
  configurationModeInterval: string | null;
  reportCompliance: number | null;
}

/** An assignment with the name of what is assigned. */
export type NamedAssignment = Assignment & { configurationName: string };

/** The rows that a set changes. Nodes, scope types and values are named by their ids. */
export interface RowState {
  assignments: Record<string, NamedAssignment | null>;
  /** The tags of each node, by scope type, whatever the set does to them. */
  tags: Record<string, Record<string, string>>;
  lcm: Record<string, StoredLcm>;
  /** All scope types in their order; null where the set leaves it as it is. */
  scopeOrder: string[] | null;
  enabled: Record<string, boolean>;
  /** By the name of the configuration: whether the server manages its parameters. */
  managed: Record<string, boolean>;
  /** By `keyOfProtected`. Absent in sets of a release that had none. */
  protections?: Record<string, Protection>;
  /** By the name of the configuration: who may sign its versions. Absent as above. */
  signing?: Record<string, Signing>;
  /** The same of whether variables in its parameters are replaced. */
  variables?: Record<string, 'Off' | 'On'>;
}

/** Whether a version is offered. A withdrawn one has its reason. */
export type VersionState = { is: 'Draft' | 'Offered' | 'Absent' } | { is: 'Withdrawn'; reason: string };

/** The states of versions, by `keyOfVersion`. */
export type VersionStates = Record<string, VersionState>;

export interface ChangeState {
  rows: RowState;
  versions: VersionStates;
}

/** The version of a part of a deed, where it has one. */
export interface VersionOf {
  repository: RepositoryRef;
  version: string;
  /** The scope of a parameter file; absent for others. */
  file?: NamedFile;
}

export function versionOf(change: Change): VersionOf | null {
  switch (change.kind) {
    case 'PublishConfiguration':
      return of('configurations', change.configurationName, change.version);
    case 'PublishComposite':
      return of('composites', change.compositeName, change.version);
    case 'Withdraw':
    case 'Restore':
      return typeof change.compositeName === 'string'
        ? of('composites', change.compositeName, change.version)
        : of('configurations', change.configurationName ?? '', change.version);
    case 'PublishParameters':
    case 'SetParameters':
    case 'WithdrawParameters':
    case 'RestoreParameters':
      return { ...of('parameters', change.configurationName, change.version), file: change };
    default:
      return null;
  }
}

const of = (kind: RepositoryRef['kind'], name: string, version: string) => ({
  repository: { kind, name },
  version,
});

/** Tells the versions of a set from each other. */
export function keyOfVersion({ repository: { kind, name }, file, version }: VersionOf): string {
  return JSON.stringify([kind, name, file?.scopeTypeName ?? null, file?.scopeValue ?? null, version]);
}

interface Versions {
  index(ref: RepositoryRef): Promise<SeriesIndex>;
}

/** @param store has the versions of the moment */
export async function readVersionStates(
  db: Db,
  store: Versions,
  changes: readonly Change[],
): Promise<VersionStates> {
  const states: VersionStates = {};
  for await (const change of paced(changes.flatMap(partsOf))) {
    const named = versionOf(change);
    if (named) states[keyOfVersion(named)] = await readVersionState(db, store, named);
  }
  return states;
}

async function readVersionState(
  db: Db,
  store: Versions,
  { repository, file, version }: VersionOf,
): Promise<VersionState> {
  const series = file === undefined ? ONLY_SERIES : await readSeries(db, file);
  const ref = series === null ? undefined : (await indexOf(db, store, repository))?.of(series).get(version);
  if (ref === undefined) return { is: 'Absent' };
  if (ref.withdrawn !== null) return { is: 'Withdrawn', reason: ref.withdrawn.reason };
  return { is: ref.status === 'Draft' ? 'Draft' : 'Offered' };
}

/** Null where the configuration or composite was deleted. @throws HawserError `repository_missing` where it is there without one */
async function indexOf(db: Db, store: Versions, repository: RepositoryRef): Promise<SeriesIndex | null> {
  try {
    return await store.index(repository);
  } catch (error) {
    if (!(error instanceof HawserError) || error.code !== 'repository_missing') throw error;
    const rows = repository.kind === 'composites' ? 'composites' : 'configurations';
    const row = db.selectFrom(rows).select('id').where('name', '=', repository.name);
    if ((await row.executeTakeFirst()) !== undefined) throw error;
    return null;
  }
}

async function readSeries(db: Db, { scopeTypeName, scopeValue }: NamedFile): Promise<string | null> {
  const type = await findScopeTypeByName(db, scopeTypeName);
  return type === undefined ? null : seriesOf(await scopeNamed(db, type, scopeValue));
}

export async function readRowState(db: Db, changes: readonly Change[]): Promise<RowState> {
  const nodesOf = (...kinds: readonly Change['kind'][]) =>
    changes.flatMap((change) => ('nodeIds' in change && kinds.includes(change.kind) ? change.nodeIds : []));
  const types = changes.flatMap((change) => ('scopeTypeId' in change ? [change.scopeTypeId] : []));
  const managed = changes.flatMap((change) =>
    change.kind === 'SetServerManaged' ? [change.configurationName] : [],
  );
  const reorders = changes.some(({ kind }) => kind === 'ReorderScopeTypes');
  const all = reorders || types.length > 0 ? await listScopeTypes(db) : [];
  return {
    assignments: await readAssignments(db, nodesOf('Assign', 'Unassign')),
    tags: await readTags(db, nodesOf('Tag', 'Untag', 'SetTags')),
    lcm: await readLcm(db, nodesOf('SetLcmConfig')),
    scopeOrder: reorders ? all.map(({ id }) => id) : null,
    enabled: Object.fromEntries(
      all.filter(({ id }) => types.includes(id)).map(({ id, is_enabled }) => [id, is_enabled === 1]),
    ),
    managed: await readManaged(db, managed),
    protections: await readProtections(db, changes),
    ...(await readSettings(db, changes)),
  };
}

async function readSettings(
  db: Db,
  changes: readonly Change[],
): Promise<Required<Pick<RowState, 'signing' | 'variables'>>> {
  const signing: Record<string, Signing> = {};
  const variables: Record<string, 'Off' | 'On'> = {};
  for (const change of changes)
    if (change.kind === 'SetSettings') {
      const { configurationName: name } = change;
      const row = db.selectFrom('configurations').select('id').where('name', '=', name);
      const id = (await row.executeTakeFirst())?.id;
      if (id === undefined) continue;
      signing[name] = await findSigning(db, id);
      variables[name] = (await findOwnSettings(db, id)).variables ?? 'Off';
    }
  return { signing, variables };
}

/** Tells what sets protect from each other. */
export const keyOfProtected = (on: ProtectedName) => JSON.stringify(toShownName(on));

async function readProtections(db: Db, changes: readonly Change[]): Promise<Record<string, Protection>> {
  const found: Record<string, Protection> = {};
  for (const change of changes)
    if (change.kind === 'SetProtection') {
      const { on } = change;
      const thing = await findProtectable(db, on);
      if (thing !== null) found[keyOfProtected(on)] = await findProtection(db, thing);
    }
  return found;
}

async function readAssignments(
  db: Db,
  nodeIds: readonly string[],
): Promise<Record<string, NamedAssignment | null>> {
  const found: Record<string, NamedAssignment | null> = {};
  if (nodeIds.length === 0) return found;
  const rows = await db
    .selectFrom('nodes')
    .leftJoin('assignments', 'assignments.node_id', 'nodes.id')
    .leftJoin('configurations', 'configurations.id', 'assignments.configuration_id')
    .leftJoin('composites', 'composites.id', 'assignments.composite_id')
    .select([
      'nodes.id as nodeId',
      'assignments.configuration_id as configurationId',
      'assignments.composite_id as compositeId',
      'assignments.major_version as majorVersion',
      'assignments.prerelease_channel as prereleaseChannel',
      'assignments.version',
      (row) => row.fn.coalesce('configurations.name', 'composites.name').as('configurationName'),
    ])
    .where(engineOf(db).isOneOf('nodes.id', nodeIds))
    .execute();
  for (const { nodeId, configurationName, ...assignment } of rows)
    found[nodeId] = configurationName === null ? null : { ...assignment, configurationName };
  return found;
}

async function readTags(db: Db, nodeIds: readonly string[]): Promise<RowState['tags']> {
  const found: RowState['tags'] = Object.fromEntries(nodeIds.map((id) => [id, {}]));
  if (nodeIds.length === 0) return found;
  const rows = await db
    .selectFrom('node_tags')
    .select(['node_id', 'scope_type_id', 'scope_value_id'])
    .where(engineOf(db).isOneOf('node_id', nodeIds))
    .execute();
  for (const { node_id, scope_type_id, scope_value_id } of rows) {
    const tags = found[node_id];
    if (tags) tags[scope_type_id] = scope_value_id;
  }
  return found;
}

async function readLcm(db: Db, nodeIds: readonly string[]): Promise<RowState['lcm']> {
  if (nodeIds.length === 0) return {};
  const rows = await db
    .selectFrom('nodes')
    .select([
      'id',
      'desired_configuration_mode as configurationMode',
      'desired_configuration_mode_interval as configurationModeInterval',
      'desired_report_compliance as reportCompliance',
    ])
    .where(engineOf(db).isOneOf('id', nodeIds))
    .execute();
  return Object.fromEntries(rows.map(({ id, ...settings }) => [id, settings]));
}

async function readManaged(db: Db, names: readonly string[]): Promise<RowState['managed']> {
  if (names.length === 0) return {};
  const rows = await db
    .selectFrom('configurations')
    .select(['name', 'use_server_managed_parameters as isManaged'])
    .where(engineOf(db).isOneOf('name', names))
    .execute();
  return Object.fromEntries(rows.map(({ name, isManaged }) => [name, isManaged === 1]));
}

/** Whether two assignments give the same. */
export function isSameAssignment(
  a: NamedAssignment | null | undefined,
  b: NamedAssignment | null | undefined,
): boolean {
  return (a ? keyOfAssignment(a) : null) === (b ? keyOfAssignment(b) : null);
}
