/** The manifest of a checksum as the API shows it. */

import { z } from 'zod';
import { Checksum, Timestamp } from '../../http/schemas.ts';
import { Evidence } from '../shared/past.ts';
import { TAG_EXAMPLE, TagView } from '../shared/proof-schemas.ts';

const ObjectId = z.string().meta({ description: 'Git object id' });

const PartView = z
  .object({
    configurationName: z.string(),
    version: z.string(),
    tag: TagView,
    parameters: z
      .array(
        z.object({
          scopeTypeName: z.string(),
          scopeValue: z.string().nullable(),
          version: z.string(),
          tagObjectId: ObjectId,
          checksum: Checksum.meta({ description: "SHA-256, hex, of the file's content" }),
        }),
      )
      .meta({
        description: 'The parameter files in the order of merging, without those that skip their scope',
      }),
    mergeVersion: z.union([z.literal(1), z.literal(2)]).meta({
      description:
        'By which rules the files were merged: 2 where a strategy that is no default, an `unset`, or variables hold for them',
    }),
    variables: z
      .record(z.string(), z.string())
      .meta({ description: 'The variables that were replaced in them, with their values' }),
  })
  .meta({ id: 'ManifestPart' });

const MANIFEST = {
  checksum: Checksum,
  configurationName: z.string(),
  isComposite: z.boolean(),
  version: z.string(),
  tag: TagView,
  entryPoint: z.string(),
  bundleDigest: z.string().nullable().meta({
    description: 'SHA-256 of the ZIP in base64, as in `Repr-Digest`; null where it cannot be made any more',
  }),
  parts: z.array(PartView).meta({ description: 'A configuration is its own single part' }),
  firstServedAt: Timestamp.nullable().meta({ description: 'Null until a bundle of it was sent whole' }),
};

const EXAMPLE = {
  checksum: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  configurationName: 'web-server',
  isComposite: false,
  version: '1.2.0',
  tag: TAG_EXAMPLE,
  entryPoint: 'main.dsc.yaml',
  bundleDigest: '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=',
  parts: [
    {
      configurationName: 'web-server',
      version: '1.2.0',
      tag: TAG_EXAMPLE,
      parameters: [
        {
          scopeTypeName: 'Default',
          scopeValue: null,
          version: '1.0.0',
          tagObjectId: '0b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8b9c',
          checksum: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
        },
      ],
      mergeVersion: 2 as const,
      variables: { 'node.fqdn': 'web-01.example.com' },
    },
  ],
  firstServedAt: '2026-11-20T10:04:00.000Z',
};

export const ManifestView = z.object(MANIFEST).meta({ id: 'Manifest', examples: [EXAMPLE] });

export const NodeManifestView = z
  .object({
    ...MANIFEST,
    evidence: Evidence,
    since: Timestamp.meta({ description: 'When this evidence of it came' }),
  })
  .meta({
    id: 'NodeManifest',
    examples: [{ ...EXAMPLE, evidence: 'Declared', since: '2026-11-20T10:04:00.000Z' }],
  });
