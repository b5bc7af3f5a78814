/** `/api/v1/manifests/{checksum}`: what a checksum that nodes run or reports name was made of. */

import { z } from 'zod';
import type { BundleDownloads } from '../../bundles/downloads.ts';
import type { Database } from '../../db/database.ts';
import { findManifest, type KeptManifest } from '../../db/manifests.ts';
import type { RequestFacts, Route } from '../../http/route.ts';
import { idsInPath } from '../../http/schemas.ts';
import { toOptionalTimestamp, toTimestamp } from '../../lib/clock.ts';
import { HawserError, notFound } from '../../lib/errors.ts';
import { hasSecrets } from '../../resolve/manifest.ts';
import { type KeptPart, type RemakeTools, remakeManifest } from '../../resolve/remake-manifest.ts';
import { requireReadableContent } from '../../security/authorize.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { toNamedPart } from '../shared/manifest-content.ts';
import { ABOUT_PAST, At, momentOf, pastGone, requirePastNode, requireRan } from '../shared/past.ts';
import { ResourceRoutes } from '../shared/routes.ts';
import { ManifestView, NodeManifestView } from './schemas.ts';

/** Any case; a text of another form names nothing, so the route answers 404. */
const ChecksumInPath = z.object({
  checksum: z
    .string()
    .regex(/^[0-9a-fA-F]{64}$/)
    .transform((text) => text.toLowerCase()),
});

/** The beginning and the end of a `Repr-Digest` (RFC 9530) around its base64. */
const DIGEST = /^sha-256=:|:$/g;

export type ManifestTools = RemakeTools & {
  database: Database;
  bundles: BundleDownloads;
  /** Waits until what the polls of nodes have told is written. */
  caughtUp(): Promise<void>;
};

export function manifestRoutes(tools: ManifestTools): Route[] {
  const { database } = tools;
  const reading = new ResourceRoutes(database, { tags: ['Proof'], access: { kind: 'user' } });
  return [
    reading.get('/api/v1/manifests/{checksum}', {
      id: 'getManifest',
      summary: 'Read what a checksum stands for: the tags and parameter files that it was made of',
      description:
        'Needs Read on all of it: the composite, each configuration, and their parameters. It is kept for as long as ' +
        'a node, a report or the past of a node names the checksum. Where other files give the same checksum, these are the first ones. ' +
        'Of what has been deleted since, only those read it who may read every configuration.',
      params: ChecksumInPath,
      answer: { description: 'The manifest', schema: ManifestView },
      problems: ['overloaded'],
      async handle({ principal, params: { checksum }, facts }) {
        const kept = await findManifest(database.read, checksum);
        if (kept === undefined) throw noManifest();
        return showManifest(tools, kept, principal, facts);
      },
    }),
    reading.get('/api/v1/nodes/{nodeId}/manifest', {
      id: 'getNodeManifest',
      summary: 'Read what the node ran at a time: the tags and parameter files that it was made of',
      description: `Needs Read on all of it, as the manifest of a checksum. A deleted node is named by its id. ${ABOUT_PAST}`,
      params: idsInPath('nodeId'),
      query: z.object({ at: At }),
      answer: { description: 'The manifest', schema: NodeManifestView },
      problems: ['overloaded', [404, 'nothing_ran'], 'past_gone'],
      async handle({ principal, params: { nodeId }, query, facts }) {
        const at = await momentOf(database, facts.now, query.at);
        await tools.caughtUp();
        await requirePastNode(database, nodeId);
        const { checksum, evidence, since } = await requireRan(database, principal, nodeId, at);
        const kept = await findManifest(database.read, checksum);
        if (kept === undefined) throw pastGone(`No manifest is kept of the checksum ${checksum}`);
        const shown = await showManifest(tools, kept, principal, facts);
        return { ...shown, evidence, since: toTimestamp(since) };
      },
    }),
  ];
}

/** @throws HawserError not_found where the caller may not read all of it */
async function showManifest(
  tools: ManifestTools,
  kept: KeptManifest,
  principal: UserPrincipal,
  facts: RequestFacts,
) {
  const { content, ...rest } = kept;
  const named = { ...rest, parts: content.parts.map(toNamedPart) };
  await requireReadableContent(tools.database.read, principal, named).catch((error) => {
    // The answer is the same whether it is kept or not.
    throw error instanceof HawserError && error.kind === 'not_found' ? noManifest() : error;
  });
  const bundleDigest = kept.bundleDigest ?? (await makeDigest(tools, kept, principal, facts));
  const parts = content.parts.map(toShownPart);
  return { ...rest, ...content, parts, bundleDigest, firstServedAt: toOptionalTimestamp(kept.firstServedAt) };
}

function toShownPart(part: KeptPart) {
  const files = part.parameters.map(({ scopeTypeId: _type, scopeValueId: _value, ...file }) => file);
  const { mergeVersion = 1, variables } = part;
  return { ...part, parameters: files, mergeVersion, variables: variables ?? {} };
}

const noManifest = () =>
  notFound('No node, no report and no past names a checksum like this that you may read');

/** Makes the bundle again, as a download would. Null where it holds secrets, and where the repositories do not give the same any more. */
async function makeDigest(
  tools: ManifestTools,
  kept: KeptManifest,
  principal: UserPrincipal,
  facts: RequestFacts,
): Promise<string | null> {
  try {
    const manifest = await remakeManifest(tools, kept);
    // The digest of a bundle with secrets would let whoever sees it try passwords.
    if (manifest.checksum !== kept.checksum || hasSecrets(manifest)) return null;
    const source = { checksum: kept.checksum, files: () => tools.maker.files(manifest) };
    const { digest } = await tools.bundles.get(source, principal, facts);
    return digest.replace(DIGEST, '');
  } catch (error) {
    if (error instanceof HawserError && isGone(error)) return null;
    throw error;
  }
}

const GONE = [
  'repository_missing',
  'repository_damaged',
  'parameter_merge_failed',
  'secret_unreadable',
  'secret_key_missing',
];

/** Whether what the manifest names is not there any more, or cannot be read. */
function isGone({ kind, code }: HawserError): boolean {
  return kind === 'not_found' || GONE.includes(code);
}
