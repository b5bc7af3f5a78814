/** The counts of a rollout, for a thread: what the fleet is offered, and what its nodes have taken and reported. */

import { type FleetNode, type RolledOut, readingRollout } from '../db/read-rollouts.ts';
import type { Taker } from '../db/rollouts.ts';
import { NO_COUNTS, openStepOf, type RolloutCounts, type RolloutRecord } from '../domain/rollout.ts';
import { type CountedNode, countNode } from '../domain/rollout-counts.ts';
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
      const stepOf = openStepsIn(await offers().read(), question);
      const counts = { ...NO_COUNTS };
      const takers: Taker[] = [];
      const reading = readingRollout(rolledOut, after, (nodeId, node, reporters) => {
        const { takenAt, statusBefore } = node;
        if (takenAt !== null && (statusBefore === null || (reporters?.has(nodeId) ?? true)))
          takers.push([nodeId, takenAt]);
        const step = stepOf(nodeId);
        if (step) countNode(counts, toCounted(node, step.openedAt));
      });
      const lastReport = await fleet().database.read(reading);
      for (let at = 0; at < takers.length; at += PIECE) await send(takers.slice(at, at + PIECE));
      return { counts, lastReport, sent: takers.length };
    },
  };
}

/** Tells which open step offers the version to a node, and since when. */
function openStepsIn(offers: FleetOffers, { rolledOut, record }: RolloutQuestion) {
  const { snapshot } = offers;
  const rings = snapshot.scopes.map(
    (links) => links.find(({ scopeTypeId }) => scopeTypeId === record.scopeType.id)?.scopeValue ?? null,
  );
  const isGiven = offers.giving(rolledOut, rolledOut.version);
  const openings = new Map(
    record.steps.map((step) => [step, { openedAt: Date.parse(step.startedAt ?? '') }]),
  );
  return (nodeId: string) => {
    const at = snapshot.findPlace(nodeId);
    // One that is not known has come since the fleet was looked at.
    if (at === undefined || !isGiven(at)) return undefined;
    const step = openStepOf(record, { nodeId, ring: rings[snapshot.nodes.scopesOf[at] ?? 0] ?? null });
    return step && openings.get(step);
  };
}

function toCounted(
  { takenAt, statusBefore, operation, status, hasSet, mode, lastCall }: FleetNode,
  openedAt: number,
): CountedNode {
  const isSilent = operation === null || status === null;
  return {
    hasTaken: takenAt !== null,
    report: isSilent ? null : { operation, status, isAfterSet: hasSet },
    hasPolled: lastCall === null || lastCall >= openedAt,
    statusBefore,
    mode,
  };
}
