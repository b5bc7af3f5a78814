/** What nodes get is made of configurations and composites. Few lists of these are different, so each has a number. */

import type { FleetSnapshot } from '../db/fleet-snapshot.ts';
import type { Content } from '../security/rights.ts';
import type { AssignedNames } from './fleet-plans.ts';

type Names = AssignedNames | null;

export class ContentSets {
  /** The place of each in this list is its number. */
  readonly all: Content[] = [];
  private readonly configurations: ReadonlyMap<string, string>;
  private readonly composites: ReadonlyMap<string, string>;
  /** Nodes of the same assignment share the object with its names. */
  private readonly known = new Map<Names, Map<Names, number>>();
  private readonly numbers = new Map<string, number>();

  constructor({ registry }: FleetSnapshot) {
    this.configurations = new Map([...registry.configurations].map(([id, { name }]) => [name, id]));
    this.composites = new Map([...registry.composites].map(([id, name]) => [name, id]));
  }

  /** The number of what a node gets before and after, together. */
  numberOf(before: Names, after: Names): number {
    const beside = this.known.get(before) ?? new Map<Names, number>();
    this.known.set(before, beside);
    const number = beside.get(after) ?? this.find(before, after);
    beside.set(after, number);
    return number;
  }

  private find(before: Names, after: Names): number {
    const names = [before, after].flatMap((each) => each ?? []);
    const idsOf = (ids: ReadonlyMap<string, string>, all: readonly (string | null)[]) =>
      [...new Set(all.flatMap((name) => (name === null ? [] : [ids.get(name) ?? null])))].sort();
    const content = {
      composites: idsOf(
        this.composites,
        names.map(({ composite }) => composite),
      ),
      configurations: idsOf(
        this.configurations,
        names.flatMap(({ configurations }) => configurations),
      ),
    };
    const key = JSON.stringify(content);
    const known = this.numbers.get(key);
    if (known !== undefined) return known;
    this.numbers.set(key, this.all.length);
    return this.all.push(content) - 1;
  }
}
