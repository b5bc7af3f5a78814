/**
 * What pages read. Each path is read once, however many components show it, and again every 15 seconds while somebody
 * looks at it. What was read last is kept for a while, so that the way back shows it at once.
 */

import { type Signal, signal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { ApiProblem, get, type Reply } from './client.ts';
import { noteAnswer, noteAway } from './connection.ts';
import { leaveForSignIn } from './sign-in.ts';

export type ResourceState = 'loading' | 'ready' | 'error' | 'forbidden';

export interface Resource<T> {
  state: ResourceState;
  data: T | null;
  /** The number of all entries that the filter meets; null where it is no list. */
  total: number | null;
  etag: string | null;
  /** Why it is not there. With data beside it, the data is what was there before. */
  problem: ApiProblem | null;
  /** Reads it again at once. */
  reload(): Promise<void>;
}

export interface ResourceOptions {
  /** False for what never changes, such as the files of a published version. */
  poll?: boolean;
  /** In milliseconds: after which time it is read again, by what was read last. Default: 15 seconds. */
  pause?: (data: unknown) => number;
  /** Default: JSON. */
  accept?: string;
  /** The data is a Blob of the bytes as they were sent, such as those of a file. */
  isRaw?: boolean;
}

/** In milliseconds. */
const POLL_INTERVAL = 15_000;
/** So many paths are kept that nobody looks at. */
const KEPT = 60;

class Entry {
  readonly path: string;
  readonly accept: string;
  readonly isRaw: boolean;
  readonly reply: Signal<Reply<unknown> | null> = signal(null);
  readonly problem: Signal<ApiProblem | null> = signal(null);
  polls = false;
  /** What it stands for was deleted. */
  isGone = false;
  pause: (data: unknown) => number = () => POLL_INTERVAL;
  #watchers = 0;
  #timer: number | undefined;
  #reading: Promise<void> | null = null;

  constructor(path: string, accept: string, isRaw: boolean) {
    this.path = path;
    this.accept = accept;
    this.isRaw = isRaw;
  }

  get isWatched(): boolean {
    return this.#watchers > 0;
  }

  watch(): () => void {
    this.#watchers += 1;
    if (this.#watchers === 1) void this.read(false);
    return () => {
      this.#watchers -= 1;
      if (this.#watchers === 0) clearTimeout(this.#timer);
    };
  }

  /** Reads it, unless that is under way. */
  read(isPoll: boolean): Promise<void> {
    if (this.isGone) return Promise.resolve();
    this.#reading ??= this.#read(isPoll).finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  /** Reads it after what is under way, which may have begun before a deed. */
  async readAnew(): Promise<void> {
    await this.#reading;
    await this.read(false);
  }

  async #read(isPoll: boolean): Promise<void> {
    clearTimeout(this.#timer);
    let pause: number | null;
    try {
      const etag = this.reply.value?.etag ?? null;
      const { accept, isRaw } = this;
      const reply = await get<unknown>(this.path, { isPoll, etag, accept, isRaw });
      noteAnswer();
      if (reply !== null) this.reply.value = reply;
      this.problem.value = null;
      pause = this.polls ? this.pause(this.reply.value?.data) : null;
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      pause = this.#note(error, this.polls ? POLL_INTERVAL : null);
    }
    if (pause !== null && this.isWatched) this.#timer = window.setTimeout(() => this.#comeAgain(), pause);
  }

  /** Keeps the problem, and gives the pause in milliseconds; null: it is not asked again by itself. */
  #note(problem: ApiProblem, pause: number | null): number | null {
    if (problem.status === 401) {
      leaveForSignIn();
      return null;
    }
    if (problem.isAway) {
      if (this.reply.value === null) this.problem.value = problem;
      return noteAway();
    }
    noteAnswer();
    this.problem.value = problem;
    if (problem.retryAfter !== null) return Math.max(1, problem.retryAfter) * 1_000;
    // What is gone, or may not be seen any more, is not shown any more.
    if (problem.status === 403 || problem.status === 404) this.reply.value = null;
    return pause;
  }

  #comeAgain(): void {
    if (document.visibilityState === 'visible') void this.read(true);
  }

  /** The page is looked at again after it was hidden. */
  wake(): void {
    if (this.isWatched && this.polls) void this.read(true);
  }
}

const entries = new Map<string, Entry>();

function entryOf(path: string, { accept = 'application/json', isRaw = false }: ResourceOptions): Entry {
  const key = `${accept} ${isRaw} ${path}`;
  const entry = entries.get(key) ?? new Entry(path, accept, isRaw);
  // The one that was used last stands last.
  entries.delete(key);
  entries.set(key, entry);
  if (entries.size > KEPT) {
    for (const [oldKey, old] of entries) {
      if (entries.size <= KEPT) break;
      if (!old.isWatched && old !== entry) entries.delete(oldKey);
    }
  }
  return entry;
}

document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') for (const entry of entries.values()) entry.wake();
});

const NOTHING = { state: 'loading', data: null, total: null, etag: null, problem: null } as const;

/**
 * What stands at a path below /api/v1, and goes on standing there.
 * @param path null: it is not known yet what to read
 */
export function useResource<T>(path: string | null, options: ResourceOptions = {}): Resource<T> {
  const entry = path === null ? null : entryOf(path, options);
  // Before the page is painted, so that the answer is on its way meanwhile.
  useLayoutEffect(() => {
    if (entry === null) return undefined;
    entry.polls = options.poll !== false;
    if (options.pause !== undefined) entry.pause = options.pause;
    return entry.watch();
  }, [entry]);
  return entry === null ? { ...NOTHING, reload: async () => undefined } : resourceOf<T>(entry);
}

/** What stands at several paths, in their order. How many there are may change. */
export function useResources<T>(paths: readonly string[], options: ResourceOptions = {}): Resource<T>[] {
  const several = paths.map((path) => entryOf(path, options));
  useLayoutEffect(() => {
    const ends = several.map((entry) => {
      entry.polls = options.poll !== false;
      return entry.watch();
    });
    return () => {
      for (const end of ends) end();
    };
  }, [paths.join(' ')]);
  return several.map((entry) => resourceOf<T>(entry));
}

function resourceOf<T>(entry: Entry): Resource<T> {
  const reply = entry.reply.value as Reply<T> | null;
  const problem = entry.problem.value;
  return {
    state: stateOf(reply, problem),
    data: reply?.data ?? null,
    total: reply?.total ?? null,
    etag: reply?.etag ?? null,
    problem,
    reload: () => entry.readAnew(),
  };
}

function stateOf(reply: Reply<unknown> | null, problem: ApiProblem | null): ResourceState {
  if (problem !== null) return problem.status === 403 ? 'forbidden' : 'error';
  return reply === null ? 'loading' : 'ready';
}

/**
 * What stands at this path and below it was deleted: pages that still show it until another page is there do not read it
 * again. It is called before the deed ends.
 */
export function forget(path: string): void {
  for (const [key, entry] of entries) {
    if (entry.path.split('?', 1)[0] !== path && !entry.path.startsWith(`${path}/`)) continue;
    entry.isGone = true;
    entries.delete(key);
  }
}

/** After a deed: reads anew all that is looked at, and forgets the rest, because it may have changed too. */
export async function refresh(): Promise<void> {
  for (const [key, entry] of entries) if (!entry.isWatched) entries.delete(key);
  await Promise.all([...entries.values()].map((entry) => entry.readAnew()));
}
