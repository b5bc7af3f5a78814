/** Finds a claim by a JSON Pointer (RFC 6901). */

/** @returns undefined where there is no such member. What an object inherits is no member */
export function readPointer(value: unknown, pointer: string): unknown {
  const names = pointer.split('/').slice(1);
  return names.reduce<unknown>((within, escaped) => {
    if (typeof within !== 'object' || within === null) return undefined;
    const name = escaped.replaceAll('~1', '/').replaceAll('~0', '~');
    return Object.hasOwn(within, name) ? (within as Record<string, unknown>)[name] : undefined;
  }, value);
}
