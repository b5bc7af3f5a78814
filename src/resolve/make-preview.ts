/** Makes a preview: what each node gets now, what it would get after some changes, and how these differ. */

import { internal } from '../lib/errors.ts';
import type { Send } from '../lib/threads.ts';
import { type Content, readerOf } from '../security/rights.ts';
import type { VersionSource } from '../versions/version-source.ts';
import { ContentSets } from './content-sets.ts';
import type { Delivery } from './delivery.ts';
import type { Fleet, Moment } from './fleet.ts';
import type { FleetOffers } from './fleet-offers.ts';
import { LinesWriter } from './kept-lines.ts';
import { ParameterReader } from './parameters.ts';
import { DetailsMaker } from './preview-details.ts';
import { GroupFactsMaker } from './preview-group-facts.ts';
import { type Group, PreviewGroups } from './preview-groups.ts';
import type {
  ContentOfNodes,
  KeptNode,
  OfferedVersion,
  PreviewInput,
  PreviewResult,
  ShownGroup,
} from './preview-types.ts';
import type { Proposal } from './proposal.ts';
import { ProposedVersions } from './proposed-versions.ts';
import { readOffers } from './read-offers.ts';
import { requireTargets } from './required-targets.ts';
import { SchemaReader } from './schemas.ts';

/** What the nodes get before and after the changes, and what tells the difference. */
interface Sides {
  before: FleetOffers;
  after: FleetOffers;
  /** What the nodes get on both sides, and the number of it for the node at a place. */
  contents: ContentSets;
  contentOf(at: number): number;
  facts: GroupFactsMaker;
  /** Reads the files of both sides. */
  parameters: ParameterReader;
}

/** Milliseconds between two messages of how far it is. */
const PROGRESS = 250;
/** So many nodes are put into groups at once. Their files are read at the same time. */
const NODES_TOGETHER = 64;
/** Memory for documents, and for merged ones, which are asked for once more soon after they were made. */
const CACHE_BYTES = { documents: 64 * 1024 * 1024, merged: 4 * 1024 * 1024 };
/** Details are kept of so many groups, the largest ones. */
const DETAILED = 200;

/**
 * @param send takes `PreviewCounts`, of which all but `nodes` and `notVisible` grow
 * @throws HawserError not_found if something is gone that the changes name, and what reading versions throws
 */
export async function makePreview(fleet: Fleet, input: PreviewInput, send: Send): Promise<PreviewResult> {
  const sides = await fleet.atOneMoment((moment) => readSides(fleet, moment, input.proposal));
  const { snapshot } = sides.before;
  const reset = [...(input.proposal.reset ?? [])].map((id) => snapshot.placeOf(id));
  const groups = new PreviewGroups(sides, sides.contentOf, new Set(reset));
  await addNodes(groups, sides, input, send);
  const all = groups.list();
  const order = all.map((_group, number) => number).sort((a, b) => compareGroups(all[a], all[b]));
  const details = new DetailsMaker(fleet);
  const kept = {
    groups: await keepGroups(groups, sides, { all, order }, { details, isNarrowed: input.nodeIds !== null }),
    nodes: keepNodes(groups, sides, { all, order }),
    details: details.end(),
  };
  const contents = JSON.stringify(contentsOf(groups, sides, all));
  return { counts: groups.counts, groupCount: all.length, contents, columns: kept };
}

async function readSides(fleet: Fleet, moment: Moment, proposal: Proposal): Promise<Sides> {
  const { snapshot, source } = moment;
  const { documents, entryPoints } = fleet;
  const proposed = new ProposedVersions(source, proposal);
  // One reader merges the files of both sides, which are mostly the same.
  const parameters = new ParameterReader(proposed, fleet, () => undefined, CACHE_BYTES);
  const readers = { parameters, keys: new Map<string, number>() };
  await requireTargets(snapshot, proposed, proposal);
  const before = await readOffers(fleet, moment, readers);
  const later = { snapshot: snapshot.with(proposal), source: proposed };
  const after = await readOffers(fleet, later, readers);
  const sideOf = (versions: VersionSource) => {
    return { schemas: new SchemaReader(versions, { parameters, documents, entryPoints }), parameters };
  };
  const facts = new GroupFactsMaker(sideOf(source), sideOf(proposed), documents);
  const contents = new ContentSets(before.snapshot);
  const givenBy = (offers: FleetOffers, at: number) => ({
    names: offers.namesOf(at),
    scopes: offers.scopesFor(at),
  });
  // Nodes that have files of their own share nothing by which a number is found at once.
  const numbers = new Int32Array(before.snapshot.size).fill(-1);
  const contentOf = (at: number) => {
    if (numbers[at] === -1) numbers[at] = contents.numberOf(givenBy(before, at), givenBy(after, at));
    return numbers[at] ?? 0;
  };
  return { before, after, contents, contentOf, facts, parameters };
}

/** Puts all nodes that are asked for, and that the caller may see, into groups. */
async function addNodes(
  groups: PreviewGroups,
  sides: Sides,
  { readable, nodeIds }: PreviewInput,
  send: Send,
): Promise<void> {
  const { snapshot } = sides.before;
  const wanted = nodeIds && [...new Set(nodeIds.map((id) => snapshot.placeOf(id)))];
  const visible = visibleNodes(sides, readable, wanted ?? snapshot.nodes.nodeIds.keys());
  const { counts } = groups;
  counts.nodes = visible.length;
  counts.notVisible = (wanted?.length ?? snapshot.size) - visible.length;
  const report = () => send({ ...counts });
  await report();
  if (wanted) for (const at of visible) await groups.addAlone(at);
  else {
    let reported = performance.now();
    for (let from = 0; from < visible.length; from += NODES_TOGETHER) {
      const places = visible.subarray(from, from + NODES_TOGETHER);
      await groups.add(places, (added) => readFiles(sides, added));
      if (performance.now() - reported < PROGRESS) continue;
      await report();
      reported = performance.now();
    }
  }
}

/** Reads the files of some nodes at the same time, because each of them waits for the disk several times. */
async function readFiles({ before, after, parameters }: Sides, places: readonly number[]): Promise<void> {
  const reading: Promise<unknown>[] = [];
  for (const at of places) {
    for (const { name, file } of [...before.filesFor(at), ...after.filesFor(at)]) {
      const source = parameters.source(name, file);
      if (source instanceof Promise) reading.push(source);
    }
  }
  // What cannot be read is an error of the nodes that need it.
  await Promise.allSettled(reading);
}

/** The places of the nodes of which the caller may read everything, before and after. */
function visibleNodes(
  { contents, contentOf }: Sides,
  readable: PreviewInput['readable'],
  places: Iterable<number>,
): Int32Array {
  const mayRead = readerOf(readable);
  const known = new Map<number, boolean>();
  const visible: number[] = [];
  for (const at of places) {
    const content = contentOf(at);
    const answer = known.get(content) ?? mayRead(contents.all[content] as Content);
    known.set(content, answer);
    if (answer) visible.push(at);
  }
  return Int32Array.from(visible);
}

/** What the nodes that the caller sees are made of, and how many there are of each. */
function contentsOf(
  groups: PreviewGroups,
  { contents, contentOf, before }: Sides,
  all: readonly Group[],
): ContentOfNodes[] {
  const counted = contents.all.map((content) => ({
    ...content,
    ...{ changed: 0, unchanged: 0, unresolvable: 0, groups: 0 },
  }));
  for (let at = 0; at < before.snapshot.size; at += 1) {
    const change = groups.changeOf(at);
    const of = change && counted[contentOf(at)];
    if (of === undefined) continue;
    if (change === 'Changed') of.changed += 1;
    else if (change === 'Unresolvable') of.unresolvable += 1;
    else of.unchanged += 1;
  }
  for (const { content } of all) {
    const of = counted[content];
    if (of) of.groups += 1;
  }
  return counted;
}

/** All groups by their numbers, and the numbers in the order of the answers. */
interface Ordered {
  all: readonly Group[];
  order: readonly number[];
}

/** Those of most nodes come first, then those whose first node comes first. */
function compareGroups(a: Group | undefined, b: Group | undefined): number {
  const firstOf = (group: Group | undefined) => group?.sample[0] ?? 0;
  return (b?.nodeCount ?? 0) - (a?.nodeCount ?? 0) || firstOf(a) - firstOf(b);
}

/**
 * Keeps what there is to tell of each group. It is made of what the group's first node gets, which is made once more: to
 * hold it for every group would take more memory than a preview may have.
 */
async function keepGroups(
  groups: PreviewGroups,
  { before, facts }: Sides,
  { all, order }: Ordered,
  { details, isNarrowed }: { details: DetailsMaker; isNarrowed: boolean },
): Promise<Buffer> {
  const lines = new LinesWriter();
  const { nodeIds, fqdns } = before.snapshot.nodes;
  for (const [place, number] of order.entries()) {
    const { nodeCount, sample, change, content } = all[number] as Group;
    const difference = await groups.differenceAt(sample[0] as number);
    if (difference.change !== change)
      throw internal('repository_damaged', 'What a group of nodes gets cannot be read any more');
    const sides = await facts.sidesOf(difference.before, difference.after);
    const { error } = difference;
    const shown: ShownGroup = {
      nodeCount,
      sampleNodes: sample.map((at) => ({ nodeId: nodeIds[at] as string, fqdn: fqdns[at] as string })),
      ...{ change, content, before: offered(difference.before), after: offered(difference.after) },
      ...(await facts.factsOf(sides)),
      ...{ code: error?.code ?? null, message: error?.message ?? null },
      details: place < DETAILED ? await details.keep(sides, isNarrowed) : null,
    };
    lines.add(JSON.stringify(shown));
  }
  return lines.end();
}

function offered(delivery: Delivery | null): OfferedVersion | null {
  if (delivery === null) return null;
  const { configurationName, version, checksum } = delivery.manifest;
  return { configurationName, version, checksum };
}

function keepNodes(groups: PreviewGroups, { before, contentOf }: Sides, { all, order }: Ordered): Buffer {
  const lines = new LinesWriter();
  const ids = new Int32Array(all.length);
  for (const [place, number] of order.entries()) ids[number] = place + 1;
  const { nodeIds, fqdns } = before.snapshot.nodes;
  for (const [at, nodeId] of nodeIds.entries()) {
    const [number, change] = [groups.numberOf(at), groups.changeOf(at)];
    if (number === undefined || change === undefined) continue;
    const groupId = number === null ? null : (ids[number] as number);
    const node: KeptNode = [nodeId, fqdns[at] as string, groupId, change, contentOf(at)];
    lines.add(JSON.stringify(node));
  }
  return lines.end();
}
