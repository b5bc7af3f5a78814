/**
 * Which versions are open to a node. A version that rolls out is open to some nodes alone, so what an assignment gives may
 * be another thing for each node. Where nothing rolls out, nothing is asked.
 */

import type { Database } from '../db/database.ts';
import type { AskedNode, ScopeLink } from '../db/node-lookup.ts';
import { type Held, holds, readHeld } from '../db/read-holders.ts';
import { opennessFor, type RolloutRecord } from '../domain/rollout.ts';
import { chooseVersion, type VersionConstraint } from '../domain/version-choice.ts';
import { type Awaitable, andThen } from '../lib/awaitable.ts';
import type { RepositoryRef, VersionIndex, VersionRef } from '../versions/store.ts';
import type { RolloutRef } from '../versions/types.ts';

export type RollingRef = VersionRef & { rollout: RolloutRef };

/** Whether a version that rolls out is open to one node. */
export type OpenTo = (repository: RepositoryRef, ref: RollingRef) => Awaitable<boolean>;

/** Those that a constraint admits and that may be open to a node. The highest one that is open to it is what it gets. */
export interface Candidates {
  /** Those that are open to some nodes, the highest first. */
  rolling: readonly RollingRef[];
  /** The highest one that is open to all, which is lower than these; null if there is none. */
  last: VersionRef | null;
}

/** What is lower than a version that is open to all is no candidate, so the end of a rollout ends its questions. */
export function candidatesIn({ published }: VersionIndex, wanted: VersionConstraint): Candidates {
  const rolling: RollingRef[] = [];
  for (let list = published; ; ) {
    const ref = chooseVersion(list, wanted);
    if (ref === null || isOpenToAll(ref)) return { rolling, last: ref };
    if (isRolling(ref) && !isClosed(ref.rollout.record)) rolling.push(ref);
    list = list.slice(list.indexOf(ref) + 1);
  }
}

const isRolling = (ref: VersionRef): ref is RollingRef => ref.rollout !== null;

const isOpenToAll = ({ rollout }: VersionRef) => rollout === null || rollout.record.state === 'Completed';

/** Whether it is open to nobody, not even to those who have taken it. */
const isClosed = ({ state, isReverted }: RolloutRecord) =>
  isReverted && (state === 'Halted' || state === 'Superseded');

/** Stands for any node to which a version may be opened yet. */
export const OPEN_TO_ANYONE: OpenTo = (_repository, { rollout: { record } }) =>
  record.state === 'Running' || record.state === 'Paused';

/** What decides whether a version is open to a node. */
export interface OpenFacts {
  nodeId: string;
  links: readonly ScopeLink[];
  /** Whether the node has taken the version. It is asked only where that matters. */
  hasTaken(): Awaitable<boolean>;
}

export function isOpen({ rollout: { record } }: RollingRef, node: OpenFacts): Awaitable<boolean> {
  const { nodeId, links } = node;
  const ring = links.find(({ scopeTypeId }) => scopeTypeId === record.scopeType.id)?.scopeValue ?? null;
  const openness = opennessFor(record, { nodeId, ring });
  return openness === 'Holders' ? node.hasTaken() : openness === 'Open';
}

/** What is the same for all nodes, or else a fork. */
export type ByNode<T> = T | Fork<T>;

/** A version that each node chooses for itself. What each version leads to is made once. */
export class Fork<T> {
  private readonly repository: RepositoryRef;
  private readonly candidates: Candidates;
  private readonly lead: (ref: VersionRef | null) => Awaitable<ByNode<T>>;
  private readonly ways = new Map<VersionRef | null, { way: Awaitable<ByNode<T>> }>();

  constructor(repository: RepositoryRef, candidates: Candidates, lead: Fork<T>['lead']) {
    this.repository = repository;
    this.candidates = candidates;
    this.lead = lead;
  }

  /** What the version leads to that the node gets. */
  wayOf(openTo: OpenTo): Awaitable<ByNode<T>> {
    return andThen(this.choose(openTo, 0), (ref) => this.wayBy(ref));
  }

  private choose(openTo: OpenTo, at: number): Awaitable<VersionRef | null> {
    const ref = this.candidates.rolling[at];
    if (ref === undefined) return this.candidates.last;
    return andThen(openTo(this.repository, ref), (isIt) => (isIt ? ref : this.choose(openTo, at + 1)));
  }

  private wayBy(ref: VersionRef | null): Awaitable<ByNode<T>> {
    const known = this.ways.get(ref);
    if (known !== undefined) return known.way;
    const way = this.lead(ref);
    const entry = { way };
    this.ways.set(ref, entry);
    if (way instanceof Promise)
      way.then(
        (made) => {
          entry.way = made;
        },
        // A failure is not kept, so the next node tries again.
        () => this.ways.delete(ref),
      );
    return way;
  }
}

/** Goes on with the version that is chosen among the candidates, or makes a fork where nodes differ. */
export function fork<T>(
  repository: RepositoryRef,
  candidates: Candidates,
  lead: (ref: VersionRef | null) => Awaitable<ByNode<T>>,
): Awaitable<ByNode<T>> {
  const { rolling, last } = candidates;
  return rolling.length === 0 ? lead(last) : new Fork(repository, candidates, lead);
}

/** What it is for one node. */
export function valueFor<T>(tree: ByNode<T>, openTo: OpenTo): Awaitable<T> {
  return tree instanceof Fork ? andThen(tree.wayOf(openTo), (way) => valueFor(way, openTo)) : tree;
}

/** Asks the database about nodes. */
export class NodeOpenness {
  private readonly database: Pick<Database, 'nodeLookup' | 'read'>;
  private readonly settle: (nodeId: string) => Promise<void>;

  /** @param settle writes what is noted in memory of what a node runs, and rejects where that fails */
  constructor(database: NodeOpenness['database'], settle: NodeOpenness['settle']) {
    this.database = database;
    this.settle = settle;
  }

  /** For a node that is to get something: what it told last counts, even where it is not written yet. */
  of(node: AskedNode): OpenTo {
    return this.with(node, async () => {
      await this.settle(node.nodeId);
      return readHeld(this.database.read, [node.nodeId]);
    });
  }

  /** For lists of nodes, which share what is read. */
  ofAll(nodeIds: readonly string[]): OpenTo[] {
    let reading: Promise<ReadonlyMap<string, Held>> | undefined;
    const read = () => {
      reading ??= readHeld(this.database.read, nodeIds);
      return reading;
    };
    return nodeIds.map((nodeId) => this.with({ nodeId, scopes: null }, read));
  }

  private with(node: AskedNode, read: () => Promise<ReadonlyMap<string, Held>>): OpenTo {
    const { nodeId } = node;
    return (repository, ref) =>
      andThen(this.database.nodeLookup.scopesOf(node), (links) =>
        isOpen(ref, {
          nodeId,
          links,
          hasTaken: async () => holds((await read()).get(nodeId), repository, ref.version),
        }),
      );
  }
}
