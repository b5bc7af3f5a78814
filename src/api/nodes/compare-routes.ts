/** `/api/v1/nodes/compare`: what two nodes get, or ran at some times, side by side. */

import { z } from 'zod';
import type { Database } from '../../db/database.ts';
import { findManifest, type ManifestRecord } from '../../db/manifests.ts';
import { findOnBothSides } from '../../domain/file-changes.ts';
import { writtenJson } from '../../http/answer.ts';
import { NOT_FOUND, READING_REPOSITORIES } from '../../http/problem-codes.ts';
import type { RequestFacts, Route } from '../../http/route.ts';
import { Checksum, Id, Timestamp } from '../../http/schemas.ts';
import { toTimestamp } from '../../lib/clock.ts';
import { HawserError, notFound } from '../../lib/errors.ts';
import { isId } from '../../lib/ids.ts';
import type { Comparer } from '../../resolve/comparer.ts';
import type { DocumentRunner } from '../../resolve/documents.ts';
import { listParameters } from '../../resolve/leaf-lists.ts';
import { recordOf } from '../../resolve/manifest-record.ts';
import { type ContentTools, contentOf } from '../../resolve/past-content.ts';
import { type GroupSides, type Side, SideMaker, type SideReaders } from '../../resolve/preview-sides.ts';
import type { Resolver } from '../../resolve/resolver.ts';
import { shownBundle } from '../../resolve/shown-bundle.ts';
import { requireReadableContent } from '../../security/authorize.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { existingPath } from '../../versions/draft-edits.ts';
import type { GitStore } from '../../versions/store.ts';
import { Context, FILE_CHANGE, FileChangeView, FileDiffView } from '../shared/comparing.ts';
import { LEAF_CHANGE, LeafChangeView } from '../shared/leaf-changes.ts';
import { toNamedPart } from '../shared/manifest-content.ts';
import { ABOUT_PAST, At, momentOf, pastGone, requirePastNode, requireRan } from '../shared/past.ts';
import { permitted } from '../shared/routes.ts';

export interface CompareNodesTools extends ContentTools, SideReaders {
  database: Database;
  store: GitStore;
  resolver: Resolver;
  comparer: Comparer;
  documents: DocumentRunner;
  /** Waits until what the polls of nodes have told is written. */
  caughtUp(): Promise<void>;
}

const PATH = '/api/v1/nodes/compare';

const Node = z.string().min(1).meta({ description: 'The id, or the fqdn of a node that is there' });
const TwoNodes = z.object({ left: Node, right: Node, leftAt: At, rightAt: At });

const name = z.string().nullable().meta({ description: 'Null where the node is offered nothing' });
const ComparedNode = z.object({
  nodeId: Id,
  fqdn: z.string(),
  at: Timestamp.nullable().meta({ description: 'Null: what it is offered now' }),
  configurationName: name,
  version: name,
  checksum: Checksum.nullable(),
});

const SIDE = {
  nodeId: '0b9b2f0e-6d59-4b3e-9a53-2c6f5a1d7e84',
  fqdn: 'web-01.example.org',
  at: '2026-11-20T09:08:00.000Z',
  configurationName: 'web-server',
  version: '1.1.0',
  checksum: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
};

const NodeComparison = z
  .object({
    left: ComparedNode,
    right: ComparedNode,
    files: z.array(FileChangeView).meta({ description: 'Of the whole bundles' }),
    parameters: z.array(LeafChangeView),
  })
  .meta({
    id: 'NodeComparison',
    examples: [
      {
        left: SIDE,
        right: { ...SIDE, at: null, version: '1.2.0' },
        files: [{ ...FILE_CHANGE, change: 'Modified' as const }],
        parameters: [LEAF_CHANGE],
      },
    ],
  });

const PROBLEMS = [
  ...([
    NOT_FOUND,
    [404, 'nothing_ran'],
    'past_gone',
    'parameter_merge_failed',
    [409, 'secret_unreadable'],
  ] as const),
  ...(['secret_key_missing', ...READING_REPOSITORIES] as const),
];

const ABOUT =
  'Without a time it is what the node is offered. The caller also needs Read on all of what both get, and their parameters. ' +
  `Values of secure parameters are not shown. ${ABOUT_PAST}`;

export function compareNodesRoutes(tools: CompareNodesTools): Route[] {
  const { comparer, documents } = tools;
  const reading = permitted(tools.database, ['Nodes'], 'nodes.read');
  return [
    reading.own('GET', PATH, {
      id: 'compareNodes',
      summary: 'What differs between what two nodes are offered, or ran at some times',
      description: ABOUT,
      besideNames: '/api/v1/nodes/{nodeId}',
      query: TwoNodes,
      problems: PROBLEMS,
      answers: { 200: { description: 'What is different on the right', schema: NodeComparison } },
      async handle(call) {
        const { left, right, sides } = await readSides(tools, call);
        const caller = { id: call.principal.userId, gone: call.facts.over };
        const [before, after] = bundlesOf(tools, sides);
        const files = await comparer.changes(caller, before, after);
        const parameters = await listParameters(documents, sides, caller.id);
        const head = JSON.stringify({ left, right, files }).slice(0, -1);
        return writtenJson(Buffer.from(`${head},"parameters":[${parameters.join()}]}`));
      },
    }),
    reading.own('GET', `${PATH}/files/{*filePath}`, {
      id: 'compareFileOfNodes',
      summary: 'Compare one file of the bundles of two nodes line by line',
      description: `Also \`parameters.yaml\`. ${ABOUT}`,
      params: z.object({ filePath: z.string() }),
      query: TwoNodes.extend({ context: Context }),
      problems: PROBLEMS,
      answers: { 200: { description: 'What is different on the right', schema: FileDiffView } },
      async handle(call) {
        const path = existingPath(call.params.filePath);
        const { sides } = await readSides(tools, call);
        const [before, after] = bundlesOf(tools, sides);
        const file = findOnBothSides(path, before.files, after.files);
        if (file === null) throw notFound('Neither bundle has such a file');
        const caller = { id: call.principal.userId, gone: call.facts.over };
        const wanted = { file, head: file, context: call.query.context };
        return writtenJson(await comparer.fileDiff(caller, before, after, wanted));
      },
    }),
  ];
}

const bundlesOf = (tools: CompareNodesTools, { before, after }: GroupSides) =>
  [shownBundle(tools, before), shownBundle(tools, after)] as const;

interface Call {
  principal: UserPrincipal;
  query: z.output<typeof TwoNodes>;
  facts: RequestFacts;
}

type Compared = z.output<typeof ComparedNode>;

async function readSides(
  tools: CompareNodesTools,
  { principal, query, facts }: Call,
): Promise<{ left: Compared; right: Compared; sides: GroupSides }> {
  const momentAt = (member: 'leftAt' | 'rightAt') =>
    query[member] === undefined ? null : momentOf(tools.database, facts.now, query[member], member);
  const times = { left: await momentAt('leftAt'), right: await momentAt('rightAt') };
  await tools.caughtUp();
  // What may not be read is refused before anything is read.
  const left = await contentAt(tools, principal, query.left, times.left);
  const right = await contentAt(tools, principal, query.right, times.right);
  const maker = new SideMaker(tools);
  const sideOf = async ({ record }: typeof left): Promise<Side | null> =>
    record && maker.make(await contentOf(tools, tools.database.read, record));
  const sides = { before: await sideOf(left), after: await sideOf(right) };
  return { left: left.shown, right: right.shown, sides };
}

/**
 * What a node ran at a time, or is offered where there is none.
 * @throws HawserError not_found without such a node, and where the caller may not read all of it; `nothing_ran`, `past_gone`
 */
async function contentAt(
  tools: CompareNodesTools,
  principal: UserPrincipal,
  text: string,
  at: number | null,
): Promise<{ shown: Compared; record: ManifestRecord | null }> {
  const { database } = tools;
  const nodeId = (await database.nodeLookup.findId(text)) ?? text;
  if (!isId(nodeId)) throw notFound('No such node');
  const { fqdn } = await requirePastNode(database, nodeId);
  const record = at === null ? await offered(tools, nodeId) : await ranAt(tools, principal, nodeId, at);
  if (record !== null)
    await requireReadableContent(database.read, principal, {
      ...record,
      parts: record.content.parts.map(toNamedPart),
    });
  const { configurationName = null, version = null, checksum = null } = record ?? {};
  const time = at === null ? null : toTimestamp(at);
  return { shown: { nodeId, fqdn, at: time, configurationName, version, checksum }, record };
}

/** Null where it is offered nothing. */
async function offered(
  { database, resolver, store }: CompareNodesTools,
  nodeId: string,
): Promise<ManifestRecord | null> {
  const node = await database.nodeLookup.byNodeId(nodeId);
  if (node === null) throw notFound('The node was deleted; say a time at which it was there');
  try {
    return await recordOf(store, await resolver.manifest(node));
  } catch (error) {
    if (error instanceof HawserError && NOTHING.includes(error.code)) return null;
    throw error;
  }
}

const NOTHING = ['no_configuration_assigned', 'no_eligible_version'];

async function ranAt(
  { database }: CompareNodesTools,
  principal: UserPrincipal,
  nodeId: string,
  at: number,
): Promise<ManifestRecord> {
  const { checksum } = await requireRan(database, principal, nodeId, at);
  const kept = await findManifest(database.read, checksum);
  if (kept === undefined) throw pastGone(`No manifest is kept of the checksum ${checksum}`);
  return kept;
}
