/** Encrypts one value for its place in a parameter file. Nothing is stored but that its key is in use. */

import type { Db } from '../db/database.ts';
import { SCOPE_NAME } from '../domain/scopes.ts';
import { invalidField } from '../lib/errors.ts';
import { sealValue } from '../resolve/secret-leaves.ts';
import { seriesOf } from '../versions/parameter-files.ts';
import { requireEnabledType, type ScopeTypeChoice, scopeToWrite } from './parameter-scopes.ts';
import { type FileTarget, requireFile } from './put-parameters.ts';
import type { SecretTools } from './secret-content.ts';

export interface ValueToEncrypt {
  type: ScopeTypeChoice;
  scopeValue: string | null | undefined;
  /** JSON Pointer from the root of the document. */
  path: string;
  /** The value as JSON. */
  json: string;
}

const BELOW_PARAMETERS = /^\/parameters(?:\/(?:[^~/]|~[01])*)+$/;

/**
 * Gives the text that a file of this scope may hold at `path`.
 * @throws HawserError not_found or forbidden below Modify on the scope; invalid for a place or a value that cannot be;
 *   conflict `scope_type_disabled`; unavailable `secret_key_missing` or `upgrade_incomplete`
 */
export async function encryptValue(
  { database, secrets, parameters }: Pick<SecretTools, 'secrets' | 'parameters'> & { database: { read: Db } },
  { resource, principal }: Pick<FileTarget, 'resource' | 'principal'>,
  { type: choice, scopeValue, path, json }: ValueToEncrypt,
): Promise<string> {
  if (!BELOW_PARAMETERS.test(path))
    throw invalidField('/path', 'Must be a JSON Pointer below /parameters/, such as /parameters/password');
  await requireFile({ database }, { resource, principal }, { type: choice, scopeValue }, 'Modify');
  const type = await requireEnabledType(database.read, choice);
  const { scope, isDefined } = await scopeToWrite(database.read, type, scopeValue);
  if (!isDefined) {
    const isName = scope.value !== null && SCOPE_NAME.test(scope.value);
    const hint = isName ? '; define it first' : '';
    throw invalidField(
      '/scopeValue',
      `The scope type ${type.name} has no such value${hint}`,
      'unknown_scope_value',
    );
  }
  const place = await parameters.placeOf(resource.name, seriesOf(scope));
  return sealValue(json, path, place, await secrets.sealingKey());
}
