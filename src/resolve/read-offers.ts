/** Reads what the fleet is offered in the state of one moment. */

import { CompositeReader } from './composites.ts';
import type { Fleet, Moment } from './fleet.ts';
import { FleetOffers } from './fleet-offers.ts';
import { ManifestMaker } from './manifest-maker.ts';
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
  { documents }: Fleet,
  { snapshot, source }: Moment,
  { parameters, keys }: OfferReaders = {
    parameters: new ParameterReader(source, documents, () => undefined),
    keys: new Map(),
  },
): Promise<FleetOffers> {
  const composites = new CompositeReader(source);
  const indexes = new ParameterReader(source, documents, () => undefined);
  const planner = new Planner(registryAt(snapshot), source, { composites, parameters: indexes });
  return FleetOffers.of(snapshot, {
    planner,
    composites,
    maker: new ManifestMaker(source, parameters),
    keys,
  });
}
