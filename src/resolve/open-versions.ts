/**
 * Which versions and parameter files are open to a node. What rolls out is open to some nodes alone, so what an assignment gives
 * may be another thing for each node. Where nothing rolls out, nothing is asked.
 */

import type { Database } from '../db/database.ts';
import type { AskedNode, ScopeLink } from '../db/node-lookup.ts';
import { type Held, holds, readHeld } from '../db/read-holders.ts';
import { opennessFor, type RolledFile, type RolloutRecord, type ScopeIds } from '../domain/rollout.ts';
import { NODE_SCOPE_TYPE_ID } from '../domain/scopes.ts';
import { chooseVersion, type VersionConstraint } from '../domain/version-choice.ts';
import { isStable, majorOf } from '../domain/version-order.ts';
import { damagedRepository } from '../git/disk-errors.ts';
import { type Awaitable, andThen } from '../lib/awaitable.ts';
import { seriesOf } from '../versions/parameter-files.ts';
import { isUnreadable } from '../versions/rollout-branch.ts';
import type { RollingRef } from '../versions/rollout-rules.ts';
import type { RepositoryRef, SeriesIndex, VersionIndex, VersionRef } from '../versions/store.ts';
import type { RolloutRef } from '../versions/types.ts';

/** Whether what rolls out is open to one node: the version and the files of it alike. */
export type OpenTo = (repository: RepositoryRef, rollout: RolloutRef) => Awaitable<boolean>;

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
    if (hasRollout(ref) && !isClosed(ref.rollout.record)) rolling.push(ref);
    list = list.slice(list.indexOf(ref) + 1);
  }
}

const hasRollout = (ref: VersionRef): ref is RollingRef => ref.rollout !== null;

const isOpenToAll = ({ rollout }: VersionRef) => rollout === null || rollout.record.state === 'Completed';

/** Whether it is open to nobody, not even to those who have taken it. */
const isClosed = ({ state, isReverted }: RolloutRecord) =>
  isReverted && (state === 'Halted' || state === 'Superseded');

/** Files that a node is not offered. */
export type ClosedFiles = readonly RolledFile[];

const NONE_CLOSED: ClosedFiles = [];

/**
 * Goes on with the files of a configuration that are closed to a node.
 * @param index the versions of the configuration, read after the files: whoever knows of a file that rolls out knows of its rollout
 * @param files null where it has none
 * @throws HawserError `repository_damaged` where it cannot be read which files roll out
 */
export function byClosedFiles<T>(
  repository: RepositoryRef,
  index: VersionIndex,
  files: SeriesIndex | null,
  lead: (closed: ClosedFiles) => Awaitable<ByNode<T>>,
): Awaitable<ByNode<T>> {
  const { rollouts, loose } = index;
  if (files === null) return lead(NONE_CLOSED);
  // What has not begun is closed to all, and so is what was reverted.
  let closed: ClosedFiles = loose.unbegun.flatMap(({ record }) => record.parameters);
  const asked: RolloutRef[] = [];
  const limited = rollouts.filter(({ record }) => isLimited(record));
  if (limited.length === 0 && closed.length === 0) return lead(NONE_CLOSED);
  const tags = new Set([...limited, ...loose.unbegun].flatMap(({ record }) => tagsOf(record)));
  for (const rollout of limited) {
    const { record } = rollout;
    const lasting = record.parameters.filter((file) => !isMoot(file, files, tags));
    if (lasting.length === 0) continue;
    if (isClosed(record)) closed = [...closed, ...lasting];
    else asked.push(rollout);
  }
  return byOpen(repository, asked, closed, lead);
}

/** Whether it has files, and they are not open to all. @throws HawserError `repository_damaged` where that cannot be read */
function isLimited(record: RolloutRecord): boolean {
  if (record.version === null && isUnreadable(record)) throw damagedRepository();
  return record.parameters.length > 0 && record.state !== 'Completed';
}

const tagsOf = ({ parameters }: RolloutRecord) => parameters.map(({ tag }) => tag);

function byOpen<T>(
  repository: RepositoryRef,
  [rollout, ...rest]: readonly RolloutRef[],
  closed: ClosedFiles,
  lead: (closed: ClosedFiles) => Awaitable<ByNode<T>>,
): Awaitable<ByNode<T>> {
  if (rollout === undefined) return lead(closed);
  return new Fork<T>(repository, [rollout], (at) =>
    byOpen(repository, rest, at === 0 ? closed : [...closed, ...rollout.record.parameters], lead),
  );
}

/** Whether nobody is offered the file whatever becomes of its rollout: a higher one is open to all, or it has gone. */
function isMoot(
  { scopeType, scopeValue, version, tag }: RolledFile,
  files: SeriesIndex,
  rolled: ReadonlySet<string>,
): boolean {
  const index = files.of(seriesOf({ scopeType: scopeType.name, value: scopeValue?.value ?? null }));
  const at = index.published.findIndex(({ oid }) => oid === tag);
  // Its scope may have another name by now. A file of a node may be followed by that of another node of the name.
  if (at < 0 || scopeType.id === NODE_SCOPE_TYPE_ID) return false;
  return index.published
    .slice(0, at)
    .some(
      (ref) => isStable(ref.version) && majorOf(ref.version) === majorOf(version) && !rolled.has(ref.oid),
    );
}

/** Stands for any node to which a version may be opened yet. */
export const OPEN_TO_ANYONE: OpenTo = (_repository, { record }) =>
  record.state === 'Running' || record.state === 'Paused';

/** What decides whether a version is open to a node. */
export interface OpenFacts {
  nodeId: string;
  links: readonly ScopeLink[];
  /** Whether the node has taken what rolls out. It is asked only where that matters. */
  hasTaken(scopes: readonly ScopeIds[]): Awaitable<boolean>;
}

export function isOpen({ record }: RolloutRef, node: OpenFacts): Awaitable<boolean> {
  const { nodeId, links } = node;
  const ring = links.find(({ scopeTypeId }) => scopeTypeId === record.scopeType.id)?.scopeValue ?? null;
  const openness = opennessFor(record, { nodeId, ring });
  if (openness !== 'Holders') return openness === 'Open';
  return node.hasTaken(
    links.map(({ scopeTypeId, scopeValueId }) => ({
      scopeTypeId,
      scopeValueId: scopeTypeId === NODE_SCOPE_TYPE_ID ? nodeId : scopeValueId,
    })),
  );
}

/** What is the same for all nodes, or else a fork. */
export type ByNode<T> = T | Fork<T>;

/** A choice that each node makes for itself. What each way leads to is made once. */
export class Fork<T> {
  private readonly repository: RepositoryRef;
  private readonly rollouts: readonly RolloutRef[];
  private readonly lead: (at: number) => Awaitable<ByNode<T>>;
  private readonly ways = new Map<number, { way: Awaitable<ByNode<T>> }>();

  /** @param lead is given the place of the first rollout that is open to the node, or else the number of all of them */
  constructor(repository: RepositoryRef, rollouts: readonly RolloutRef[], lead: Fork<T>['lead']) {
    this.repository = repository;
    this.rollouts = rollouts;
    this.lead = lead;
  }

  /** What the choice of the node leads to. */
  wayOf(openTo: OpenTo): Awaitable<ByNode<T>> {
    return andThen(this.choose(openTo, 0), (at) => this.wayBy(at));
  }

  private choose(openTo: OpenTo, at: number): Awaitable<number> {
    const rollout = this.rollouts[at];
    if (rollout === undefined) return at;
    return andThen(openTo(this.repository, rollout), (isIt) => (isIt ? at : this.choose(openTo, at + 1)));
  }

  private wayBy(at: number): Awaitable<ByNode<T>> {
    const known = this.ways.get(at);
    if (known !== undefined) return known.way;
    const way = this.lead(at);
    const entry = { way };
    this.ways.set(at, entry);
    if (way instanceof Promise)
      way.then(
        (made) => {
          entry.way = made;
        },
        // A failure is not kept, so the next node tries again.
        () => this.ways.delete(at),
      );
    return way;
  }
}

/** Goes on with the version that is chosen among the candidates, or makes a fork where nodes differ. */
export function fork<T>(
  repository: RepositoryRef,
  { rolling, last }: Candidates,
  lead: (ref: VersionRef | null) => Awaitable<ByNode<T>>,
): Awaitable<ByNode<T>> {
  if (rolling.length === 0) return lead(last);
  const rollouts = rolling.map(({ rollout }) => rollout);
  return new Fork<T>(repository, rollouts, (at) => lead(rolling[at] ?? last));
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
    return (repository, rollout) =>
      andThen(this.database.nodeLookup.scopesOf(node), (links) =>
        isOpen(rollout, {
          nodeId,
          links,
          hasTaken: async (scopes) => holds((await read()).get(nodeId), repository, rollout.record, scopes),
        }),
      );
  }
}
