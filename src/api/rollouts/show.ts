/** Finds rollouts and shows them: what their records say, the counts of now, and their history. */

import type { Database } from '../../db/database.ts';
import { readFreeze } from '../../db/freeze.ts';
import { toRolledOut } from '../../db/read-rollouts.ts';
import { countsOfStep, readRolloutCounts } from '../../db/rollouts.ts';
import type { RolloutState } from '../../domain/rollout.ts';
import { causeOf } from '../../domain/rollout-cause.ts';
import type { Outcome, RolloutNode } from '../../domain/rollout-counts.ts';
import type { RequestFacts } from '../../http/route.ts';
import { toOptionalTimestamp, toTimestamp } from '../../lib/clock.ts';
import { notFound } from '../../lib/errors.ts';
import { limitLoads } from '../../lib/load-limit.ts';
import type { NodesQuestion } from '../../resolve/rollout-tasks.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { readableIds } from '../../security/rights.ts';
import { toNamedFile } from '../../versions/rollouts.ts';
import { GRANT_KINDS, notFoundIfDeleted, type Owner, type ResourceKind } from '../../versions/rows.ts';
import type { GitStore, RolloutRef, VersionIndex } from '../../versions/store.ts';
import { readableIndex } from '../shared/versioned.ts';

export interface RolloutReading {
  database: Database;
  store: GitStore;
}

/** Whose rollout it is. */
export interface FoundRollout {
  owner: Owner<ResourceKind>;
  rollout: RolloutRef;
}

/** The rollouts of one configuration or composite, the newest first. @throws HawserError not_found where it was deleted */
export async function rolloutsOf(
  { database, store }: RolloutReading,
  owner: Owner<ResourceKind>,
): Promise<FoundRollout[]> {
  const { kind, resource } = owner;
  const index = await notFoundIfDeleted(database, kind, resource.id, () =>
    store.versions({ kind, name: resource.name }),
  );
  return newestFirst(inIndex(owner, index));
}

/** @throws HawserError not_found without such a rollout */
export async function requireRollout(
  tools: RolloutReading,
  owner: Owner<ResourceKind>,
  key: string,
): Promise<FoundRollout> {
  const found = (await rolloutsOf(tools, owner)).find(({ rollout }) => rollout.record.key === key);
  if (found === undefined) throw notFound('There is no such rollout.');
  return found;
}

/** The rollouts of all that the user may read, the newest first. A repository that cannot be read has none. */
export async function readableRollouts(
  { database: { read }, store }: RolloutReading,
  principal: UserPrincipal,
  {
    configurationName,
    isComposite,
  }: { configurationName?: string | undefined; isComposite?: boolean | undefined },
): Promise<FoundRollout[]> {
  const loads = limitLoads();
  const kinds = (['configurations', 'composites'] as const).filter(
    (kind) => isComposite === undefined || isComposite === (kind === 'composites'),
  );
  const found = kinds.map(async (kind) => {
    const ids = readableIds(read, principal, GRANT_KINDS[kind]);
    const all = read.selectFrom(kind as ResourceKind).select(['id', 'name']);
    const named = configurationName === undefined ? all : all.where('name', '=', configurationName);
    const rows = await (ids === 'all' ? named : named.where('id', 'in', ids)).execute();
    const indexes = rows.map(async (resource) => {
      const index = await loads(() => readableIndex(store, { kind, name: resource.name }));
      return index === null ? [] : inIndex({ kind, resource }, index);
    });
    return (await Promise.all(indexes)).flat();
  });
  return newestFirst((await Promise.all(found)).flat());
}

export function inState(rollouts: readonly FoundRollout[], state: RolloutState | undefined): FoundRollout[] {
  return rollouts.filter(({ rollout }) => state === undefined || rollout.record.state === state);
}

function inIndex(owner: Owner<ResourceKind>, { rollouts }: VersionIndex): FoundRollout[] {
  return rollouts.map((rollout) => ({ owner, rollout }));
}

/** Names and keys make the order a total one. */
function newestFirst(rollouts: readonly FoundRollout[]): FoundRollout[] {
  const keyOf = ({ owner: { kind, resource }, rollout: { record } }: FoundRollout) =>
    [record.createdAt, kind, resource.name, record.key].join(' ');
  const keyed = rollouts.map((found) => ({ found, key: keyOf(found) }));
  return keyed.sort((a, b) => (a.key < b.key ? 1 : -1)).map(({ found }) => found);
}

/** @throws HawserError `repository_damaged` when a commit of its history cannot be read */
export async function showRollout(
  { database, store }: RolloutReading,
  { owner, rollout }: FoundRollout,
  { now }: Pick<RequestFacts, 'now'>,
) {
  const { kind, resource } = owner;
  const { record } = rollout;
  const { key, version, state, step, onHalt, createdBy, createdAt } = record;
  const last = await readRolloutCounts(database.read, { kind, id: resource.id, key });
  const counts = countsOfStep(record, last);
  const steps = record.steps.map((each, at) => (at === step && counts ? { ...each, counts } : each));
  const history = await store.rolloutHistory({ kind, name: resource.name }, rollout);
  const freeze = state === 'Running' ? await readFreeze(database.read, now) : null;
  return {
    ...{ configurationName: resource.name, isComposite: kind === 'composites', key, version },
    ...{ parameters: record.parameters.map(toNamedFile), state, step },
    ...{ steps, onHalt, createdBy, createdAt },
    cause: toCause(causeOf(state, history), last?.faults ?? []),
    frozenUntil: toOptionalTimestamp(freeze?.until ?? null),
    history: history.map(({ at, actorName, from, to, reason, counts }) => {
      return { at: toTimestamp(at), actorName, from, to, reason, counts };
    }),
  };
}

/** Nodes are named only where what they did has halted or paused it. */
function toCause(cause: ReturnType<typeof causeOf>, faults: readonly RolloutNode[]) {
  if (cause === null) return null;
  const isOfNodes = cause.reason === 'Regressions' || cause.reason === 'Deadline';
  const nodes = (isOfNodes ? faults : []).map(({ nodeId, fqdn, before, after, message }) => {
    return { nodeId, fqdn, before, after, message };
  });
  return { ...cause, nodes };
}

/** The nodes of the open steps of a rollout, as the last evaluation has noted them. */
export function nodesQuestion(
  { owner: { kind, resource }, rollout: { record } }: FoundRollout,
  { step, outcome }: { step?: number | undefined; outcome?: Outcome | undefined },
): NodesQuestion {
  return {
    rolledOut: toRolledOut({ kind, id: resource.id, name: resource.name }, record),
    openedAt: record.steps.map(({ startedAt }) => Date.parse(startedAt ?? '')),
    filter: { step, outcomes: outcome && [outcome] },
  };
}
