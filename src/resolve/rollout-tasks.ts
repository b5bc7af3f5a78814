/** The counts of a rollout, for a thread: what the fleet is offered, and what its nodes have taken and reported. */

import { type FleetNode, type RolledOut, readingRollout, type SeenReports } from '../db/read-rollouts.ts';
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
  /** The reports that the caller has looked at; null for none. */
  seen: SeenReports | null;
}

export interface RolloutAnswer {
  /** Of the nodes that were not sent. */
  counts: RolloutCounts;
  seen: SeenReports;
}

/** A node whose reports must be looked at, because it has taken the version or reported since. */
export interface NodeToNote {
  taker: Taker;
  /** As it is to be counted by what is noted of it; null where the version is not offered to it. */
  counted: CountedNode | null;
}

/** Nodes at a time, so that each transaction that notes them takes a millisecond or two. */
const PIECE = 50;

export function rolloutTasks(fleet: () => Fleet, offers: () => CurrentOffers) {
  return {
    /** Sends pieces of nodes (`NodeToNote[]`), and counts the others. */
    async rolloutCounts(question: RolloutQuestion, send: Send): Promise<RolloutAnswer> {
      const stepOf = openStepsIn(await offers().read(), question);
      const counts = { ...NO_COUNTS };
      const toNote: NodeToNote[] = [];
      const reading = readingRollout(question.rolledOut, question.seen, (nodeId, node, hasReported) => {
        const { takenAt, statusBefore } = node;
        const step = stepOf(nodeId);
        const counted = step ? toCounted(node, step.openedAt) : null;
        if (takenAt !== null && (statusBefore === null || hasReported))
          toNote.push({ taker: [nodeId, takenAt], counted });
        else if (counted) countNode(counts, counted);
      });
      const seen = await fleet().database.read(reading);
      for (let at = 0; at < toNote.length; at += PIECE) await send(toNote.slice(at, at + PIECE));
      return { counts, seen };
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
  { takenAt, statusBefore, report, mode, lastCall }: FleetNode,
  openedAt: number,
): CountedNode {
  const hasPolled = lastCall === null || lastCall >= openedAt;
  return { hasTaken: takenAt !== null, statusBefore, report, hasPolled, mode };
}
