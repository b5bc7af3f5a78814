/** Cuts the text of a member out of a JSON text, so that its numbers, order and spacing are kept. */

const SPACE = /[ \t\n\r]*/y;
/** Matches what follows a number, `true`, `false` or `null`. */
const END_OF_SCALAR = /[,\]}\s]|$/g;

/**
 * The text of a member's value. If the name occurs twice, the last one counts, as in `JSON.parse`.
 * @param json is the text of an object that is known to be well-formed and to have the member
 */
export function memberText(json: string, name: string): string {
  let found: string | null = null;
  let at = skipSpace(json, skipSpace(json, 0) + 1);
  while (json[at] === '"') {
    const endOfName = endOfString(json, at);
    const isWanted = JSON.parse(json.slice(at, endOfName)) === name;
    const start = skipSpace(json, skipSpace(json, endOfName) + 1);
    const end = endOfValue(json, start);
    if (isWanted) found = json.slice(start, end);
    at = skipSpace(json, end);
    if (json[at] === ',') at = skipSpace(json, at + 1);
  }
  if (found === null) throw new Error(`the object has no member ${name}`);
  return found;
}

function endOfValue(json: string, start: number): number {
  const first = json[start];
  if (first === '"') return endOfString(json, start);
  if (first === '{' || first === '[') return endOfBrackets(json, start);
  END_OF_SCALAR.lastIndex = start;
  return END_OF_SCALAR.exec(json)?.index ?? json.length;
}

/** Counts brackets of both kinds together, because the text is known to be well-formed. */
function endOfBrackets(json: string, start: number): number {
  let depth = 0;
  let at = start;
  do {
    const character = json[at];
    if (character === '"') {
      at = endOfString(json, at);
      continue;
    }
    if (character === '{' || character === '[') depth += 1;
    if (character === '}' || character === ']') depth -= 1;
    at += 1;
  } while (depth > 0);
  return at;
}

function endOfString(json: string, start: number): number {
  let quote = json.indexOf('"', start + 1);
  while (isEscaped(json, quote)) quote = json.indexOf('"', quote + 1);
  return quote + 1;
}

/** Whether an odd number of backslashes comes before this place. */
function isEscaped(json: string, at: number): boolean {
  let before = at;
  while (json[before - 1] === '\\') before -= 1;
  return (at - before) % 2 === 1;
}

function skipSpace(json: string, at: number): number {
  SPACE.lastIndex = at;
  return at + (SPACE.exec(json)?.[0].length ?? 0);
}
