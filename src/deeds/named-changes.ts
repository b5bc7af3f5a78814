/** What the changes of a preview name. Whoever makes the preview, or reads it, must be allowed to read all of it. */

import type { Db } from '../db/database.ts';
import { findNodeByFqdn } from '../db/nodes.ts';
import { keyOfScope } from '../db/scope-grants.ts';
import { findScopeTypeByName, findScopeValue } from '../db/scope-types.ts';
import type { GrantKind } from '../domain/permissions.ts';
import { NODE_SCOPE_TYPE_ID } from '../domain/scopes.ts';
import { HawserError, notFound } from '../lib/errors.ts';
import type { GrantedResource } from '../security/access.ts';
import { grantedPart, grantedResource } from '../security/authorize.ts';
import type { UserPrincipal } from '../security/principal.ts';
import { readableResources, scopeReaderOf } from '../security/rights.ts';
import { requireSeries } from '../security/series-rights.ts';
import type { Change, NamedFile } from './changes.ts';
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

/** @throws HawserError not_found for the first that is not there, or that the caller may not read */
export async function requireNamed(
  db: Db,
  principal: UserPrincipal,
  changes: readonly Change[],
): Promise<{ named: Named[]; resources: Resources }> {
  const resources = new Map<string, Named>();
  const scopes: Named[] = [];
  for (const { on, name, file } of changes.flatMap(namesIn)) {
    const key = keyOf(on, name);
    if (!resources.has(key)) {
      const found =
        file === undefined
          ? await grantedResource(db, principal, on, 'Read', { name })
          : await grantedPart(db, principal, { level: 'Read', part: 'any' }, { name });
      resources.set(key, { on, id: found.id, name: found.name });
    }
    const resource = resources.get(key);
    const scope = file && resource && (await requireScope(db, principal, resource, file));
    if (resource && scope) scopes.push({ ...resource, scope });
  }
  const whole = [...resources.values()].filter(({ on }) => on !== 'parameters');
  return { named: [...whole, ...scopes], resources };
}

/**
 * The key of the scope of a file, whose value need not be there yet; null for a scope that there cannot be, which the change
 * is refused for when it is tried.
 * @throws HawserError not_found
 */
async function requireScope(
  db: Db,
  principal: UserPrincipal,
  resource: Named,
  { scopeTypeName, scopeValue }: NamedFile,
): Promise<string | null> {
  const type = await findScopeTypeByName(db, scopeTypeName);
  if (type === undefined) return null;
  const scope = await scopeNamed(db, type, scopeValue).catch(nullIfInvalid);
  if (scope === null) return null;
  await requireSeries(db, principal, resource, scope, 'Read');
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

/** Of parameters the configuration is named too. */
function namesIn(change: Change): (Pick<Named, 'on' | 'name'> & { file?: NamedFile })[] {
  switch (change.kind) {
    case 'PublishConfiguration':
      return [{ on: 'configuration', name: change.configurationName }];
    case 'PublishComposite':
      return [{ on: 'composite', name: change.compositeName }];
    case 'PublishParameters':
    case 'SetParameters':
      return [
        { on: 'configuration', name: change.configurationName },
        { on: 'parameters', name: change.configurationName, file: change },
      ];
    case 'Assign':
      return [{ on: change.isComposite ? 'composite' : 'configuration', name: change.configurationName }];
    case 'Unassign':
    case 'Tag':
    case 'Untag':
    case 'SetTags':
    case 'ReorderScopeTypes':
    case 'EnableScopeType':
    case 'DisableScopeType':
    case 'SetLcmConfig':
      return [];
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
