/** Scopes: the two system types that every server has, and the rules for names of scope types and values. */

export const DEFAULT_SCOPE_TYPE_ID = '00000000-0000-0000-0000-000000000001';
export const NODE_SCOPE_TYPE_ID = '00000000-0000-0000-0000-000000000002';
/** The name of the latter, which never changes. */
export const NODE_SCOPE_TYPE = 'Node';

/** The pattern of names of scope types and of scope values. Both become parts of ref names and paths in Git. */
export const SCOPE_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** Names that a parameter repository uses beside the branches of scope types: drafts, schemas, HEAD and main. */
const TAKEN = new Set(['draft', 'schema', 'main', 'head']);
/** Folders of tags. Scope types of earlier releases may be called so: the tags of their versions have other depths. */
const TAG_FOLDERS = new Set(['renamed', 'withdrawn']);

/** Whether no scope type can have the name, whoever made it. */
export function isTakenScopeTypeName(name: string): boolean {
  return TAKEN.has(scopeKey(name));
}

/** Whether no scope type may be given the name. */
export function isReservedScopeTypeName(name: string): boolean {
  return isTakenScopeTypeName(name) || TAG_FOLDERS.has(scopeKey(name));
}

/** The form in which names of scope types, and the values of one type, are unique. */
export function scopeKey(text: string): string {
  return text.toLowerCase();
}

/**
 * Whether these ids are an order of all scope types: each of them once, Default first and Node last.
 * @param known are the ids of all scope types, in any order
 */
export function isScopeOrder(ids: readonly string[], known: readonly string[]): boolean {
  const given = new Set(ids);
  // There are as many ids as scope types and none is missing, so none is there twice.
  const isWhole = ids.length === known.length && known.every((id) => given.has(id));
  return isWhole && ids[0] === DEFAULT_SCOPE_TYPE_ID && ids.at(-1) === NODE_SCOPE_TYPE_ID;
}
