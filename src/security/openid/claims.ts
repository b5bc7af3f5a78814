/** Finds and judges single claims of a token. */

/**
 * Finds a claim by a JSON Pointer (RFC 6901).
 * @returns undefined where there is no such member. What an object inherits is no member
 */
export function readPointer(value: unknown, pointer: string): unknown {
  const names = pointer.split('/').slice(1);
  return names.reduce<unknown>((within, escaped) => {
    if (typeof within !== 'object' || within === null) return undefined;
    const name = escaped.replaceAll('~1', '/').replaceAll('~0', '~');
    return Object.hasOwn(within, name) ? (within as Record<string, unknown>)[name] : undefined;
  }, value);
}

/**
 * Whether a claim is a text of 1 to `longest` characters that every store keeps as it is. PostgreSQL has no U+0000, and
 * UTF-8 has no half of a surrogate pair: two such texts would become one.
 */
export function isText(value: unknown, longest: number): value is string {
  return (
    typeof value === 'string' && value !== '' && value.length <= longest && !/[\0\p{Surrogate}]/u.test(value)
  );
}
