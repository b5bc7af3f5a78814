/** The threads of a process, and the tasks that they carry out. */

import { reportTasks } from '../api/reports/report-tasks.ts';
import type { SecretKeys } from '../lib/sealed-text.ts';
import { Threads } from '../lib/threads.ts';
import type { CompareTasks } from '../resolve/compare-tasks.ts';
import { documentTasks } from '../resolve/document-tasks.ts';
import type { FleetPlace } from '../resolve/fleet.ts';
import type { FleetTasks } from '../resolve/fleet-tasks.ts';
import type { ToldKeys } from '../resolve/held-keys.ts';
import type { KeyRing } from '../resolve/secret-leaves.ts';
import { treeTasks } from '../versions/tree-tasks.ts';

/** There is a second thread for all other callers while one caller keeps the first busy for a second. */
const THREADS = 2;

/** This is enough for the document that takes most memory, some 300 MB. */
const HEAP_MEGABYTES = 512;

export type ThreadTasks = ReturnType<typeof threadTasks>;

export function threadTasks(keys: KeyRing) {
  return { ...documentTasks(keys), ...reportTasks, ...treeTasks };
}

/** The keys of secrets, which threads hear of. */
export type KeySource = SecretKeys & Pick<KeyRing, 'generation'>;

function newsOf(source: KeySource): ToldKeys {
  const { keys, evidence, evidenceKeyId, generation } = source;
  return { keys, evidence, evidenceKeyId, generation };
}

/** No thread is started before there is a task for it. */
export function openThreads(keys: KeySource): Threads<ThreadTasks> {
  const entry = new URL('./thread.js', import.meta.url);
  const news = () => newsOf(keys);
  return new Threads<ThreadTasks>({ entry, size: THREADS, heapMegabytes: HEAP_MEGABYTES, news });
}

/** Threads for comparisons alone, each of which may take seconds. Nodes wait for none of them. */
export function openComparingThreads(): Threads<CompareTasks> {
  const entry = new URL('./comparing-thread.js', import.meta.url);
  return new Threads<CompareTasks>({ entry, size: THREADS, heapMegabytes: HEAP_MEGABYTES });
}

/** Memory for what the threads read of the repositories, beside the heap of each. */
const FLEET_CACHE_BYTES = 64 * 1024 * 1024;

/**
 * A preview makes much that is thrown away at once. With less room for that, it is collected four times as often, which
 * costs a third of the processor time of a large preview.
 */
const FLEET_YOUNG_MEGABYTES = 192;

/** The threads that work on the whole fleet. */
export interface FleetThreads {
  /** They make previews, each of which may take half a minute. */
  previews: Threads<FleetTasks>;
  /** They answer questions, so that whoever asks does not wait for a preview. */
  questions: Threads<FleetTasks>;
}

/** They are for this process alone. @param place where all is that they read */
export function openFleetThreads(place: Omit<FleetPlace, 'cacheBytes'>, keys: KeySource): FleetThreads {
  const { dataDir, databaseUrl, reposDir } = place;
  const options = {
    entry: new URL('./fleet-thread.js', import.meta.url),
    ...{ heapMegabytes: HEAP_MEGABYTES, youngMegabytes: FLEET_YOUNG_MEGABYTES, news: () => newsOf(keys) },
    data: { dataDir, databaseUrl, reposDir, cacheBytes: FLEET_CACHE_BYTES } satisfies FleetPlace,
  };
  return {
    previews: new Threads<FleetTasks>({ ...options, size: THREADS }),
    questions: new Threads<FleetTasks>({ ...options, size: 1 }),
  };
}
