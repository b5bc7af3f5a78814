/** Which scope a request means, and what values of scopes there may be. */

import type { Database, Db } from '../db/database.ts';
import { findNodeByFqdn } from '../db/nodes.ts';
import { findScopeTypeByName, findScopeValue, SCOPE_TYPES, type ScopeTypeRow } from '../db/scope-types.ts';
import { normalizeHostName } from '../domain/names.ts';
import { DEFAULT_SCOPE_TYPE_ID, NODE_SCOPE_TYPE_ID, SCOPE_NAME } from '../domain/scopes.ts';
import { conflict, type HawserError, invalid, invalidField, notFound } from '../lib/errors.ts';
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

/**
 * The scope that a path and query name, with its value in the spelling of its first use. The value need not exist.
 * @throws HawserError invalid for a value of Default, or none of another type
 */
export async function scopeNamed(
  db: Db,
  type: ScopeTypeRow,
  value: string | null | undefined,
): Promise<ParameterScope> {
  const given = requireFittingValue(type, value);
  if (given === null) return { scopeType: type.name, value: null };
  const known =
    type.id === NODE_SCOPE_TYPE_ID ? normalizeHostName(given) : await findSpelling(db, type, given);
  return { scopeType: type.name, value: known ?? given };
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
  const given = requireFittingValue(type, value);
  const scopeType = type.name;
  if (given === null) return { scope: { scopeType, value: null }, isDefined: true };
  if (type.id === NODE_SCOPE_TYPE_ID) {
    return { scope: { scopeType, value: await requireNode(db, given) }, isDefined: true };
  }
  const known = await findSpelling(db, type, given);
  if (known !== null) return { scope: { scopeType, value: known }, isDefined: true };
  if (type.value_mode === 'Restricted')
    throw unknown('unknown_scope_value', `The scope type ${type.name} has no such value`);
  if (!SCOPE_NAME.test(given))
    throw invalidField('/scopeValue', 'Not 1 to 64 letters, digits, "_" and "-"', 'invalid_format');
  return { scope: { scopeType, value: given }, isDefined: false };
}

/**
 * Makes the scope's value if it does not exist.
 * @returns the scope with the value as it is spelled, which somebody else may have made in the meantime
 */
export async function defineValue(
  database: Database,
  actor: Actor,
  typeId: string,
  { scope, isDefined }: WantedScope,
): Promise<ParameterScope> {
  const { scopeType, value } = scope;
  if (isDefined || value === null) return scope;
  return database.write.transaction().execute(async (trx) => {
    const type = await requireEnabledType(trx, { id: typeId });
    return { scopeType, value: (await defineScopeValue(trx, actor, type, value)).value };
  });
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

async function findSpelling(db: Db, type: ScopeTypeRow, value: string): Promise<string | null> {
  // Other text names no value, and in lower case letters outside ASCII could become letters of one.
  if (!SCOPE_NAME.test(value)) return null;
  return (await findScopeValue(db, type.id, value))?.value ?? null;
}

async function requireNode(db: Db, value: string): Promise<string> {
  const fqdn = normalizeHostName(value);
  if (fqdn === null || !(await findNodeByFqdn(db, fqdn)))
    throw unknown('unknown_node', 'No node is registered under this name');
  return fqdn;
}

function unknown(code: 'unknown_node' | 'unknown_scope_value', message: string): HawserError {
  return invalid(code, message, [{ path: '/scopeValue', message, code }]);
}
