/** What the withdrawal of a version would mean: which nodes would get another version, and who keeps it by a pin. */

import type { RepositoryRef } from '../versions/store.ts';
import { ONLY_SERIES } from '../versions/types.ts';
import { CompositeReader } from './composites.ts';
import type { Fleet } from './fleet.ts';
import type { FleetOffers } from './fleet-offers.ts';
import { FrozenVersions } from './frozen-versions.ts';
import { type ProposedOffer, ProposedVersions } from './proposed-versions.ts';
import { type Reached, type ReachedNode, waysOf } from './reached-nodes.ts';
import { readOffers } from './read-offers.ts';

export interface WithdrawalEffect {
  /** The number of nodes that are offered the version now and would get another one: the sum of the next two. */
  nodes: number;
  direct: number;
  viaComposites: number;
  /** What these nodes would get instead, the highest version first; null, which comes last, is nothing. */
  wouldGet: { version: string | null; nodes: number }[];
  /** The number of nodes that keep it, because an exact version holds it, and the first of them by fqdn. */
  pinned: number;
  pinnedNodes: { nodeId: string; fqdn: string }[];
  /** The versions of composites that are pinned to it, drafts too, by name and then the highest version first. */
  pinnedBy: { compositeName: string; version: string }[];
}

/** What the withdrawal of a parameter file would mean. Nothing pins a file, so each node that gets it loses it. */
export type FileWithdrawalEffect = Pick<WithdrawalEffect, 'nodes' | 'direct' | 'viaComposites' | 'wouldGet'>;

/** The published version that is to be withdrawn. */
export interface WithdrawnVersion {
  repository: RepositoryRef;
  version: string;
}

/** The published parameter file that is to be withdrawn. */
export interface WithdrawnFile {
  /** The name of the configuration. */
  name: string;
  /** The name of the series, as `seriesOf` gives it. */
  series: string;
  version: string;
}

/** Pinned nodes that are named. */
const NAMED = 20;

/** @param now what the fleet is offered, and whom the configuration or composite reaches */
export async function effectOfWithdrawal(
  fleet: Fleet,
  { offers, reached }: { offers: FleetOffers; reached: Reached },
  withdrawn: WithdrawnVersion,
): Promise<WithdrawalEffect> {
  const { repository, version } = withdrawn;
  const holders = reached.nodes.filter(({ offered }) => offered?.version === version);
  const following = holders.filter(({ isPinned }) => !isPinned);
  const { direct, viaComposites, pinned } = waysOf(holders, version);
  return {
    nodes: following.length,
    ...{ direct, viaComposites, pinned },
    wouldGet: await nextVersions(fleet, offers, withdrawn, following),
    pinnedNodes: holders
      .filter(({ isPinned }) => isPinned)
      .slice(0, NAMED)
      .map(({ nodeId, fqdn }) => ({ nodeId, fqdn })),
    pinnedBy: repository.kind === 'configurations' ? await listPins(fleet, withdrawn) : [],
  };
}

/** @param reached the nodes of all versions of the configuration */
export async function effectOfFileWithdrawal(
  fleet: Fleet,
  { offers, reached }: { offers: FleetOffers; reached: Reached },
  { name, series, version }: WithdrawnFile,
): Promise<FileWithdrawalEffect> {
  const { snapshot } = offers;
  const givenIn = (source: FleetOffers) => (nodeId: string) => {
    const files = source.filesFor(snapshot.placeOf(nodeId));
    return files.find((each) => each.name === name && each.file.series === series)?.file.version ?? null;
  };
  const given = givenIn(offers);
  const holders = reached.nodes.filter((node) => node.offered !== null && given(node.nodeId) === version);
  const direct = holders.filter(({ via }) => via === null).length;
  const after = await offersWithout(fleet, offers, { kind: 'parameters', name, series, version });
  const { versions } = (await after.source.parameters.index(name)).of(series);
  return {
    ...{ nodes: holders.length, direct, viaComposites: holders.length - direct },
    wouldGet: countByVersion(holders, versions, givenIn(after.offers)),
  };
}

async function nextVersions(
  fleet: Fleet,
  offers: FleetOffers,
  { repository, version }: WithdrawnVersion,
  following: readonly ReachedNode[],
): Promise<WithdrawalEffect['wouldGet']> {
  const after = await offersWithout(fleet, offers, { ...repository, series: ONLY_SERIES, version });
  const wayTo = after.offers.waysTo(repository);
  const { versions } = await after.source.versions(repository);
  return countByVersion(
    following,
    versions,
    (nodeId) => wayTo(offers.snapshot.placeOf(nodeId))?.version ?? null,
  );
}

/** What the same nodes would be offered without a version. */
async function offersWithout(
  fleet: Fleet,
  { snapshot }: FleetOffers,
  { kind, name, series, version }: Omit<ProposedOffer, 'isOffered'>,
) {
  const offers = [{ kind, name, series, version, isOffered: false }];
  const source = new ProposedVersions(new FrozenVersions(fleet.store), { published: [], files: [], offers });
  return { source, offers: await readOffers(fleet, { snapshot, source }) };
}

/** @param versions the highest first */
function countByVersion(
  nodes: readonly ReachedNode[],
  versions: readonly { version: string }[],
  versionFor: (nodeId: string) => string | null,
): WithdrawalEffect['wouldGet'] {
  const counts = new Map<string | null, number>();
  for (const { nodeId } of nodes) {
    const next = versionFor(nodeId);
    counts.set(next, (counts.get(next) ?? 0) + 1);
  }
  return [...versions.map((ref) => ref.version), null].flatMap((version) => {
    const count = counts.get(version);
    return count === undefined ? [] : { version, nodes: count };
  });
}

async function listPins(
  fleet: Fleet,
  { repository: { name }, version: pinned }: WithdrawnVersion,
): Promise<WithdrawalEffect['pinnedBy']> {
  const pins: WithdrawalEffect['pinnedBy'] = [];
  for await (const { compositeName, version, document } of new CompositeReader(fleet.store).versions()) {
    if (document.children.some((child) => child.configuration === name && child.version === pinned))
      pins.push({ compositeName, version });
  }
  return pins;
}
