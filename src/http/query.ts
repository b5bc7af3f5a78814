/** Reads queries, and has the rules that the queries of all lists share. */

import { type ZodType, z } from 'zod';

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL_CHARACTER = /[\0-\x1f\x7f]/;

/**
 * The members of a query. One that comes several times has all of its values. Koa's own parser would lose a member called
 * `__proto__`.
 */
export function parseQuery(text: string): Record<string, string | string[]> {
  // Polls have none, and pay for each parser that is made.
  if (text === '') return {};
  const values = new Map<string, string | string[]>();
  for (const [name, value] of new URLSearchParams(text)) {
    const known = values.get(name);
    if (Array.isArray(known)) known.push(value);
    else values.set(name, known === undefined ? value : [known, value]);
  }
  return Object.fromEntries(values);
}

/**
 * Adds two rules to the query of a list. A member that the list does not know is refused, because a misspelt filter would
 * otherwise find everything. No text may have a control character (U+0000 to U+001F, U+007F).
 * @param schema an object, or one with transforms behind it; default: an object without members
 */
export function listQuery(schema: ZodType = z.object({})): ZodType {
  return z.preprocess(refuseControlCharacters, withoutOthers(schema));
}

/** The same schema, whose object refuses members that it does not know. */
function withoutOthers(schema: ZodType): ZodType {
  if (schema instanceof z.ZodObject) return schema.strict();
  if (!(schema instanceof z.ZodPipe)) throw new Error('The query of a list must be an object');
  return schema.clone({ ...schema.def, in: withoutOthers(schema.in as ZodType) });
}

/** A rule for a schema's object: none of its texts has a control character. @returns the object itself */
export function refuseControlCharacters(query: unknown, context: z.RefinementCtx): unknown {
  for (const [name, text] of Object.entries(query ?? {})) {
    if (typeof text !== 'string' || !CONTROL_CHARACTER.test(text)) continue;
    const message = 'Must not have a control character';
    context.addIssue({ code: 'custom', path: [name], message, params: { code: 'control_character' } });
  }
  return query;
}
