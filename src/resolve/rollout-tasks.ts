/** The counts of a rollout, for a thread: what the fleet is offered, and what its nodes have taken and reported. */

import type { FleetSnapshot } from '../db/fleet-snapshot.ts';
import {
  type FleetNode,
  type NotedNode,
  type RolledOut,
  readingFaults,
  readingNoted,
  readingRollout,
  type SeenReports,
  THE_VERSION,
} from '../db/read-rollouts.ts';
import type { ToNote } from '../db/rollouts.ts';
import { tellFault } from '../domain/report-faults.ts';
import { NO_COUNTS, openStepOf, type RolloutCounts, type RolloutRecord } from '../domain/rollout.ts';
import {
  type CountedNode,
  countNode,
  type Outcome,
  outcomeOf,
  type RolloutNode,
} from '../domain/rollout-counts.ts';
import type { Send } from '../lib/threads.ts';
import type { CurrentOffers } from './current-offers.ts';
import type { Fleet } from './fleet.ts';
import type { FleetOffers } from './fleet-offers.ts';
import { ProposedVersions, type PublishedDraft } from './proposed-versions.ts';
import { readOffers } from './read-offers.ts';

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

/** A node that must be noted, because its step is another one, it has taken the version, or it has reported since. */
export interface NodeToNote {
  toNote: ToNote;
  /** As it is to be counted by what is noted of it; null where the version is not offered to it. */
  counted: CountedNode | null;
}

/** Which nodes of the open steps are asked for. */
export interface NodesQuestion {
  rolledOut: RolledOut;
  /** When each step opened, in epoch milliseconds. */
  openedAt: readonly number[];
  filter: { step?: number | undefined; outcomes?: readonly Outcome[] | undefined };
}

export interface NodesPage {
  rows: RolloutNode[];
  /** How many there are on all pages together. */
  total: number;
}

export interface NodesSlice {
  rows: RolloutNode[];
  /** The fqdn behind which the next slice begins; null where there is none. */
  next: string | null;
}

/** What may be rolled out, by the rings of a scope type. */
export interface RingsQuestion {
  /** Its tags are those of files, or the commits of drafts. */
  rolledOut: RolledOut;
  /** The drafts of it, which count as published. */
  drafts: readonly PublishedDraft[];
  scopeTypeId: string;
}

/** Nodes that are read at a time for a list. */
const SLICE = 1_000;

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
      const { rollouts } = await current.versions(rolledOut);
      if (!rollouts.some((rollout) => rollout.oid === oid)) return null;
      const givenTo = givenIn(current, question);
      const openedAt = record.steps.map(({ startedAt }) => Date.parse(startedAt ?? ''));
      const counts = record.steps.map(() => ({ ...NO_COUNTS }));
      const toNote: NodeToNote[] = [];
      const take = (nodeId: string, node: FleetNode, hasReported: boolean) => {
        const { takenAt, statusBefore } = node;
        const { step, parts } = givenTo(nodeId);
        const counted = step === null ? null : toCounted(node, openedAt[step] ?? 0);
        const isNews = takenAt !== null && (statusBefore === null || hasReported);
        if (isNews || step !== node.step)
          toNote.push({ toNote: [nodeId, takenAt, step, ...neededOf(rolledOut, parts)], counted });
        else if (counted) countNode(counts[step ?? -1] as RolloutCounts, counted);
      };
      const reading = readingRollout(rolledOut, question.seen, {
        givenTo: (nodeId) => givenTo(nodeId).parts,
        take,
      });
      const seen = await fleet().database.read(reading);
      for (let at = 0; at < toNote.length; at += PIECE) await send(toNote.slice(at, at + PIECE));
      return { counts, seen };
    },

    /** How many nodes of each ring would get the version if it were published and open to all; only rings with any. */
    ringCounts({ rolledOut, drafts, scopeTypeId }: RingsQuestion): Promise<[string | null, number][]> {
      return fleet().atOneMoment(async ({ snapshot, source }) => {
        const proposed = new ProposedVersions(source, { published: drafts, files: [] });
        const offers = await readOffers(fleet(), { snapshot, source: proposed });
        const partsFor = offers.givenOf(rolledOut, rolledOut);
        const ringOf = ringsIn(snapshot, scopeTypeId);
        const counts = new Map<string | null, number>();
        for (let at = 0; at < snapshot.size; at += 1)
          if (partsFor(at).length > 0) counts.set(ringOf(at), (counts.get(ringOf(at)) ?? 0) + 1);
        return [...counts];
      });
    },

    /** Nodes of the open steps by fqdn, as they were noted last. */
    async rolloutNodes({
      skip,
      take,
      ...question
    }: NodesQuestion & { skip: number; take: number }): Promise<NodesPage> {
      const chosen: [NotedNode, Outcome][] = [];
      let total = 0;
      for (let after: string | null = ''; after !== null; ) {
        const slice = await readSlice(fleet(), question, { after, take: SLICE });
        const from = Math.max(0, skip - total);
        chosen.push(...slice.found.slice(from, from + take - chosen.length));
        total += slice.found.length;
        after = slice.next;
      }
      return { rows: await shown(fleet(), chosen), total };
    },

    /** The same piece by piece: such nodes as are found among the next ones behind an fqdn. */
    async rolloutNodesSlice({
      after,
      take,
      ...question
    }: NodesQuestion & { after: string; take: number }): Promise<NodesSlice> {
      const { found, next } = await readSlice(fleet(), question, { after, take });
      return { rows: await shown(fleet(), found), next };
    },
  };
}

async function readSlice(
  { database }: Fleet,
  { rolledOut, openedAt, filter }: NodesQuestion,
  part: { after: string; take: number },
): Promise<{ found: [NotedNode, Outcome][]; next: string | null }> {
  const nodes = await database.read(readingNoted(rolledOut, part));
  const found = nodes
    .map((node): [NotedNode, Outcome] => [node, outcomeOf(toCounted(node, openedAt[node.step] ?? 0))])
    .filter(([{ step }, outcome]) => {
      if (filter.step !== undefined && filter.step !== step) return false;
      return filter.outcomes?.includes(outcome) ?? true;
    });
  return { found, next: nodes.length < part.take ? null : (nodes.at(-1)?.fqdn ?? null) };
}

async function shown({ database }: Fleet, nodes: readonly [NotedNode, Outcome][]): Promise<RolloutNode[]> {
  const numbers = nodes.flatMap(([{ reportSeq }]) => reportSeq ?? []);
  const faults = await database.read(readingFaults(numbers));
  return nodes.map(([{ nodeId, fqdn, step, statusBefore: before, report, reportSeq }, outcome]) => {
    const fault = faults.get(reportSeq ?? 0);
    const message = fault === undefined ? null : tellFault(fault);
    return { nodeId, fqdn, step, outcome, before, after: report?.status ?? null, message };
  });
}

/** What of a rollout is offered to a node, and the place of the open step that offers it; null where none does. */
interface GivenPart {
  step: number | null;
  parts: readonly string[];
}

const NOTHING_GIVEN: GivenPart = { step: null, parts: [] };

/** Tells what of a rollout is offered to a node. It is asked for one node after the other. */
function givenIn(offers: FleetOffers, { rolledOut, record }: RolloutQuestion): (nodeId: string) => GivenPart {
  const { snapshot } = offers;
  const ringOf = ringsIn(snapshot, record.scopeType.id);
  const partsFor = offers.givenOf(rolledOut, rolledOut);
  const find = (nodeId: string): GivenPart => {
    const at = snapshot.findPlace(nodeId);
    // One that is not known has come since the fleet was looked at.
    const parts = at === undefined ? [] : partsFor(at);
    if (at === undefined || parts.length === 0) return NOTHING_GIVEN;
    const step = openStepOf(record, { nodeId, ring: ringOf(at) });
    return { step: step < 0 ? null : step, parts };
  };
  let last: { nodeId: string; given: GivenPart } | null = null;
  return (nodeId) => {
    if (last?.nodeId !== nodeId) last = { nodeId, given: find(nodeId) };
    return last.given;
  };
}

/** What must be in the manifest that a report is of. One that is offered none of it may have taken some of it. */
function neededOf({ version }: RolledOut, parts: readonly string[]): [version: number, files: number] {
  if (parts.length === 0) return version === null ? [0, 1] : [1, 0];
  const hasVersion = parts.includes(THE_VERSION);
  return [Number(hasVersion), parts.length - Number(hasVersion)];
}

/** Tells the ring of the node at each place; null for one without a tag of the scope type. */
function ringsIn({ scopes, nodes }: FleetSnapshot, typeId: string): (at: number) => string | null {
  const rings = scopes.map(
    (links) => links.find(({ scopeTypeId }) => scopeTypeId === typeId)?.scopeValue ?? null,
  );
  return (at) => rings[nodes.scopesOf[at] ?? 0] ?? null;
}

function toCounted(
  { takenAt, statusBefore, report, mode, lastCall }: Omit<FleetNode, 'step'>,
  openedAt: number,
): CountedNode {
  const hasPolled = lastCall === null || lastCall >= openedAt;
  return { hasTaken: takenAt !== null, statusBefore, report, hasPolled, mode };
}
