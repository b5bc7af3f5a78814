/** Makes a preview: what each node gets now, what it would get after some changes, and how these differ. */

import type { Send } from '../lib/threads.ts';
import type { VersionSource } from '../versions/version-source.ts';
import type { Fleet, Moment } from './fleet.ts';
import type { AssignedNames, FleetOffers } from './fleet-offers.ts';
import { GroupFactsMaker } from './group-facts.ts';
import { packGroups } from './kept-groups.ts';
import { ParameterReader } from './parameters.ts';
import { PreviewGroups, toShownGroup } from './preview-groups.ts';
import type {
  PreviewCounts,
  PreviewInput,
  PreviewNode,
  PreviewPiece,
  PreviewResult,
  Readable,
  ReadableNames,
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
  facts: GroupFactsMaker;
}

/** Milliseconds between two messages of how far it is. */
const PROGRESS = 250;
const GROUPS_AT_ONCE = 500;
const NODES_AT_ONCE = 1_000;

/**
 * @returns when all pieces were taken
 * @throws HawserError not_found if something is gone that the changes name, and what reading versions throws. Then no
 *   piece but counts was sent
 */
export async function makePreview(fleet: Fleet, input: PreviewInput, send: Send): Promise<PreviewResult> {
  const sides = await fleet.atOneMoment((moment) => readSides(fleet, moment, input.proposal));
  const groups = new PreviewGroups(sides, sides.facts);
  const sendPiece = (piece: PreviewPiece) => send(piece);
  await addNodes(groups, sides, input, (counts) => sendPiece({ kind: 'counts', counts: { ...counts } }));
  const ids = await sendGroups(groups, sides, sendPiece);
  await sendNodes(groups, sides, ids, sendPiece);
  return { counts: groups.counts, groupCount: groups.groups.length };
}

async function readSides(fleet: Fleet, moment: Moment, proposal: Proposal): Promise<Sides> {
  const { snapshot, source } = moment;
  const { documents } = fleet;
  const proposed = new ProposedVersions(source, proposal);
  // One reader merges the files of both sides, which are mostly the same.
  const parameters = new ParameterReader(proposed, documents, () => undefined);
  const readers = { parameters, keys: new Map<string, number>() };
  await requireTargets(snapshot, proposed, proposal);
  const before = await readOffers(fleet, moment, readers);
  const later = { snapshot: snapshot.with(proposal), source: proposed };
  const after = await readOffers(fleet, later, readers);
  const sideOf = (versions: VersionSource) => {
    return { schemas: new SchemaReader(versions, parameters, documents), parameters };
  };
  return { before, after, facts: new GroupFactsMaker(sideOf(source), sideOf(proposed), documents) };
}

/** Puts all nodes that are asked for, and that the caller may see, into groups. */
async function addNodes(
  groups: PreviewGroups,
  sides: Sides,
  { readable, nodeIds }: PreviewInput,
  report: (counts: PreviewCounts) => Promise<void>,
): Promise<void> {
  const { snapshot } = sides.before;
  const wanted = nodeIds && [...new Set(nodeIds.map((id) => snapshot.placeOf(id)))].sort((a, b) => a - b);
  const visible = visibleNodes(sides, readable, wanted ?? snapshot.nodes.nodeIds.keys());
  const { counts } = groups;
  counts.nodes = visible.length;
  counts.notVisible = (wanted?.length ?? snapshot.size) - visible.length;
  await report(counts);
  let reported = performance.now();
  for (const at of visible) {
    const added = wanted ? groups.addAlone(at) : groups.add(at);
    // Most nodes are added at once, and waiting costs more than that.
    if (added instanceof Promise) await added;
    if (performance.now() - reported < PROGRESS) continue;
    await report(counts);
    reported = performance.now();
  }
}

/** The places of the nodes of which the caller may read everything, before and after. */
function visibleNodes({ before, after }: Sides, readable: Readable, places: Iterable<number>): Int32Array {
  const known = new Map<AssignedNames | null, boolean>();
  const isReadable = (names: AssignedNames | null) => {
    const answer = known.get(names) ?? mayRead(readable, names);
    known.set(names, answer);
    return answer;
  };
  const visible: number[] = [];
  for (const at of places)
    if (isReadable(before.namesOf(at)) && isReadable(after.namesOf(at))) visible.push(at);
  return Int32Array.from(visible);
}

function mayRead({ configurations, composites, parameters }: Readable, names: AssignedNames | null): boolean {
  const has = (all: ReadableNames, name: string) => all === 'all' || all.has(name);
  if (names === null) return true;
  if (names.composite !== null && !has(composites, names.composite)) return false;
  return names.configurations.every((name) => has(configurations, name) && has(parameters, name));
}

/**
 * Sends the groups, those of most nodes first, then those whose first node comes first.
 * @returns the id of each group
 */
async function sendGroups(
  { groups }: PreviewGroups,
  { before, facts }: Sides,
  send: (piece: PreviewPiece) => Promise<void>,
): Promise<Int32Array> {
  const { nodes } = before.snapshot;
  const order = groups
    .map((group, index) => ({ group, index }))
    .sort((a, b) => b.group.nodeCount - a.group.nodeCount || firstOf(a.group) - firstOf(b.group));
  const ids = new Int32Array(groups.length);
  for (const [place, { index }] of order.entries()) ids[index] = place + 1;
  for (let from = 0; from < order.length; from += GROUPS_AT_ONCE) {
    const chunk = order.slice(from, from + GROUPS_AT_ONCE).map(({ group }) => group);
    const shown = chunk.map((group) => ({ shown: JSON.stringify(toShownGroup(group, nodes)) }));
    await send({
      kind: 'groups',
      groups: shown,
      packed: packGroups(chunk.map(({ facts: { kept } }) => kept)),
    });
  }
  await send({ kind: 'files', files: facts.keptFiles() });
  return ids;
}

const firstOf = ({ sample: [first = 0] }: { sample: number[] }) => first;

async function sendNodes(
  groups: PreviewGroups,
  { before }: Sides,
  ids: Int32Array,
  send: (piece: PreviewPiece) => Promise<void>,
): Promise<void> {
  const { nodeIds, fqdns } = before.snapshot.nodes;
  let nodes: PreviewNode[] = [];
  for (const [at, nodeId] of nodeIds.entries()) {
    const index = groups.indexOf(at);
    if (index === undefined) continue;
    const group = index === null ? null : groups.groups[index];
    const groupId = index === null ? null : (ids[index] as number);
    nodes.push({ nodeId, fqdn: fqdns[at] as string, groupId, change: group?.change ?? 'Unchanged' });
    if (nodes.length < NODES_AT_ONCE) continue;
    await send({ kind: 'nodes', nodes });
    nodes = [];
  }
  if (nodes.length > 0) await send({ kind: 'nodes', nodes });
}
