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
  /** The commit of the record. */
  oid: string;
  /** The reports that the caller has looked at; null for none. */
  seen: SeenReports | null;
}

export interface RolloutAnswer {
  /** Of the nodes that were not sent, step by step. */
  counts: readonly RolloutCounts[];
  seen: SeenReports;
}

/** A node whose reports must be looked at, because it has taken the version or reported since. */
export interface NodeToNote {
  taker: Taker;
  /** As it is to be counted by what is noted of it; null where the version is not offered to it. */
  counted: CountedNode | null;
  /** The place of the step that offers the version to it; null where none does. */
  step: number | null;
}

/** Nodes at a time, so that each transaction that notes them takes a millisecond or two. */
const PIECE = 50;

export function rolloutTasks(fleet: () => Fleet, offers: () => CurrentOffers) {
  return {
    /**
     * Sends pieces of nodes (`NodeToNote[]`), and counts the others.
     * @returns null where the fleet was looked at before the rollout was moved to this record
     */
    async rolloutCounts(question: RolloutQuestion, send: Send): Promise<RolloutAnswer | null> {
      const current = await offers().read();
      const { rolledOut, record, oid } = question;
      const ref = (await current.versions(rolledOut)).get(rolledOut.version);
      if (ref?.rollout?.oid !== oid) return null;
      const stepOf = openStepsIn(current, question);
      const openedAt = record.steps.map(({ startedAt }) => Date.parse(startedAt ?? ''));
      const counts = record.steps.map(() => ({ ...NO_COUNTS }));
      const toNote: NodeToNote[] = [];
      const reading = readingRollout(rolledOut, question.seen, (nodeId, node, hasReported) => {
        const { takenAt, statusBefore } = node;
        const step = stepOf(nodeId);
        const counted = step === null ? null : toCounted(node, openedAt[step] ?? 0);
        if (takenAt !== null && (statusBefore === null || hasReported))
          toNote.push({ taker: [nodeId, takenAt], counted, step });
        else if (counted) countNode(counts[step ?? -1] as RolloutCounts, counted);
      });
      const seen = await fleet().database.read(reading);
      for (let at = 0; at < toNote.length; at += PIECE) await send(toNote.slice(at, at + PIECE));
      return { counts, seen };
    },
  };
}

/** Tells the place of the open step that offers the version to a node; null where none does. */
function openStepsIn(offers: FleetOffers, { rolledOut, record }: RolloutQuestion) {
  const { snapshot } = offers;
  const rings = snapshot.scopes.map(
    (links) => links.find(({ scopeTypeId }) => scopeTypeId === record.scopeType.id)?.scopeValue ?? null,
  );
  const isGiven = offers.giving(rolledOut, rolledOut.version);
  return (nodeId: string) => {
    const at = snapshot.findPlace(nodeId);
    // One that is not known has come since the fleet was looked at.
    if (at === undefined || !isGiven(at)) return null;
    const step = openStepOf(record, { nodeId, ring: rings[snapshot.nodes.scopesOf[at] ?? 0] ?? null });
    return step < 0 ? null : step;
  };
}

function toCounted(
  { takenAt, statusBefore, report, mode, lastCall }: FleetNode,
  openedAt: number,
): CountedNode {
  const hasPolled = lastCall === null || lastCall >= openedAt;
  return { hasTaken: takenAt !== null, statusBefore, report, hasPolled, mode };
}
