/** Reads what the fleet is offered in the state of one moment. */

import { readingHolders } from '../db/read-holders.ts';
import type { Awaitable } from '../lib/awaitable.ts';
import { CompositeReader } from './composites.ts';
import type { Fleet, Moment } from './fleet.ts';
import { FleetOffers } from './fleet-offers.ts';
import type { OfferTools } from './fleet-plans.ts';
import { ManifestMaker } from './manifest-maker.ts';
import { OPEN_TO_ANYONE } from './open-versions.ts';
import { ParameterReader } from './parameters.ts';
import { Planner } from './plans.ts';
import { registryAt } from './registry.ts';

export interface OfferReaders {
  /** Merges the files. It may read from another source, as long as it finds the same objects. */
  parameters: ParameterReader;
  /** Offers that were read with the same map have keys that can be compared. */
  keys: Map<string, number>;
}

/** To be called in `Fleet.atOneMoment`. The outcomes of nodes may be asked for later. */
export function readOffers(
  fleet: Fleet,
  { snapshot, source }: Moment,
  { parameters, keys }: OfferReaders = {
    parameters: new ParameterReader(source, fleet),
    keys: new Map(),
  },
): Promise<FleetOffers> {
  const composites = new CompositeReader(source);
  const indexes = new ParameterReader(source, fleet);
  const planner = new Planner(registryAt(snapshot), source, {
    ...{ composites, parameters: indexes },
    // The nodes are asked one by one, by what the snapshot knows of them.
    openness: { of: () => OPEN_TO_ANYONE },
  });
  const maker = new ManifestMaker(source, parameters);
  return FleetOffers.of(snapshot, { source, planner, maker, keys, takersOf: takersIn(fleet) });
}

/** Who has taken a version is read once. It may be newer than the snapshot, as what a node has taken may be at any time. */
function takersIn({ database }: Fleet): OfferTools['takersOf'] {
  const known = new Map<string, Awaitable<ReadonlySet<string>>>();
  return ({ kind, name }, version) => {
    const key = `${kind}/${name} ${version}`;
    const takers = known.get(key) ?? database.read(readingHolders({ kind, name }, version));
    known.set(key, takers);
    return takers;
  };
}
