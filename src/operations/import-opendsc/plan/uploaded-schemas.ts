/**
 * Schemas that were uploaded to OpenDSC. It keeps the JSON Schema that it made of the `parameters` block, and not the block
 * itself, so the block is made again. What the JSON Schema does not say is whether a value is secure, and default values.
 */

import { z } from 'zod';
import { sha256Hex } from '../../../lib/hash.ts';
import { LeftOut } from './plan.ts';

const TYPES: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'int',
  boolean: 'bool',
  object: 'object',
  array: 'array',
};

const Parameter = z.object({
  type: z.string(),
  description: z.string().optional(),
  enum: z.array(z.unknown()).optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
});

const JsonSchema = z.object({
  properties: z.object({
    parameters: z.object({
      properties: z.record(z.string(), Parameter),
      required: z.array(z.string()).default([]),
    }),
  }),
});

/**
 * The document, as JSON, whose `parameters` block defines what the JSON Schema says.
 * @throws LeftOut where the JSON Schema does not say enough
 */
export function readUploadedSchema(text: string): { text: string; sha256: string } {
  const { properties, required } = parse(text).properties.parameters;
  const parameters = Object.entries(properties).map(([name, given]) => {
    // A parameter that need not be given has a default value, and nodes without the value would now be refused.
    if (!required.includes(name))
      throw new LeftOut(`The default value of ${name} is not kept there; upload it anew`);
    const type = TYPES[given.type];
    if (type === undefined) throw new LeftOut(`The type of ${name} is unknown: ${given.type}`);
    const {
      description,
      enum: allowedValues,
      minLength,
      maxLength,
      minimum: minValue,
      maximum: maxValue,
    } = given;
    return [name, { type, description, allowedValues, minLength, maxLength, minValue, maxValue }];
  });
  const document = `${JSON.stringify({ parameters: Object.fromEntries(parameters) }, null, 2)}\n`;
  return { text: document, sha256: sha256Hex(document) };
}

function parse(text: string): z.output<typeof JsonSchema> {
  try {
    return JsonSchema.parse(JSON.parse(text));
  } catch {
    throw new LeftOut('Its JSON Schema is not of the form that OpenDSC writes');
  }
}
