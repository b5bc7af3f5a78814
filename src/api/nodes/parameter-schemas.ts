/** Shapes of the answers that explain a node's parameters. */

import { z } from 'zod';
import { Checksum, FieldErrorView, Id, Timestamp } from '../../http/schemas.ts';

/** Values of the examples in the OpenAPI document. */
const DELIVERED = {
  nodeId: '7d1e0f3a-52c4-4e0b-8f1d-3a9b6c5d4e21',
  configurationId: '3c9a4b1e-0f6d-4c57-9b2a-8e7d6c5b4a30',
  configurationVersion: '1.2.0',
  prereleaseChannel: null,
  problems: [],
};

export const ExplanationQuery = z.object({
  configurationId: z.string().optional().meta({
    description: 'Default: the configuration that is assigned; to be given where a composite is',
  }),
});

const scope = {
  scopeTypeName: z.string(),
  scopeValue: z.string().nullable().meta({ description: "Null for Default; for Node the node's fqdn" }),
  precedence: z.int(),
};

const delivered = {
  nodeId: Id,
  configurationId: Id,
  configurationVersion: z.string(),
  prereleaseChannel: z.string().nullable(),
  problems: z
    .array(FieldErrorView)
    .meta({ description: "The merged whole against the delivered version's schema" }),
};

export const Resolution = z
  .object({
    ...delivered,
    scopes: z
      .array(
        z.object({
          ...scope,
          resolvedVersion: z.string().nullable(),
          isPrerelease: z.boolean(),
          isPassthrough: z.boolean(),
          isFallback: z.boolean().meta({ description: "Of a lower major than the configuration's" }),
          noPublishedVersion: z.boolean(),
        }),
      )
      .meta({ description: 'In the order of merging' }),
  })
  .meta({
    id: 'ParameterResolution',
    examples: [
      {
        ...DELIVERED,
        scopes: [
          {
            scopeTypeName: 'Default',
            scopeValue: null,
            precedence: 0,
            resolvedVersion: '1.0.0',
            isPrerelease: false,
            isPassthrough: false,
            isFallback: false,
            noPublishedVersion: false,
          },
        ],
      },
    ],
  });

const ExactValue = z.unknown().meta({
  description: 'Exactly as set, numbers with all their digits; "<redacted>" for a secure parameter',
});

const LeafView = z.object({
  ...scope,
  resolvedVersion: z.string().meta({ description: 'Of the file that the node gets' }),
  isPrerelease: z.boolean(),
  version: z.string().meta({ description: 'The lowest version of the file that has the value since' }),
  commit: z
    .string()
    .meta({ description: 'The commit that last changed the value of this leaf in its scope' }),
  author: z.string().meta({ description: 'Of that commit' }),
  committedAt: Timestamp,
  value: ExactValue,
  overriddenValues: z.array(z.object({ ...scope, value: ExactValue })).meta({ description: 'Nearest first' }),
  merge: z
    .union([z.enum(['replace', 'append', 'unique']), z.object({ byKey: z.string() })])
    .nullable()
    .meta({ description: 'How values from several scopes meet; null for the default of the type' }),
  mergedFrom: z
    .array(z.object({ ...scope, resolvedVersion: z.string(), value: ExactValue }))
    .nullable()
    .meta({
      description: 'The lists that make the value, lowest precedence first; null where it is of one scope',
    }),
  text: ExactValue.nullable().meta({
    description: 'The value before variables were replaced in it, else null',
  }),
});

const UnsetView = z.object({
  ...scope,
  resolvedVersion: z.string(),
  commit: z.string().meta({ description: 'The commit that last changed `unset` of the file' }),
  author: z.string(),
  committedAt: Timestamp,
  removed: z.array(z.object({ path: z.string(), ...scope, value: ExactValue })),
});

export const Provenance = z
  .object({
    ...delivered,
    mergedParameters: z.string().meta({ description: 'YAML 1.2' }),
    provenance: z.record(z.string(), LeafView).meta({ description: 'By JSON Pointer of each leaf' }),
    unset: z.record(z.string(), UnsetView).meta({
      description: 'By the pointer that a file unsets, where lower scopes have set something there',
    }),
    at: Timestamp.optional().meta({ description: 'The time that was asked about; absent of now' }),
    checksum: Checksum.optional().meta({ description: 'What ran then; absent of now' }),
  })
  .meta({
    id: 'ParameterProvenance',
    examples: [
      {
        ...DELIVERED,
        mergedParameters: 'parameters:\n  port: 8080\n',
        provenance: {
          '/parameters/port': {
            scopeTypeName: 'Environment',
            scopeValue: 'production',
            precedence: 1,
            resolvedVersion: '1.1.0',
            isPrerelease: false,
            version: '1.0.3',
            commit: '8c1f0d5a6b7e4c39a2d1f0e9b8c7d6a5f4e3d2c1',
            author: 'alice',
            committedAt: '2026-11-20T09:08:00.000Z',
            value: 8080,
            overriddenValues: [{ scopeTypeName: 'Default', scopeValue: null, precedence: 0, value: 80 }],
            ...{ merge: null, mergedFrom: null, text: null },
          },
        },
        unset: {},
      },
    ],
  });
