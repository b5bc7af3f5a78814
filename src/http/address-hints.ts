/**
 * Adds to a 404 how the thing is addressed, where its path shows that a caller took one kind of word for another. A hint
 * comes from the path alone, so it tells nobody what exists.
 */

import { leadingVHint } from '../domain/version-order.ts';
import { type HawserError, notFound } from '../lib/errors.ts';
import { isId } from '../lib/ids.ts';
import type { Exchange } from './exchange.ts';

/** The lists in which the ids of a path are found, by the parameter. For `id` it is the path in front of it. */
const LISTS: Readonly<Record<string, string>> = {
  scopeTypeId: '/api/v1/scope-types',
  scopeValueId: '/api/v1/scope-types/{scopeTypeId}/values',
  configurationId: '/api/v1/configurations/{name}',
  keyId: '/api/v1/admin/registration-keys',
  principalId: '/api/v1/users or /api/v1/groups',
  childId: '/api/v1/composite-configurations/{name}/versions/{version}',
};

/** What no list shows. Whoever made such a thing was told its id. */
const NOT_LISTED: ReadonlySet<string> = new Set(['/api/v1/previews']);

/** Lists whose things are counted: their ids are numbers. */
const COUNTED: ReadonlySet<string> = new Set(['/api/v1/change-sets']);

/** The failure, with a hint if it is a plain 404 and there is one to give. */
export function withAddressHint(failure: HawserError, { state, params }: Exchange): HawserError {
  if (failure.kind !== 'not_found' || failure.code !== 'not_found' || state.route === undefined)
    return failure;
  const hint = hintFor(state.route.path, params);
  if (hint === '') return failure;
  return notFound(`${failure.message.replace(/\.$/, '')}${hint}`);
}

function hintFor(path: string, params: Readonly<Record<string, string>>): string {
  for (const [, name = ''] of path.matchAll(/\{(\w+)\}/g)) {
    const hint = hintOn(name, params[name] ?? '', path);
    if (hint !== '') return hint;
  }
  return '';
}

function hintOn(name: string, value: string, path: string): string {
  const list = name === 'id' ? path.slice(0, path.indexOf('/{id}')) : LISTS[name];
  if (list !== undefined && COUNTED.has(list))
    return /^\d+$/.test(value) ? '' : `. {${name}} in this path is a number; GET ${list} shows it`;
  if (list !== undefined && !isId(value)) {
    const source = NOT_LISTED.has(list) ? `POST ${list} answers with it` : `GET ${list} shows it`;
    return `. {${name}} in this path is an id, a UUID in lower case; ${source}`;
  }
  if (name === 'version') return leadingVHint(value);
  if (name === 'name' && isId(value)) return '. {name} in this path is the name, not the id';
  return '';
}
