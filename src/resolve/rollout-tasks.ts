/** The counts of a rollout, for a thread: what the fleet is offered, and what its nodes have taken and reported. */

import { type FleetNode, type RolledOut, type RolloutFacts, readingRollout } from '../db/read-rollouts.ts';
import type { Taker } from '../db/rollouts.ts';
import { openStepOf, type RolloutCounts, type RolloutRecord } from '../domain/rollout.ts';
import { type CountedNode, countNodes } from '../domain/rollout-counts.ts';
import type { Send } from '../lib/threads.ts';
import type { CurrentOffers } from './current-offers.ts';
import type { Fleet } from './fleet.ts';
import type { FleetOffers } from './fleet-offers.ts';

export interface RolloutQuestion {
  rolledOut: RolledOut;
  /** It says which steps are open. */
  record: RolloutRecord;
  /** The number of the last report that the caller knows of; null where it knows of none. */
  after: number | null;
}

export interface RolloutAnswer {
  counts: RolloutCounts;
  /** The number of the last report at the time of the counts. */
  lastReport: number;
  /** How many takers were sent. If there are any, the counts are not of all that is known. */
  sent: number;
}

/** Takers at a time, so that each transaction that notes them takes a millisecond or two. */
const PIECE = 50;

export function rolloutTasks(fleet: () => Fleet, offers: () => CurrentOffers) {
  return {
    /**
     * Sends pieces of takers (`Taker[]`) whose reports must be looked at, because they have taken the version or reported
     * since.
     */
    async rolloutCounts(question: RolloutQuestion, send: Send): Promise<RolloutAnswer> {
      const { rolledOut, after } = question;
      const current = await offers().read();
      const facts = await fleet().database.read(readingRollout(rolledOut, after));
      const counts = countNodes(nodesIn(current, question, facts));
      const takers = takersToLookAt(facts);
      for (let at = 0; at < takers.length; at += PIECE) await send(takers.slice(at, at + PIECE));
      return { counts, lastReport: facts.lastReport, sent: takers.length };
    },
  };
}

function takersToLookAt({ nodes, reporters }: RolloutFacts): Taker[] {
  const takers: Taker[] = [];
  for (const [nodeId, { takenAt, statusBefore }] of nodes)
    if (takenAt !== null && (statusBefore === null || (reporters?.has(nodeId) ?? true)))
      takers.push([nodeId, takenAt]);
  return takers;
}

/** The nodes of the open steps to which the version is offered. */
function* nodesIn(
  offers: FleetOffers,
  { rolledOut, record }: RolloutQuestion,
  facts: RolloutFacts,
): Generator<CountedNode> {
  const { nodes, scopes } = offers.snapshot;
  const rings = scopes.map(
    (links) => links.find(({ scopeTypeId }) => scopeTypeId === record.scopeType.id)?.scopeValue ?? null,
  );
  const isGiven = offers.giving(rolledOut, rolledOut.version);
  const openedAt = new Map(record.steps.map((step) => [step, Date.parse(step.startedAt ?? '')]));
  for (const [at, nodeId] of nodes.nodeIds.entries()) {
    if (!isGiven(at)) continue;
    const step = openStepOf(record, { nodeId, ring: rings[nodes.scopesOf[at] ?? 0] ?? null });
    const known = step && facts.nodes.get(nodeId);
    // One that is not known was deleted since the fleet was looked at.
    if (known) yield toCounted(known, openedAt.get(step) ?? 0);
  }
}

function toCounted(
  { takenAt, statusBefore, operation, status, hasSet, mode, lastCall }: FleetNode,
  openedAt: number,
): CountedNode {
  const isSilent = operation === null || status === null;
  return {
    hasTaken: takenAt !== null,
    report: isSilent ? null : { operation, status, isAfterSet: hasSet },
    hasPolled: lastCall >= openedAt,
    statusBefore,
    mode,
  };
}
