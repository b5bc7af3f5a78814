/** Shapes of parameter schemas: uploading one, reading one, checking a document with one. */

import { z } from 'zod';
import { isVersion } from '../../domain/version-order.ts';
import { Flag, given } from '../../http/schemas.ts';

export const SchemaForm = z.strictObject({
  version: z
    .string()
    .refine(isVersion, 'Not a SemVer 2.0 version without leading v, such as 1.2.0')
    .meta({ description: 'Of the configuration, which need not have it yet' }),
});
export const SCHEMA_FIELDS = Object.keys(SchemaForm.shape);

export const OfVersion = z.object({
  version: given(z.string()).meta({
    description:
      'Left out: the highest published version, else the highest; where that declares nothing, the highest upload',
  }),
});

export const Validation = OfVersion.extend({
  partial: given(Flag).meta({ description: "True for one scope's file, of which nothing is required" }),
});

const PORT_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    parameters: {
      type: 'object',
      properties: { port: { type: 'integer' } },
      required: ['port'],
      additionalProperties: false,
    },
  },
  required: ['parameters'],
};

export const JsonSchemaView = z.record(z.string(), z.unknown()).meta({
  id: 'ParameterSchema',
  description: 'JSON Schema 2020-12 of parameter documents',
  examples: [PORT_SCHEMA],
});

export const SchemaUploadView = z
  .object({ version: z.string(), schema: JsonSchemaView })
  .meta({ id: 'UploadedParameterSchema', examples: [{ version: '1.2.0', schema: PORT_SCHEMA }] });

export const ValidationView = z
  .object({
    isValid: z.boolean(),
    errors: z.array(z.object({ path: z.string(), message: z.string(), code: z.string() })),
  })
  .meta({
    id: 'ParameterVerdict',
    examples: [
      {
        isValid: false,
        errors: [
          {
            path: '/parameters/port',
            message: 'Must be an integer, written without a fraction or an exponent',
            code: 'type',
          },
        ],
      },
    ],
  });
