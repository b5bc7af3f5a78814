/** Reads what the fleet is offered in the state of one moment. */

import { readingHolders, readingParts } from '../db/read-holders.ts';
import type { RolloutRecord } from '../domain/rollout.ts';
import { hasTaken } from '../domain/rollout-holder.ts';
import type { Awaitable } from '../lib/awaitable.ts';
import { CompositeReader } from './composites.ts';
import type { Fleet, Moment } from './fleet.ts';
import { FleetOffers } from './fleet-offers.ts';
import type { OfferTools, Takers } from './fleet-plans.ts';
import { ManifestMaker } from './manifest-maker.ts';
import { OPEN_TO_ANYONE } from './open-versions.ts';
import { ParameterReader } from './parameters.ts';
import { Planner } from './plans.ts';
import { registryAt } from './registry.ts';
import { SchemaReader } from './schemas.ts';

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
    schemas: new SchemaReader(source, {
      parameters: indexes,
      documents: fleet.documents,
      entryPoints: fleet.entryPoints,
    }),
    // The nodes are asked one by one, by what the snapshot knows of them.
    openness: { of: () => OPEN_TO_ANYONE },
  });
  const maker = new ManifestMaker(source, parameters);
  return FleetOffers.of(snapshot, { source, planner, maker, keys, takersOf: takersIn(fleet) });
}

/** Who has taken what is read once. It may be newer than the snapshot, as what a node has taken may be at any time. */
function takersIn({ database }: Fleet): OfferTools['takersOf'] {
  const known = new Map<string, Awaitable<Takers>>();
  const ofVersion = async (named: { kind: string; name: string }, version: string): Promise<Takers> => {
    const holders = await database.read(readingHolders(named, version));
    return (nodeId) => holders.has(nodeId);
  };
  const ofFiles = async (name: string, record: RolloutRecord): Promise<Takers> => {
    const parts = await database.read(readingParts(name));
    return (nodeId, scopes) => hasTaken(parts.get(nodeId), record, scopes);
  };
  return ({ kind, name }, record) => {
    const { key: rollout, version, parameters } = record;
    const key = `${kind}/${name} ${rollout}`;
    const isOfVersion = version !== null && parameters.length === 0;
    const takers =
      known.get(key) ?? (isOfVersion ? ofVersion({ kind, name }, version) : ofFiles(name, record));
    known.set(key, takers);
    return takers;
  };
}
