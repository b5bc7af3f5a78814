/**
 * Building blocks of the routes' schemas: what all routes have in common, in zod. Text that stands for a value of
 * another type tells by `published` of its metadata what the OpenAPI document is to say of it.
 */

import { z } from 'zod';
import { parseDuration } from '../domain/duration.ts';
import { FINDING_CODES } from '../domain/findings.ts';
import { normalizeLabel } from '../domain/names.ts';
import { hasSignatureLine, tidyText } from '../git/trailers.ts';
import { isId } from '../lib/ids.ts';

export const Id = z.guid().meta({ description: 'Lower-case UUID' });

/** An id in a body or query, where it may be written in capitals. It comes out in lower case. */
export const IdInAnyCase = z.guid().transform((id) => id.toLowerCase());

/** Ids in a path. One that is not a lower-case UUID names nothing, so the route answers 404. */
export const idsInPath = <K extends string>(...names: K[]) =>
  z.object(
    Object.fromEntries(names.map((name) => [name, z.string().refine(isId)])) as Record<K, z.ZodString>,
  );
export const Timestamp = z.iso.datetime().meta({ description: 'RFC 3339, UTC, milliseconds' });
export const Checksum = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .meta({ description: 'SHA-256, hex' });

/** How answers show a `FieldError`. */
export const FieldErrorView = z
  .object({
    path: z.string().meta({ description: 'JSON Pointer to the member at fault; empty for the whole' }),
    message: z.string(),
    code: z.string(),
    line: z.int().optional().meta({ description: 'Of a fault in a text, from 1' }),
    column: z.int().optional().meta({ description: 'Of a fault in a text, from 1' }),
  })
  .meta({ id: 'FieldError', description: 'One fault of the input' });

export const FindingView = z
  .object({
    severity: z.enum(['Error', 'Warning']),
    code: z.enum(FINDING_CODES),
    message: z.string(),
    path: z
      .string()
      .nullable()
      .meta({ description: 'JSON Pointer into the document; null of no part of it' }),
    file: z.string(),
    line: z.int().nullable().meta({ description: 'From 1; null where the place is unknown' }),
    column: z.int().nullable(),
  })
  .meta({
    id: 'Finding',
    description: 'What is wrong with a document, or is worth a word',
    examples: [
      {
        severity: 'Warning',
        code: 'duplicate_name',
        message: 'A resource before this one in the list has the same type and name. Give it another name.',
        path: '/resources/1',
        file: 'main.dsc.yaml',
        line: 12,
        column: 3,
      },
    ],
  });

/** One of the spellings, matched without regard to case. The value comes out as spelled here. */
export function choice<const T extends readonly [string, ...string[]]>(...spellings: T) {
  const bySpelling = new Map(spellings.map((spelling) => [spelling.toLowerCase(), spelling]));
  return z.preprocess(
    (value) => (typeof value === 'string' ? (bySpelling.get(value.toLowerCase()) ?? value) : value),
    z.enum(spellings),
  );
}

/** A positive duration, which comes out as canonical text with its milliseconds. */
export const Duration = z
  .string()
  .max(64)
  .transform((text, context) => {
    const duration = parseDuration(text);
    if (duration) return duration;
    context.addIssue({ code: 'custom', message: 'Not a positive duration such as 00:15:00 or PT15M' });
    return z.NEVER;
  })
  .meta({ description: 'Positive: [d.]hh:mm:ss[.fffffff], or ISO 8601 such as PT15M' });

/** The last moment that the contract's form of a time can write. */
const LAST_INSTANT = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Takes RFC 3339 with any offset, and gives epoch milliseconds. */
export const Instant = z.iso
  .datetime({ offset: true })
  .transform((text) => Date.parse(text))
  .refine((time) => time >= 0 && time <= LAST_INSTANT, 'Not a time from 1970 to 9999');

export const Description = z
  .string()
  .max(4_000)
  .nullish()
  .transform((text) => text ?? null);

/** The most characters of a message. */
const MESSAGE_LENGTH = 10_000;

/** A text that can stand in a message of Git, of any length. */
const GitText = z
  .string()
  .refine((text) => !hasSignatureLine(text), 'No line may begin with "-----BEGIN ", as signatures do');

/** Why a version is made: the body of a message in Git. */
export const Message = GitText.max(MESSAGE_LENGTH).meta({
  description: 'Why: the body of the message in Git, below its subject',
});

const MAX_REASON = 1_000;

/** Why something is done, for those who read of it later. It is stored as `tidyText` leaves it. */
export const Reason = GitText.refine(
  (text) => isReason(tidyText(text) ?? ''),
  'Not 1 to 1,000 characters',
).meta({
  description: '1 to 1,000 characters, without carriage returns and outer blank lines',
});

function isReason(text: string): boolean {
  const { length } = [...text];
  return length >= 1 && length <= MAX_REASON;
}

/** An optional member of a change that has no value null: null leaves it as it is, as if it were absent. */
export const orUnchanged = <T extends z.ZodType>(schema: T) =>
  schema.nullish().transform((value) => value ?? undefined);

/** The body of a change of the description alone. @param id of the API description */
export const descriptionChange = (id: string, example: string) =>
  z.strictObject({ description: Description }).meta({ id, examples: [{ description: example }] });

/**
 * A name of a group or role, which comes out trimmed and in NFC. Its length is bounded before that, because normalising a
 * megabyte of combining marks takes a minute.
 */
export const Label = z
  .string()
  .max(1_024)
  .transform((text, context) => {
    const name = normalizeLabel(text);
    if (name !== null) return name;
    context.addIssue({ code: 'custom', message: 'Not 1 to 64 printable characters' });
    return z.NEVER;
  })
  .meta({ description: '1 to 64 printable characters, trimmed; unique without regard to case' });

/** A number in a query. */
export function wholeNumber(min: number, max: number) {
  const error = `Must be a whole number from ${min} to ${max}`;
  return z
    .string({ error })
    .regex(/^\d{1,15}$/, error)
    .transform(Number)
    .pipe(z.number().min(min, error).max(max, error))
    .meta({ published: { type: 'integer', minimum: min, maximum: max } });
}

/** `?take=&skip=` of every list. */
export const Paging = z.object({
  take: wholeNumber(1, 1_000).meta({ description: 'The most to answer with' }).default(100),
  skip: wholeNumber(0, Number.MAX_SAFE_INTEGER).meta({ description: 'How many to leave out' }).default(0),
});

/** A flag in a query or form: true or false in any case. */
export const Flag = z
  .string()
  .regex(/^(true|false)$/i, 'Must be true or false')
  .transform((text) => text.toLowerCase() === 'true')
  .meta({ published: { type: 'boolean' } });

/** A field of a query or form. An empty text counts as not given, because browsers send it for an empty field. */
export const given = <T extends z.ZodType>(schema: T) =>
  z.preprocess((text) => (text === '' ? undefined : text), schema.optional());

/** Epoch milliseconds of the first and the last moment of a period. Absent ones leave it open. */
interface Period {
  from?: number | undefined;
  to?: number | undefined;
}

/** The query of a list of what happened at a time: a page, a period, and what else it can be filtered by. */
export function historyFilter<S extends z.core.$ZodLooseShape>(filters: S) {
  return Paging.extend({ from: Instant.optional(), to: Instant.optional(), ...filters }).refine(
    (query: unknown) => isInOrder(query as Period),
    { path: ['to'], message: 'Before from' },
  );
}

const isInOrder = ({ from, to }: Period) => from === undefined || to === undefined || from <= to;
