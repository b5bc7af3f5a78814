/** What the changes of a preview name. Whoever makes the preview, or reads it, must be allowed to read all of it. */

import type { Db } from '../db/database.ts';
import { findNodeByFqdn } from '../db/nodes.ts';
import { keyOfScope } from '../db/scope-grants.ts';
import { findScopeTypeByName, findScopeValue } from '../db/scope-types.ts';
import type { GrantKind } from '../domain/permissions.ts';
import { NODE_SCOPE_TYPE_ID } from '../domain/scopes.ts';
import { HawserError, notFound } from '../lib/errors.ts';
import { paced } from '../lib/pace.ts';
import type { GrantedResource } from '../security/access.ts';
import { grantedPart, grantedResource } from '../security/authorize.ts';
import type { UserPrincipal } from '../security/principal.ts';
import { readableResources, scopeReaderOf } from '../security/rights.ts';
import { SeriesRights } from '../security/series-rights.ts';
import { type Change, type NamedFile, partsOf } from './changes.ts';
import { scopeNamed } from './parameter-scopes.ts';

/** A configuration, a composite, or the parameters of a configuration, which have its id and its name. */
export interface Named {
  on: GrantKind;
  id: string;
  name: string;
  /** The key of the scope, for parameters. */
  scope?: string;
}

/** What a change names, by kind and name. */
export type Resources = ReadonlyMap<string, Pick<GrantedResource, 'id' | 'name'>>;

/** The key in `Resources`. */
export const keyOf = (on: GrantKind, name: string) => `${on} ${name}`;

/** What changes name. */
export interface NamedByChanges {
  /** Each thing once. */
  named: Named[];
  /** What each of the changes names, in their order. */
  ofEach: Named[][];
  resources: Resources;
}

/** @throws HawserError not_found for the first that is not there, or that the caller may not read */
export async function requireNamed(
  db: Db,
  principal: UserPrincipal,
  changes: readonly Change[],
): Promise<NamedByChanges> {
  const resources = new Map<string, Named>();
  const rights = new Map<string, SeriesRights>();
  const find = async ({ on, name, file }: NameInChange): Promise<Named> => {
    const key = keyOf(on, name);
    const known = resources.get(key);
    if (known !== undefined) return known;
    const { id, name: stored } =
      file === undefined
        ? await grantedResource(db, principal, on, 'Read', { name })
        : await grantedPart(db, principal, { level: 'Read', part: 'any' }, { name });
    const resource = { on, id, name: stored };
    resources.set(key, resource);
    return resource;
  };
  const ofEach: Named[][] = [];
  for await (const change of paced(changes)) {
    const own: Named[] = [];
    for (const each of namesIn(change)) {
      const resource = await find(each);
      if (each.file === undefined) own.push(resource);
      else {
        const { id } = resource;
        if (!rights.has(id)) rights.set(id, await SeriesRights.of(db, principal, id));
        const scope = await requireScope(db, rights.get(id), resource, each.file);
        if (scope !== null) own.push({ ...resource, scope });
      }
    }
    ofEach.push(own);
  }
  return { named: distinct(ofEach.flat()), ofEach, resources };
}

function distinct(named: readonly Named[]): Named[] {
  return [...new Map(named.map((each) => [`${each.on} ${each.id} ${each.scope ?? ''}`, each])).values()];
}

/**
 * The key of the scope of a file, whose value need not be there yet; null for a scope that there cannot be, which the change
 * is refused for when it is tried.
 * @throws HawserError not_found
 */
async function requireScope(
  db: Db,
  rights: SeriesRights | undefined,
  resource: Named,
  { scopeTypeName, scopeValue }: NamedFile,
): Promise<string | null> {
  const type = await findScopeTypeByName(db, scopeTypeName);
  if (type === undefined) return null;
  const scope = await scopeNamed(db, type, scopeValue).catch(nullIfInvalid);
  if (scope === null) return null;
  rights?.require(scope, 'Read');
  const { value } = scope;
  const node = type.id === NODE_SCOPE_TYPE_ID && value !== null ? await findNodeByFqdn(db, value) : undefined;
  const id = node?.id ?? (value === null ? null : ((await findScopeValue(db, type.id, value))?.id ?? '?'));
  return keyOfScope({ configurationId: resource.id, scopeTypeId: type.id, scopeValueId: id });
}

/** @throws any other error */
function nullIfInvalid(error: unknown): null {
  if (error instanceof HawserError && error.kind === 'invalid') return null;
  throw error;
}

type NameInChange = Pick<Named, 'on' | 'name'> & { file?: NamedFile };

/** Of parameters the configuration is named too. */
function namesIn(change: Change): NameInChange[] {
  switch (change.kind) {
    case 'PublishConfiguration':
    case 'SetServerManaged':
    case 'SetSettings':
      return [{ on: 'configuration', name: change.configurationName }];
    case 'PublishComposite':
      return [{ on: 'composite', name: change.compositeName }];
    case 'PublishParameters':
    case 'SetParameters':
    case 'WithdrawParameters':
    case 'RestoreParameters':
      return [
        { on: 'configuration', name: change.configurationName },
        { on: 'parameters', name: change.configurationName, file: change },
      ];
    case 'Assign':
      return [{ on: change.isComposite ? 'composite' : 'configuration', name: change.configurationName }];
    case 'SetProtection': {
      const { configurationName, compositeName } = change.on;
      if (typeof configurationName === 'string') return [{ on: 'configuration', name: configurationName }];
      return typeof compositeName === 'string' ? [{ on: 'composite', name: compositeName }] : [];
    }
    case 'Unassign':
    case 'Tag':
    case 'Untag':
    case 'SetTags':
    case 'ReorderScopeTypes':
    case 'EnableScopeType':
    case 'DisableScopeType':
    case 'SetLcmConfig':
      return [];
    case 'StartRollout':
      return partsOf(change).flatMap(namesIn);
    case 'Withdraw':
    case 'Restore':
      return typeof change.compositeName === 'string'
        ? [{ on: 'composite', name: change.compositeName }]
        : [{ on: 'configuration', name: change.configurationName ?? '' }];
  }
}

/** The first of these that has gone, by its id. One of the same name that was made since is another one. */
export async function findGone(db: Db, named: readonly Named[]): Promise<Named | undefined> {
  for (const each of named) {
    const table = each.on === 'composite' ? 'composites' : 'configurations';
    const row = await db.selectFrom(table).select('id').where('id', '=', each.id).executeTakeFirst();
    if (row === undefined) return each;
  }
  return undefined;
}

/**
 * Runs work on what somebody else may be deleting at the same time.
 * @throws HawserError not_found where a repository is missing because its resource has gone; or what `work` throws
 */
export async function notFoundIfGone<T>(db: Db, named: readonly Named[], work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof HawserError) || error.code !== 'repository_missing') throw error;
    const gone = await findGone(db, named);
    if (gone === undefined) throw error;
    throw notFound(
      `No ${gone.on === 'composite' ? 'composite configuration' : 'configuration'} of this name`,
    );
  }
}

/** Whether the caller may read all of it, with this token and now. */
export async function mayRead(db: Db, principal: UserPrincipal, named: readonly Named[]): Promise<boolean> {
  const readable = await readableResources(db, principal);
  const isReadable = scopeReaderOf(readable);
  return named.every(({ on, id, scope }) =>
    scope === undefined ? readable[on] === 'all' || readable[on].includes(id) : isReadable(scope),
  );
}
