/** The hot path: what a node polls and pulls. Steady state is one indexed read, one map look-up, one 304. */

import { z } from 'zod';
import type { KnownNode } from '../db/node-lookup.ts';
import { type Answer, download, json } from '../http/answer.ts';
import { mediaTypeOf } from '../http/media-types.ts';
import { type Route, route } from '../http/route.ts';
import { Checksum } from '../http/schemas.ts';
import { internal, notFound } from '../lib/errors.ts';
import type { Manifest } from '../resolve/manifest.ts';
import type { AssignedNode, Resolver } from '../resolve/resolver.ts';
import type { BundleCache } from './bundle-cache.ts';

const CHECKSUM_ANSWER = z.object({
  checksum: Checksum,
  entryPoint: z.string(),
  parametersFile: z.string().nullable(),
  configurationName: z.string(),
  version: z.string(),
});

const PULL = {
  method: 'GET',
  tags: ['Pull'],
  access: { kind: 'node:self-or-reader' },
  problems: ['no_configuration_assigned', 'no_eligible_version'],
} as const;

export function pullRoutes(resolver: Resolver, bundles: BundleCache): Route[] {
  return [checksumRoute(resolver), bundleRoute(resolver, bundles), configurationRoute(resolver)];
}

function checksumRoute(resolver: Resolver): Route {
  const answers = new WeakMap<Manifest, Answer>();
  return route({
    ...PULL,
    path: '/api/v1/nodes/{nodeId}/configuration/checksum',
    summary: 'Poll the checksum of what the node gets',
    answers: {
      200: { description: 'The checksum, also as ETag', schema: CHECKSUM_ANSWER },
      304: { description: 'The checksum in If-None-Match still holds' },
    },
    handle({ node }) {
      const manifest = manifestOf(resolver, node);
      if (manifest instanceof Promise) return manifest.then(checksumAnswer);
      // One manifest serves many nodes and polls, so its answer is written out once.
      const answer = answers.get(manifest) ?? checksumAnswer(manifest);
      answers.set(manifest, answer);
      return answer;
    },
  });
}

function checksumAnswer({
  checksum,
  entryPoint,
  parametersFile,
  configurationName,
  version,
}: Manifest): Answer {
  return json({ checksum, entryPoint, parametersFile, configurationName, version }, checksum);
}

function bundleRoute(resolver: Resolver, bundles: BundleCache): Route {
  return route({
    ...PULL,
    path: '/api/v1/nodes/{nodeId}/configuration/bundle',
    summary: 'Download what the node gets as a ZIP',
    answers: {
      200: {
        description: 'The bundle; Repr-Digest holds the SHA-256 of its bytes',
        mediaType: 'application/zip',
      },
      304: { description: 'The checksum in If-None-Match still holds' },
    },
    logLevel: 'info',
    async handle({ node }) {
      const manifest = await manifestOf(resolver, node);
      const { bytes, digest } = await bundles.get(manifest);
      const name = `${manifest.configurationName}-v${manifest.version}.zip`;
      return download(bytes, 'application/zip', manifest.checksum, {
        'Content-Disposition': `attachment; filename="${name}"`,
        'Repr-Digest': digest,
      });
    },
  });
}

function configurationRoute(resolver: Resolver): Route {
  return route({
    ...PULL,
    path: '/api/v1/nodes/{nodeId}/configuration',
    summary: 'Read the entry-point document of what the node gets',
    answers: {
      200: { description: 'The document, with the media type of its extension', mediaType: '*/*' },
      304: { description: 'The checksum in If-None-Match still holds' },
    },
    async handle({ node }) {
      const manifest = await manifestOf(resolver, node);
      const file = (await resolver.files(manifest)).find(({ path }) => path === manifest.entryPoint);
      if (file === undefined) throw internal('repository_damaged', 'The version lacks its entry point');
      return download(await file.read(), mediaTypeOf(file.path), manifest.checksum);
    },
  });
}

function manifestOf(resolver: Resolver, node: KnownNode): Manifest | Promise<Manifest> {
  if (node.assignment === null) {
    throw notFound('No configuration is assigned to this node', 'no_configuration_assigned');
  }
  return resolver.manifest(node as AssignedNode);
}
