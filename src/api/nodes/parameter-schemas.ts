/** Shapes of what explains a node's parameters. */

import { z } from 'zod';
import { Id, Timestamp } from '../../http/schemas.ts';

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
    .array(z.object({ path: z.string(), message: z.string(), code: z.string() }))
    .meta({ description: "The merged whole against the delivered version's schema" }),
};

export const Resolution = z.object({
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
});

const ExactValue = z.unknown().meta({
  description: 'Exactly as set, numbers with all their digits; "<redacted>" for a secure parameter',
});

const LeafView = z.object({
  ...scope,
  resolvedVersion: z.string(),
  isPrerelease: z.boolean(),
  commit: z.string(),
  author: z.string(),
  committedAt: Timestamp,
  value: ExactValue,
  overriddenValues: z.array(z.object({ ...scope, value: ExactValue })).meta({ description: 'Nearest first' }),
});

export const Provenance = z.object({
  ...delivered,
  mergedParameters: z.string().meta({ description: 'YAML 1.2' }),
  provenance: z.record(z.string(), LeafView).meta({ description: 'By JSON Pointer of each leaf' }),
});
