/** Finds in a JSON Schema what it says about one place of a document, and puts it into words. */

import { ITEM, type Step } from './place.ts';
import type { DocumentSchema } from './settings.ts';

/** What the schema says about the value at a path; null if it says nothing. */
export function schemaAt(root: DocumentSchema | null, path: readonly Step[]): DocumentSchema | null {
  let schema = root;
  for (const step of path) {
    if (schema === null) return null;
    schema = step === ITEM ? asSchema(schema.items) : memberOf(schema, step);
  }
  return schema;
}

function memberOf({ properties, additionalProperties }: DocumentSchema, name: string): DocumentSchema | null {
  // A document may have a key such as `constructor`, which every object has.
  if (properties && Object.hasOwn(properties, name)) return asSchema(properties[name]);
  return asSchema(additionalProperties);
}

function asSchema(schema: unknown): DocumentSchema | null {
  return typeof schema === 'object' && schema !== null ? (schema as DocumentSchema) : null;
}

/** The values that may stand there, as far as they can be listed. */
export function allowedValues(schema: DocumentSchema): unknown[] {
  if (Array.isArray(schema.enum)) return schema.enum;
  const types = typesOf(schema);
  return [...(types.includes('boolean') ? [true, false] : []), ...(types.includes('null') ? [null] : [])];
}

/** The type in words; empty where any is allowed. */
export function typeName(schema: DocumentSchema): string {
  return typesOf(schema).join(' or ');
}

function typesOf({ type }: DocumentSchema): string[] {
  if (type === undefined) return [];
  return typeof type === 'string' ? [type] : type;
}

/** What is to be known about a value, as pairs of a term and its text. */
export function factsOf(schema: DocumentSchema, isRequired: boolean): [string, string][] {
  const facts: [string, string | undefined][] = [
    ['Type', typeName(schema) || undefined],
    ['Default', schema.default === undefined ? undefined : JSON.stringify(schema.default)],
    ['Allowed values', schema.enum?.map((value) => JSON.stringify(value)).join(', ')],
    ['Value', range(schema.minimum, schema.maximum)],
    ['Length', range(schema.minLength ?? schema.minItems, schema.maxLength ?? schema.maxItems)],
    ['Secret', schema.writeOnly ? 'Yes. Where values are shown, this one is not.' : undefined],
    ['Required', isRequired ? 'Yes' : undefined],
  ];
  return facts.filter((fact): fact is [string, string] => fact[1] !== undefined);
}

function range(least: number | undefined, most: number | undefined): string | undefined {
  if (least !== undefined && most !== undefined) return `${least} to ${most}`;
  if (least !== undefined) return `at least ${least}`;
  return most === undefined ? undefined : `at most ${most}`;
}

/** A text without quotes that YAML reads as this very text. */
const PLAIN = /^[A-Za-z_/][\w./-]*(?: [\w./-]+)*$/;
const OTHER_MEANING = /^(?:true|false|yes|no|on|off|y|n|null)$/i;

/** A value as it is written in a document. */
export function writtenValue(value: unknown, isYaml: boolean): string {
  const isPlain = typeof value === 'string' && PLAIN.test(value) && !OTHER_MEANING.test(value);
  return isYaml && isPlain ? value : JSON.stringify(value);
}
