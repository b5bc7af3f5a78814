/** What the withdrawal of a version would mean: which nodes would get another version, and who keeps it by a pin. */

import type { RepositoryRef } from '../versions/store.ts';
import { CompositeReader } from './composites.ts';
import type { Fleet } from './fleet.ts';
import type { FleetOffers } from './fleet-offers.ts';
import { FrozenVersions } from './frozen-versions.ts';
import { ProposedVersions } from './proposed-versions.ts';
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

/** The published version that is to be withdrawn. */
export interface WithdrawnVersion {
  repository: RepositoryRef;
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
    wouldGet: following.length === 0 ? [] : await nextVersions(fleet, offers, withdrawn, following),
    pinnedNodes: holders
      .filter(({ isPinned }) => isPinned)
      .slice(0, NAMED)
      .map(({ nodeId, fqdn }) => ({ nodeId, fqdn })),
    pinnedBy: repository.kind === 'configurations' ? await listPins(fleet, withdrawn) : [],
  };
}

async function nextVersions(
  fleet: Fleet,
  { snapshot }: FleetOffers,
  withdrawn: WithdrawnVersion,
  following: readonly ReachedNode[],
): Promise<WithdrawalEffect['wouldGet']> {
  const { repository, version: without } = withdrawn;
  const offers = [{ ...repository, version: without, isOffered: false }];
  const source = new ProposedVersions(new FrozenVersions(fleet.store), { published: [], files: [], offers });
  const wayTo = (await readOffers(fleet, { snapshot, source })).waysTo(repository);
  const counts = new Map<string | null, number>();
  for (const { nodeId } of following) {
    const next = wayTo(snapshot.placeOf(nodeId))?.version ?? null;
    counts.set(next, (counts.get(next) ?? 0) + 1);
  }
  const { versions } = await source.versions(repository);
  const order = [...versions.map((ref) => ref.version), null];
  return order.flatMap((version) => {
    const nodes = counts.get(version);
    return nodes === undefined ? [] : { version, nodes };
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
