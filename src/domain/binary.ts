/** Tells binary files from text. */

/** Git looks at so many bytes of a file. */
const LOOKED_AT = 8_000;

/** Whether Git takes the content for binary: a NUL is among its first bytes. */
export function isBinary(content: Uint8Array): boolean {
  return content.subarray(0, LOOKED_AT).includes(0);
}
