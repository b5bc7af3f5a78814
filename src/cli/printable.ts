/** Text of others on a terminal: control characters could move the cursor, or hide what is printed. */

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that are looked for
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Shows control characters and those that turn the direction of text by their numbers. Line breaks and tabs stay. */
export function printable(text: string): string {
  return text.replace(CONTROL, escaped);
}

/** For one cell of a table: nothing in it breaks the line. */
export function printableLine(text: string): string {
  return printable(text).replace(/[\t\n]/g, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
