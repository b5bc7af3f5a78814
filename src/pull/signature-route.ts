/** The tags of the versions that a node gets, as their authors made them. The node looks whether they are signed by whom it trusts. */

import { z } from 'zod';
import type { KnownNode } from '../db/node-lookup.ts';
import { type Answer, json, namesValidator, notModified } from '../http/answer.ts';
import { type Route, type RouteSpec, route } from '../http/route.ts';
import { Checksum } from '../http/schemas.ts';
import type { Manifest } from '../resolve/manifest.ts';
import type { Resolver } from '../resolve/resolver.ts';
import type { GitStore } from '../versions/store.ts';

const NodeSignature = z
  .object({
    checksum: Checksum.meta({ description: 'That of the poll; also the ETag' }),
    configurationName: z.string(),
    version: z.string(),
    isComposite: z.boolean(),
    parts: z.array(
      z.object({
        configurationName: z.string(),
        version: z.string(),
        folder: z.string().meta({ description: 'Where its files are in the bundle: empty, or `<child>/`' }),
        tagObject: z.string().meta({ description: 'Base64 of the raw tag object, signed or not' }),
      }),
    ),
  })
  .meta({
    id: 'NodeSignature',
    examples: [
      {
        checksum: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
        configurationName: 'web-server',
        version: '1.2.0',
        isComposite: false,
        parts: [
          {
            configurationName: 'web-server',
            version: '1.2.0',
            folder: '',
            tagObject: 'b2JqZWN0IDhjMWYwZDVhNmI3ZTRjMzlhMmQxZjBlOWI4YzdkNmE1ZjRlM2QyYzEKdHlwZSBjb21taXQK',
          },
        ],
      },
    ],
  });

interface Tools {
  resolver: Resolver;
  store: Pick<GitStore, 'tagObject'>;
}

/** @param pull what all routes that nodes pull by have in common */
export function signatureRoute(
  { resolver, store }: Tools,
  pull: Pick<RouteSpec<never, never, never, never>, 'description' | 'tags' | 'problems'>,
): Route {
  const contentOf = (node: KnownNode) => resolver.manifest(node);
  return route({
    ...pull,
    method: 'GET',
    access: { kind: 'node:self-or-reader', contentOf } as const,
    bound: 'node',
    id: 'getNodeConfigurationSignature',
    path: '/api/v1/nodes/{nodeId}/configuration/signature',
    summary: 'Read the tags of the versions that the node gets, with what their authors signed',
    problems: [...(pull.problems ?? []), 'rate_limited'],
    answers: {
      200: { description: 'The tags, in the order of the bundle', schema: NodeSignature },
      304: { description: 'The checksum in If-None-Match still holds' },
    },
    async handle({ node, content, facts }) {
      const manifest = content ?? (await resolver.polled(node));
      const held = facts.header('if-none-match');
      if (held !== undefined && namesValidator(held, `"${manifest.checksum}"`))
        return notModified(manifest.checksum);
      return signatureAnswer(store, manifest);
    },
  });
}

async function signatureAnswer(store: Tools['store'], manifest: Manifest): Promise<Answer> {
  const { checksum, configurationName, version, document } = manifest;
  const parts: z.output<typeof NodeSignature>['parts'] = [];
  for (const { configurationName: name, tag, folder } of manifest.parts) {
    const object = await store.tagObject({ kind: 'configurations', name }, tag.oid);
    const tagObject = object.toString('base64');
    parts.push({ configurationName: name, version: tag.version, folder, tagObject });
  }
  const isComposite = document !== null;
  return json({ checksum, configurationName, version, isComposite, parts }, checksum);
}
