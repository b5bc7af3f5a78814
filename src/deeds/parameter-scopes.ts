/** Which scope a request means, and what values of scopes there may be. */

import type { Database, Db } from '../db/database.ts';
import { ownersOf } from '../db/file-owners.ts';
import { findNodeByFqdn } from '../db/nodes.ts';
import { findScopeTypeByName, findScopeValues, SCOPE_TYPES, type ScopeTypeRow } from '../db/scope-types.ts';
import { normalizeHostName } from '../domain/names.ts';
import { DEFAULT_SCOPE_TYPE_ID, NODE_SCOPE_TYPE_ID, SCOPE_NAME, scopeKey } from '../domain/scopes.ts';
import type { FileOwner } from '../domain/version-choice.ts';
import { conflict, type HawserError, invalid, invalidField, notFound } from '../lib/errors.ts';
import { groupBy } from '../lib/group-by.ts';
import type { Actor } from '../security/audit.ts';
import type { ParameterScope } from '../versions/store.ts';
import { defineScopeValue } from './define-scope-value.ts';

/** A scope type by its id, as in a path, or by its name, as in a form. */
export type ScopeTypeChoice = { id: string } | { name: string };

/** @throws HawserError not_found */
export async function requireScopeType(db: Db, choice: ScopeTypeChoice): Promise<ScopeTypeRow> {
  const type =
    'id' in choice ? await SCOPE_TYPES.find(db, choice.id) : await findScopeTypeByName(db, choice.name);
  if (!type) throw notFound('No such scope type');
  return type;
}

/** @throws HawserError not_found, conflict `scope_type_disabled` */
export async function requireEnabledType(db: Db, choice: ScopeTypeChoice): Promise<ScopeTypeRow> {
  const type = await requireScopeType(db, choice);
  const blocker = switchedOff(type);
  if (blocker) throw blocker;
  return type;
}

/** @returns conflict `scope_type_disabled`; null for a type that is switched on */
export function switchedOff({ name, is_enabled }: ScopeTypeRow): HawserError | null {
  return is_enabled === 1 ? null : conflict('scope_type_disabled', `The scope type ${name} is switched off`);
}

/** A scope as a caller names it. */
export interface GivenScope {
  type: ScopeTypeRow;
  value: string | null | undefined;
}

/** The values and the nodes of scopes, read at once for all of these. */
export class KnownScopes {
  /** The spelling of each value by the id of its type and its key. */
  private readonly values: ReadonlyMap<string, string>;
  private readonly owners: ReadonlyMap<string, FileOwner>;

  private constructor(values: KnownScopes['values'], owners: KnownScopes['owners']) {
    this.values = values;
    this.owners = owners;
  }

  static async of(db: Db, given: readonly GivenScope[]): Promise<KnownScopes> {
    const texts = groupBy(
      // Other text names no value, and in lower case letters outside ASCII could become letters of one.
      given.filter(({ type: { id }, value }) => id !== NODE_SCOPE_TYPE_ID && SCOPE_NAME.test(value ?? '')),
      ({ type }) => type.id,
    );
    const values = new Map<string, string>();
    for (const [typeId, named] of texts)
      for (const { value, value_key } of await findScopeValues(
        db,
        typeId,
        named.map(({ value }) => value ?? ''),
      ))
        values.set(`${typeId} ${value_key}`, value);
    const fqdns = given.flatMap(({ type: { id }, value }) =>
      id === NODE_SCOPE_TYPE_ID ? (normalizeHostName(value ?? '') ?? []) : [],
    );
    return new KnownScopes(values, fqdns.length === 0 ? new Map() : await ownersOf(db, fqdns));
  }

  /** As `scopeNamed`. */
  named({ type, value }: GivenScope): ParameterScope {
    const given = requireFittingValue(type, value);
    if (given === null) return { scopeType: type.name, value: null };
    const known = type.id === NODE_SCOPE_TYPE_ID ? normalizeHostName(given) : this.spelling(type, given);
    return { scopeType: type.name, value: known ?? given };
  }

  /** As `scopeToWrite`. */
  toWrite({ type, value }: GivenScope): WantedScope {
    const given = requireFittingValue(type, value);
    const scopeType = type.name;
    if (given === null) return { scope: { scopeType, value: null }, isDefined: true };
    if (type.id === NODE_SCOPE_TYPE_ID) {
      const fqdn = normalizeHostName(given);
      if (fqdn === null || !this.owners.has(fqdn))
        throw unknown('unknown_node', 'No node is registered under this name');
      return { scope: { scopeType, value: fqdn }, isDefined: true };
    }
    const known = this.spelling(type, given);
    if (known !== null) return { scope: { scopeType, value: known }, isDefined: true };
    if (type.value_mode === 'Restricted')
      throw unknown('unknown_scope_value', `The scope type ${type.name} has no such value`);
    if (!SCOPE_NAME.test(given))
      throw invalidField('/scopeValue', 'Not 1 to 64 letters, digits, "_" and "-"', 'invalid_format');
    return { scope: { scopeType, value: given }, isDefined: false };
  }

  /** As `ownerOf`. */
  ownerOf({ id }: Pick<ScopeTypeRow, 'id'>, { value }: ParameterScope): string | undefined {
    return id === NODE_SCOPE_TYPE_ID && value !== null ? this.owners.get(value)?.nodeId : undefined;
  }

  private spelling({ id }: ScopeTypeRow, value: string): string | null {
    return (SCOPE_NAME.test(value) && this.values.get(`${id} ${scopeKey(value)}`)) || null;
  }
}

/**
 * The scope that a path and query name, with its value in the spelling of its first use. The value need not exist.
 * @throws HawserError invalid for a value of Default, or none of another type
 */
export async function scopeNamed(
  db: Db,
  type: ScopeTypeRow,
  value: string | null | undefined,
): Promise<ParameterScope> {
  return (await KnownScopes.of(db, [{ type, value }])).named({ type, value });
}

/** The scope of a file that is to be written. */
export interface WantedScope {
  scope: ParameterScope;
  /** Whether its value exists already, or it needs none. */
  isDefined: boolean;
}

/**
 * Checks for which scope a file may be written. An Unrestricted type may lack the value; `defineValue` then makes it.
 * @throws HawserError as `scopeNamed`; invalid `unknown_node` or `unknown_scope_value`
 */
export async function scopeToWrite(
  db: Db,
  type: ScopeTypeRow,
  value: string | null | undefined,
): Promise<WantedScope> {
  return (await KnownScopes.of(db, [{ type, value }])).toWrite({ type, value });
}

/**
 * Makes the values of these scopes that do not exist, all in one transaction.
 * @returns the scopes with their values as they are spelled, which somebody else may have made in the meantime
 * @throws HawserError not_found, conflict `scope_type_disabled`; it says which of them by `blame`
 */
export async function defineValues<T extends { type: Pick<ScopeTypeRow, 'id'>; wanted: WantedScope }>(
  database: Database,
  actor: Actor,
  all: readonly T[],
  blame: (one: T, work: () => Promise<ParameterScope>) => Promise<ParameterScope> = (_, work) => work(),
): Promise<ParameterScope[]> {
  const scopes = all.map(({ wanted: { scope } }) => scope);
  const lacking = [...all.entries()].filter(([, { wanted }]) => !wanted.isDefined);
  if (lacking.length === 0) return scopes;
  await database.write.transaction().execute(async (trx) => {
    for (const [at, one] of lacking)
      scopes[at] = await blame(one, async () => {
        const { scopeType, value } = one.wanted.scope;
        const type = await requireEnabledType(trx, { id: one.type.id });
        return { scopeType, value: (await defineScopeValue(trx, actor, type, value ?? '')).value };
      });
  });
  return scopes;
}

/** As `defineValues`, for one. */
export async function defineValue(
  database: Database,
  actor: Actor,
  one: { type: Pick<ScopeTypeRow, 'id'>; wanted: WantedScope },
): Promise<ParameterScope> {
  const [scope = one.wanted.scope] = await defineValues(database, actor, [one]);
  return scope;
}

/** The id of the node to which a file of this scope belongs; undefined where there is none, and for all other scopes. */
export async function ownerOf(
  db: Db,
  { id }: Pick<ScopeTypeRow, 'id'>,
  { value }: ParameterScope,
): Promise<string | undefined> {
  if (id !== NODE_SCOPE_TYPE_ID || value === null) return undefined;
  return (await findNodeByFqdn(db, value))?.id;
}

function requireFittingValue({ id, name }: ScopeTypeRow, value: string | null | undefined): string | null {
  const given = value ?? null;
  if (id === DEFAULT_SCOPE_TYPE_ID) {
    if (given === null) return null;
    throw invalidField('/scopeValue', 'The scope type Default has no values', 'not_allowed');
  }
  if (given === null) throw invalidField('/scopeValue', `A value of ${name} is required`, 'required');
  return given;
}

function unknown(code: 'unknown_node' | 'unknown_scope_value', message: string): HawserError {
  return invalid(code, message, [{ path: '/scopeValue', message, code }]);
}
