/** The nodes that a rollout reaches, and those that it would reach, by ring. */

import { setTimeout as sleep } from 'node:timers/promises';
import { latestCounts } from '../../db/rollouts.ts';
import { pageOfList } from '../../db/rows.ts';
import { ownerOf } from '../../deeds/parameter-scopes.ts';
import { type FileTarget, findFile } from '../../deeds/put-parameters.ts';
import { requireRings } from '../../deeds/start-rollout.ts';
import type { RolloutNode } from '../../domain/rollout-counts.ts';
import { READING_REPOSITORIES } from '../../http/problem-codes.ts';
import type { Route } from '../../http/route.ts';
import { notFound } from '../../lib/errors.ts';
import type { FleetTools } from '../../resolve/fleet-tasks.ts';
import type { NodesSlice } from '../../resolve/rollout-tasks.ts';
import { isUnderWay } from '../../versions/rollout-rules.ts';
import { notFoundIfDeleted, type ResourceKind } from '../../versions/rows.ts';
import { ONLY_SERIES } from '../../versions/types.ts';
import type { GrantedRoutes } from '../shared/versioned.ts';
import { type NamedFile, RingsFilter, RingView, RolloutNodeFilter, RolloutNodeView } from './schemas.ts';
import { type FoundRollout, nodesQuestion, type RolloutReading, requireRollout } from './show.ts';

/** Milliseconds for which a list waits for the first look at a step, and between two questions whether it is there. */
const PATIENCE = 10_000;
const PAUSE = 100;

/** Nodes of a list that is sent whole, for each question. */
const SLICE = 250;

interface Spec {
  reading: GrantedRoutes;
  /** The paths of the rollouts and of a version. */
  path: string;
  version: string;
  /** What the operation ids have after the verb. */
  noun: string;
}

export function nodeRoutes(
  tools: RolloutReading & Pick<FleetTools, 'questions'>,
  kind: ResourceKind,
  { reading, path, version, noun }: Spec,
): Route[] {
  const { questions } = tools;
  return [
    reading.list(`${path}/{version}/nodes`, {
      id: `list${noun}Nodes`,
      summary: 'The nodes of the steps that are open or done, by fqdn, each with what it made of the version',
      description:
        'As the last evaluation noted them; where a step has opened just now, the answer waits some seconds for the first one. ' +
        'What is known of nodes goes with a later rollout.',
      query: RolloutNodeFilter,
      answer: { description: 'The nodes', schema: RolloutNodeView },
      problems: READING_REPOSITORIES,
      async rows({ principal, resource, params, query: { take, skip, ...filter } }) {
        const found = await requireRollout(tools, { kind, resource }, params['version'] ?? '');
        await firstLook(tools, found);
        const question = { ...nodesQuestion(found, filter), take, skip };
        return questions.run(principal.userId, 'rolloutNodes', question);
      },
      async whole({ principal, resource, params, query }) {
        const found = await requireRollout(tools, { kind, resource }, params['version'] ?? '');
        await firstLook(tools, found);
        const question = { ...nodesQuestion(found, query), take: SLICE };
        return slicesOf((after) =>
          questions.run(principal.userId, 'rolloutNodesSlice', { ...question, after }),
        );
      },
      show: (node) => node,
    }),
    reading.list(`${version}/rings`, {
      id: `list${noun}Rings`,
      summary: 'How many nodes of each ring a rollout of this version would reach',
      description:
        'As if it were published and open to all, by the rings that the setting `rolloutScopeType` names. With `parameters`, the ' +
        'nodes count too that would get one of these files.',
      query: RingsFilter,
      answer: {
        description: 'The rings in the order of their values, the nodes without one last',
        schema: RingView,
      },
      problems: ['no_rings', ...READING_REPOSITORIES],
      async rows({ principal, resource, params, query }) {
        const wanted = params['version'] ?? '';
        const { versions } = await notFoundIfDeleted(tools.database, kind, resource.id, () =>
          tools.store.versions({ kind, name: resource.name }),
        );
        const ref = versions.find((each) => each.version === wanted);
        if (ref === undefined) throw notFound('No such version');
        const { scopeType, values } = await requireRings(tools.database.read);
        const of = { kind, id: resource.id, name: resource.name };
        const draft = { kind, name: resource.name, series: ONLY_SERIES, version: wanted };
        const files = await filesNamed(tools, { resource, principal }, query.parameters ?? []);
        const drafts = [
          ...(ref.status === 'Draft' ? [draft] : []),
          ...files.flatMap((file) => file.draft ?? []),
        ];
        const tags = files.map(({ ref: { oid } }) => oid);
        const rolledOut = { ...of, key: wanted, version: wanted, tags };
        const question = { rolledOut, drafts, scopeTypeId: scopeType.id };
        const counts = new Map(await questions.run(principal.userId, 'ringCounts', question));
        const rings = [...values, null].map((ring) => ({ ring, nodes: counts.get(ring) ?? 0 }));
        return pageOfList(rings, query);
      },
      show: (ring) => ring,
    }),
  ];
}

/** The files that a query names, by which those who may read them ask whom they would reach. */
async function filesNamed(
  tools: RolloutReading,
  asked: Pick<FileTarget, 'resource' | 'principal'>,
  names: readonly NamedFile[],
) {
  const { name } = asked.resource;
  const found = [];
  for (const { scopeTypeName, scopeValue, version } of names) {
    const of = { type: { name: scopeTypeName }, scopeValue, version };
    const { type, scope, ref } = await findFile(tools, asked, of);
    const nodeId = await ownerOf(tools.database.read, type, scope);
    const draft = { kind: 'parameters' as const, name, series: ref.series, version, nodeId };
    found.push({ ref, draft: ref.status === 'Draft' ? draft : null });
  }
  return found;
}

/** A step that has just opened has no nodes yet that anybody has noted. The leader looks at it within a second or two. */
async function firstLook({ database }: RolloutReading, { owner, rollout }: FoundRollout): Promise<void> {
  const { record } = rollout;
  const keyed = { kind: owner.kind, id: owner.resource.id };
  for (let waited = 0; isUnderWay(record) && waited < PATIENCE; waited += PAUSE) {
    if ((await latestCounts(database.read, keyed, record)) !== null) return;
    await sleep(PAUSE);
  }
}

/** Each slice is read when the one before it was taken. */
async function* slicesOf(
  read: (after: string) => Promise<NodesSlice>,
): AsyncGenerator<readonly RolloutNode[]> {
  for (let after: string | null = ''; after !== null; ) {
    const { rows, next }: NodesSlice = await read(after);
    yield rows;
    after = next;
  }
}
