/** What nodes get is made of configurations and composites. Few lists of these are different, so each has a number. */

import type { FleetSnapshot } from '../db/fleet-snapshot.ts';
import { entryOf } from '../lib/entry-of.ts';
import type { Content } from '../security/rights.ts';
import type { AssignedNames } from './fleet-plans.ts';

/** What is assigned to a node, and the keys of the scopes whose files it gets. */
interface Given {
  names: AssignedNames | null;
  scopes: readonly string[];
}

/** Numbers by objects that nodes share. */
type Known<K> = Map<K, Map<K, number>>;

export class ContentSets {
  /** The place of each in this list is its number. */
  readonly all: Content[] = [];
  private readonly configurations: ReadonlyMap<string, string>;
  private readonly composites: ReadonlyMap<string, string>;
  /** Nodes of the same assignment share the object with its names, and of the same tags that with the keys. */
  private readonly known: Known<AssignedNames | readonly string[] | null> = new Map();
  private readonly numbers = new Map<string, number>();

  constructor({ registry }: FleetSnapshot) {
    this.configurations = new Map([...registry.configurations].map(([id, { name }]) => [name, id]));
    this.composites = new Map([...registry.composites].map(([id, name]) => [name, id]));
  }

  /** The number of what a node gets before and after, together. */
  numberOf(before: Given, after: Given): number {
    const [one, other] = [before, after].map(({ names, scopes }) => (scopes.length > 0 ? scopes : names));
    const beside = entryOf(this.known, one ?? null, () => new Map());
    return entryOf(beside, other ?? null, () => this.find(before, after));
  }

  private find(...given: readonly Given[]): number {
    const names = given.flatMap((each) => each.names ?? []);
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
      scopes: [...new Set(given.flatMap(({ scopes }) => scopes))].sort(),
    };
    const key = JSON.stringify(content);
    const known = this.numbers.get(key);
    if (known !== undefined) return known;
    this.numbers.set(key, this.all.length);
    return this.all.push(content) - 1;
  }
}
