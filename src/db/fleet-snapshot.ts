/**
 * All nodes at one moment, with what decides what each of them gets: its assignment and its scopes. Nodes are columns, by
 * fqdn, and what many nodes share is there once, so that 100,000 nodes take some 30 MB.
 */

import { notFound } from '../lib/errors.ts';
import { type Assignment, keyOfAssignment, type ScopeLink } from './node-lookup.ts';

/** What is proposed for nodes, by their ids. */
export interface NodeChanges {
  /** Null means that nothing is assigned any more. */
  assignments: ReadonlyMap<string, Assignment | null>;
  /** The value of each scope type that changes, by ids. Null means that the node has none any more. */
  tags: ReadonlyMap<string, ReadonlyMap<string, string | null>>;
  /** The ids of all scope types in another order of merging. Null or absent leaves the order as it is. */
  scopeOrder?: readonly string[] | null;
  /** Whether the server manages the parameters of a configuration, by the ids of those for which this changes. */
  managed?: ReadonlyMap<string, boolean>;
  /** The same of whether variables in its parameters are replaced. */
  replacing?: ReadonlyMap<string, boolean>;
}

/** A configuration as the registry has it. */
export interface KnownConfiguration {
  id: string;
  name: string;
  usesParameters: boolean;
  /** Whether a repository of parameters was ever made. */
  hasParameters: boolean;
  /** Whether variables in its parameters are replaced. */
  hasVariables: boolean;
}

/** The state of the database to which a snapshot belongs. */
export interface SnapshotPosition {
  generation: number;
  /** The number of the newest change of the change feed. */
  lastChange: number;
}

/** What is in a snapshot beside the nodes. */
export interface SnapshotRegistry {
  position: SnapshotPosition;
  /** The key is the id. */
  configurations: ReadonlyMap<string, KnownConfiguration>;
  /** The names of composites by id. */
  composites: ReadonlyMap<string, string>;
  /** The enabled scope types in the order of merging, as links without a value. */
  scopeTypes: readonly ScopeLink[];
  /** The links of all values of enabled scope types, by the ids of the values. */
  values: ReadonlyMap<string, ScopeLink>;
}

export interface SnapshotNodes {
  nodeIds: readonly string[];
  /** The names are sorted. */
  fqdns: readonly string[];
  /** The names of nodes that others had before them, which were deleted. */
  succeeded: ReadonlySet<string>;
  /** The place of each node's assignment among the distinct ones; -1 where nothing is assigned. */
  assignmentOf: Int32Array;
  /** The place of each node's scopes among the distinct ones. */
  scopesOf: Int32Array;
}

/** Values that are kept once, in the order in which they came. */
export class Distinct<V> {
  readonly values: V[];
  private readonly places: Map<string, number>;

  constructor(from?: Distinct<V>) {
    this.values = from ? [...from.values] : [];
    this.places = new Map(from?.places);
  }

  /** The place of the value under this key. A new value gets the next place. */
  place(key: string, make: () => V): number {
    const known = this.places.get(key);
    if (known !== undefined) return known;
    const place = this.values.length;
    this.values.push(make());
    this.places.set(key, place);
    return place;
  }
}

export class FleetSnapshot {
  readonly nodes: SnapshotNodes;
  readonly registry: SnapshotRegistry;
  private readonly distinct: { assignments: Distinct<Assignment>; scopes: Distinct<readonly ScopeLink[]> };
  private places: Map<string, number> | undefined;

  constructor(registry: SnapshotRegistry, nodes: SnapshotNodes, distinct: FleetSnapshot['distinct']) {
    this.registry = registry;
    this.nodes = nodes;
    this.distinct = distinct;
  }

  /** The number of nodes. */
  get size(): number {
    return this.nodes.nodeIds.length;
  }

  /** The distinct assignments. `nodes.assignmentOf` has places in this list. */
  get assignments(): readonly Assignment[] {
    return this.distinct.assignments.values;
  }

  /**
   * The distinct lists of scopes in the order of merging, without the names of nodes. `nodes.scopesOf` has places in this
   * list.
   */
  get scopes(): readonly (readonly ScopeLink[])[] {
    return this.distinct.scopes.values;
  }

  /** The place of a node. @throws HawserError not_found if there is no such node */
  placeOf(nodeId: string): number {
    const place = this.findPlace(nodeId);
    if (place === undefined) throw notFound(`There is no node ${nodeId} any more`);
    return place;
  }

  /** The place of a node; undefined if there is no such node. */
  findPlace(nodeId: string): number | undefined {
    this.places ??= new Map(this.nodes.nodeIds.map((id, at) => [id, at]));
    return this.places.get(nodeId);
  }

  /**
   * The snapshot as it would be after the changes. What was distinct before keeps its place.
   * @throws HawserError not_found for a node or a scope value that is not there
   */
  with({ assignments, tags, scopeOrder, managed, replacing }: NodeChanges): FleetSnapshot {
    const configurations = new Map(this.registry.configurations);
    const change = (id: string, members: Partial<KnownConfiguration>) => {
      const known = configurations.get(id);
      if (known) configurations.set(id, { ...known, ...members });
    };
    for (const [id, usesParameters] of managed ?? []) change(id, { usesParameters });
    for (const [id, hasVariables] of replacing ?? []) change(id, { hasVariables });
    if ((managed?.size ?? 0) + (replacing?.size ?? 0) > 0)
      return new FleetSnapshot({ ...this.registry, configurations }, this.nodes, this.distinct).with({
        ...{ assignments, tags, scopeOrder: scopeOrder ?? null },
      });
    if (scopeOrder) return this.reordered(scopeOrder).with({ assignments, tags });
    const distinct = {
      assignments: new Distinct(this.distinct.assignments),
      scopes: new Distinct(this.distinct.scopes),
    };
    const assignmentOf = this.nodes.assignmentOf.slice();
    for (const [nodeId, assignment] of assignments)
      assignmentOf[this.placeOf(nodeId)] = placeOfAssignment(distinct.assignments, assignment);
    const scopesOf = this.nodes.scopesOf.slice();
    for (const [nodeId, changes] of tags) {
      const at = this.placeOf(nodeId);
      const links = this.retagged(this.scopes[scopesOf[at] ?? 0] ?? [], changes);
      scopesOf[at] = placeOfScopes(distinct.scopes, links);
    }
    return new FleetSnapshot(this.registry, { ...this.nodes, assignmentOf, scopesOf }, distinct);
  }

  /** The snapshot with the scope types in another order. Lists of scopes that it changes get places of their own. */
  private reordered(order: readonly string[]): FleetSnapshot {
    const places = new Map(order.map((id, precedence) => [id, precedence]));
    const moved = (links: readonly ScopeLink[]) =>
      links
        .map((link) => ({ ...link, precedence: places.get(link.scopeTypeId) ?? link.precedence }))
        .sort((a, b) => a.precedence - b.precedence);
    const values = new Map<string, ScopeLink>();
    for (const [id, link] of this.registry.values) values.set(id, moved([link])[0] ?? link);
    const scopes = new Distinct(this.distinct.scopes);
    const placeOf = this.scopes.map((links) => placeOfScopes(scopes, moved(links)));
    const scopesOf = this.nodes.scopesOf.map((place) => placeOf[place] ?? place);
    const registry = { ...this.registry, scopeTypes: moved(this.registry.scopeTypes), values };
    return new FleetSnapshot(registry, { ...this.nodes, scopesOf }, { ...this.distinct, scopes });
  }

  private retagged(links: readonly ScopeLink[], changes: ReadonlyMap<string, string | null>): ScopeLink[] {
    const { scopeTypes, values } = this.registry;
    const known = new Map(links.map((link) => [link.scopeTypeId, link]));
    for (const [typeId, valueId] of changes) {
      known.delete(typeId);
      if (valueId === null || !scopeTypes.some(({ scopeTypeId }) => scopeTypeId === typeId)) continue;
      const link = values.get(valueId);
      if (link === undefined) throw notFound(`There is no scope value ${valueId} any more`);
      known.set(typeId, link);
    }
    return scopeTypes.flatMap(({ scopeTypeId }) => known.get(scopeTypeId) ?? []);
  }
}

export function placeOfAssignment(distinct: Distinct<Assignment>, assignment: Assignment | null): number {
  return assignment === null ? -1 : distinct.place(keyOfAssignment(assignment), () => assignment);
}

export function placeOfScopes(distinct: Distinct<readonly ScopeLink[]>, links: readonly ScopeLink[]): number {
  // One text, because one that is put together with `+` is kept as all of its parts.
  const key = links.map(({ scopeTypeId, scopeValueId }) => `${scopeTypeId} ${scopeValueId ?? ''}`).join();
  // The copy has no room for more links.
  return distinct.place(key, () => links.slice());
}
