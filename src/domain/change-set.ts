/** The bounds of a change set. */

/** The most deeds of a set. */
export const MAX_DEEDS = 500;
/** The most characters of a title. */
export const TITLE_LENGTH = 200;

/** Whether a text may be the title of a set. It is the subject of commits, so it is one line. */
export function isSetTitle(text: string): boolean {
  const { length } = [...text];
  return length >= 1 && length <= TITLE_LENGTH && !/[\p{Cc}\p{Surrogate}\u2028\u2029]/u.test(text);
}
