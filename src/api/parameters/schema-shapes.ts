/** Shapes of parameter schemas: uploading one, reading one, checking a document with one. */

import { z } from 'zod';
import { isVersion } from '../../domain/version-order.ts';
import { Flag, given } from '../../http/schemas.ts';

export const SchemaForm = z.strictObject({
  version: z.string().refine(isVersion, 'Not a SemVer 2.0 version without leading v, such as 1.2.0'),
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

export const JsonSchemaView = z
  .record(z.string(), z.unknown())
  .meta({ description: 'JSON Schema 2020-12 of parameter documents' });

export const SchemaUploadView = z.object({ version: z.string(), schema: JsonSchemaView });

export const ValidationView = z.object({
  isValid: z.boolean(),
  errors: z.array(z.object({ path: z.string(), message: z.string(), code: z.string() })),
});
