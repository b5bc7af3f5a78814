/** What the fleet is offered now. It is read once for each state of the fleet, so asking again costs little. */

import { readingRunningGeneration } from '../db/read-running.ts';
import type { Fleet } from './fleet.ts';
import type { FleetOffers } from './fleet-offers.ts';
import { ParameterReader } from './parameters.ts';
import { readOffers } from './read-offers.ts';

export class CurrentOffers {
  private readonly fleet: Fleet;
  /** Files are merged once, as long as they are remembered: what an object id stands for never changes. */
  private readonly parameters: ParameterReader;
  /** Null where they must be read anew, whatever the position. */
  private offers: FleetOffers | null = null;
  /** What nodes run had this generation when the offers were read, and the keys of secrets that one. */
  private readAt = 0;
  private keysAt = 0;

  constructor(fleet: Fleet) {
    this.fleet = fleet;
    this.parameters = new ParameterReader(fleet.store, fleet);
  }

  /** @throws HawserError as `Fleet.atOneMoment` */
  async read(): Promise<FleetOffers> {
    const { generation, lastChange } = await this.fleet.position();
    const running = await this.runningGeneration();
    const at = this.offers?.snapshot.registry.position;
    // What a node has taken may decide what it is offered.
    const isRunning = !this.offers?.asksTaken || this.readAt === running;
    const { generation: keys } = this.fleet.documents.keys;
    if (this.keysAt !== keys) this.offers = null;
    this.keysAt = keys;
    if (this.offers && isRunning && at?.generation === generation && at.lastChange === lastChange)
      return this.offers;
    this.readAt = running;
    const readers = { parameters: this.parameters, keys: new Map<string, number>() };
    this.offers = await this.fleet.atOneMoment((moment) => readOffers(this.fleet, moment, readers));
    return this.offers;
  }

  /** Lets them be read anew, whatever the position. */
  forget(): void {
    this.offers = null;
  }

  async runningGeneration(): Promise<number> {
    return this.fleet.database.read(readingRunningGeneration());
  }
}
