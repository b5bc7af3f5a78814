/** Finds the rollouts that are under way, and removes what is kept of the nodes of those that are not. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../db/database.ts';
import type { RolloutKey } from '../db/rollout-tables.ts';
import { listKeptRollouts, removeRolloutCounts, removeTakers } from '../db/rollouts.ts';
import { ROLLOUT_STATES, type RolloutState } from '../domain/rollout.ts';
import type { Withdrawn } from '../domain/rollout-machine.ts';
import type { Log } from '../lib/log.ts';
import { seriesOf } from '../versions/parameter-files.ts';
import { isUnreadable } from '../versions/rollout-branch.ts';
import { isUnderWay } from '../versions/rollout-rules.ts';
import type { Owner, ResourceKind } from '../versions/rows.ts';
import type { GitStore, RolloutRef, VersionIndex } from '../versions/store.ts';
import type { MovedRepositories } from './moved-repositories.ts';

/** Rows per transaction. Deleting them takes some two milliseconds. */
const SLICE = 500;
/** Milliseconds between two transactions, so that requests get most of the time. */
const PAUSE = 10;

/** A rollout that is under way. */
export interface UnderWay {
  owner: Owner<ResourceKind>;
  rollout: RolloutRef;
  /** What of it is withdrawn, for which it is to end; null where nothing is. */
  withdrawn: Withdrawn | null;
}

interface Seen {
  owner: Owner<ResourceKind>;
  index: VersionIndex;
}

export class RolloutFinder {
  private readonly tools: { database: Database; store: GitStore; log: Log; moved: MovedRepositories };
  /** Repositories in which something rolls out, or that could not be read, as `<kind>/<name>`. */
  private readonly watched = new Set<string>();
  private readonly unreadable = new Set<string>();
  /** The states of the rollouts of each repository that has any. */
  private readonly states = new Map<string, readonly RolloutState[]>();

  constructor(tools: RolloutFinder['tools']) {
    this.tools = tools;
    tools.moved.forget();
  }

  /**
   * @param isFull finds all of them. By default only those are found whose repositories have moved since the last call.
   * @throws HawserError unavailable if the database is away
   */
  async find(isFull: boolean): Promise<UnderWay[]> {
    const moved = await this.tools.moved.take();
    const isMeant = (key: string) => moved === null || moved.has(key) || (isFull && this.watched.has(key));
    if (moved?.size === 0 && !(isFull && this.watched.size > 0)) return [];
    try {
      const seen = await this.look(isMeant);
      if (moved === null || moved.size > 0) await this.tidy(seen);
      const found: UnderWay[] = [];
      for (const { owner, index } of seen)
        for (const rollout of index.rollouts)
          if (isUnderWay(rollout.record) && !isUnreadable(rollout.record))
            found.push({ owner, rollout, withdrawn: await this.withdrawnOf(owner, index, rollout) });
      return found;
    } catch (error) {
      // What has moved would not be looked at again.
      this.tools.moved.forget();
      throw error;
    }
  }

  private async withdrawnOf(
    { resource }: Owner<ResourceKind>,
    index: VersionIndex,
    { record: { version, parameters } }: RolloutRef,
  ): Promise<Withdrawn | null> {
    if (version !== null && index.get(version)?.withdrawn) return 'version';
    if (parameters.length === 0) return null;
    const files = await this.tools.store.parameters.index(resource.name);
    const isGone = parameters.some(({ scopeType, scopeValue, version: of }) => {
      const series = seriesOf({ scopeType: scopeType.name, value: scopeValue?.value ?? null });
      const file = files.of(series).get(of);
      return file?.status === 'Published' && file.withdrawn !== null;
    });
    return isGone ? 'file' : null;
  }

  /** How many of all rollouts are in each state. */
  countStates(): readonly (readonly [RolloutState, number])[] {
    const all = [...this.states.values()].flat();
    return ROLLOUT_STATES.map((state) => [state, all.filter((each) => each === state).length]);
  }

  private async look(isMeant: (key: string) => boolean): Promise<Seen[]> {
    const seen: Seen[] = [];
    const keys = new Set<string>();
    for (const kind of ['configurations', 'composites'] as const) {
      const rows = await this.tools.database.read
        .selectFrom(kind as ResourceKind)
        .select(['id', 'name'])
        .execute();
      for (const resource of rows) {
        const key = `${kind}/${resource.name}`;
        keys.add(key);
        if (!isMeant(key)) continue;
        const index = await this.read(key, { kind, resource });
        if (index === null || index.rollouts.some(({ record }) => isUnderWay(record))) this.watched.add(key);
        else this.watched.delete(key);
        if (index === null) continue;
        seen.push({ owner: { kind, resource }, index });
        const states = index.rollouts.map(({ record }) => record.state);
        if (states.length > 0) this.states.set(key, states);
        else this.states.delete(key);
      }
    }
    for (const key of this.states.keys()) if (!keys.has(key)) this.states.delete(key);
    return seen;
  }

  /** Null where it cannot be read, which does not hold up the others. */
  private async read(key: string, { kind, resource }: Owner<ResourceKind>): Promise<VersionIndex | null> {
    try {
      const index = await this.tools.store.versions({ kind, name: resource.name });
      this.unreadable.delete(key);
      return index;
    } catch (err) {
      if (!this.unreadable.has(key))
        this.tools.log.warn({ err, repository: key }, 'rollouts of a repository cannot be read');
      this.unreadable.add(key);
      return null;
    }
  }

  private async tidy(seen: readonly Seen[]): Promise<void> {
    const { read, write } = this.tools.database;
    const indexes = new Map(seen.map(({ owner, index }) => [`${owner.kind} ${owner.resource.id}`, index]));
    for (const key of await listKeptRollouts(read)) {
      const index = indexes.get(`${key.kind} ${key.resource_id}`);
      const rollout = index?.rollouts.find(({ record }) => record.key === key.version);
      const isKept = rollout && (isUnderWay(rollout.record) || rollout === newestRollout(index));
      if (index === undefined || isKept) continue;
      await this.forget(key);
      if (!rollout) await removeRolloutCounts(write, key);
    }
  }

  /** What is known of the nodes of a rollout goes with a later one. */
  private async forget(key: RolloutKey): Promise<void> {
    const { writeUnflushed } = this.tools.database;
    const remove = () => writeUnflushed.transaction().execute((trx) => removeTakers(trx, key, SLICE));
    while (!(await remove())) await sleep(PAUSE);
  }
}

function newestRollout(index: VersionIndex | undefined): RolloutRef | null {
  return (index?.rollouts ?? []).reduce<RolloutRef | null>((newest, rollout) => {
    const begun = rollout.record.createdAt;
    return begun > (newest?.record.createdAt ?? '') ? rollout : newest;
  }, null);
}
