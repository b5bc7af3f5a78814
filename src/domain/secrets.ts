/** Keeps the values of secure parameters out of what users are shown. */

import { isSecure, type ParameterDefinitions } from './parameter-schema.ts';
import { isMapping, type Mapping, REDACTED, type Value } from './value.ts';

/** The names of secure parameters, or `all` if it is unknown which ones are secure. */
export type SecretNames = ReadonlySet<string> | 'all';

export const PARAMETERS = 'parameters';
const PARAMETERS_POINTER = `/${PARAMETERS}`;

export function secureNames(...schemas: readonly (ParameterDefinitions | null)[]): Set<string> {
  const names = new Set<string>();
  for (const definitions of schemas)
    for (const [name, { type }] of definitions ?? []) if (isSecure(type)) names.add(name);
  return names;
}

/** The parameter document as it may be shown. */
export function redactDocument(document: Mapping, secrets: SecretNames): Mapping {
  return new Map(
    Array.from(document, ([key, value]) => [key, key === PARAMETERS ? redactBlock(value, secrets) : value]),
  );
}

/** The value at a JSON Pointer of a parameter document, as it may be shown. */
export function redactAt(pointer: string, value: Value, secrets: SecretNames): Value {
  if (pointer === PARAMETERS_POINTER) return redactBlock(value, secrets);
  return isSecretAt(pointer, secrets) ? REDACTED : value;
}

/** Whether the value at a JSON Pointer of a parameter document belongs to a secure parameter. */
export function isSecretAt(pointer: string, secrets: SecretNames): boolean {
  const [, block, token] = pointer.split('/', 3);
  return block === PARAMETERS && token !== undefined && isSecret(unescapeToken(token), secrets);
}

/** A block that is no mapping of names to values holds no parameter's value, so it is shown as it is. */
function redactBlock(block: Value, secrets: SecretNames): Value {
  if (!isMapping(block)) return block;
  return new Map(Array.from(block, ([name, value]) => [name, isSecret(name, secrets) ? REDACTED : value]));
}

/** Whether the parameter of this name is secure. */
export function isSecret(name: string, secrets: SecretNames): boolean {
  return secrets === 'all' || secrets.has(name);
}

/** Reads a token of a JSON Pointer (RFC 6901, 4). */
function unescapeToken(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}
