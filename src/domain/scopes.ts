/** Scopes: the two system types that every server has, and which names scope types and values may carry. */

export const DEFAULT_SCOPE_TYPE_ID = '00000000-0000-0000-0000-000000000001';
export const NODE_SCOPE_TYPE_ID = '00000000-0000-0000-0000-000000000002';

/** The same for names of scope types and for scope values; both become parts of ref names and paths in Git. */
export const SCOPE_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** What stands in a parameter repository beside the branch of each scope type: drafts, schemas, HEAD and main. */
const RESERVED = new Set(['draft', 'schema', 'main', 'head']);

export function isReservedScopeTypeName(name: string): boolean {
  return RESERVED.has(scopeKey(name));
}

/** The form in which names of scope types, and the values of one type, are unique. */
export function scopeKey(text: string): string {
  return text.toLowerCase();
}

/**
 * Whether these ids are an order of all scope types: each exactly once, Default first and Node last.
 * @param known ids of all scope types, in any order
 */
export function isScopeOrder(ids: readonly string[], known: readonly string[]): boolean {
  const given = new Set(ids);
  // As many as there are, and none missing: so none can stand there twice.
  const isWhole = ids.length === known.length && known.every((id) => given.has(id));
  return isWhole && ids[0] === DEFAULT_SCOPE_TYPE_ID && ids.at(-1) === NODE_SCOPE_TYPE_ID;
}
