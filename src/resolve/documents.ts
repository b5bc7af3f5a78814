/**
 * Decides where work with parameter documents is done: at once if the documents are small, else in a thread, in the turn
 * of its caller. So no document holds up a poll (docs/decisions/0026).
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DocumentType } from '../domain/parameter-document.ts';
import { UNSET } from '../domain/unset.ts';
import type { Awaitable } from '../lib/awaitable.ts';
import { sha256Hex } from '../lib/hash.ts';
import { TurnBudget } from '../lib/pace.ts';
import type { Input, Output, Threads } from '../lib/threads.ts';
import type { DocumentSource, SeriesPlace } from './document-source.ts';
import { type DocumentTasks, documentTasks } from './document-tasks.ts';
import { type KeyRing, SEALED_BEGIN } from './secret-leaves.ts';

/** A JSON document of up to this many bytes is read at once. YAML costs up to sixteen times as much. */
const SMALL_DOCUMENT = 32 * 1024;
const WEIGHT_OF_YAML = 16;
/** The same bound for several documents together, most of which have been read before. */
const SMALL_TOGETHER = 2 * SMALL_DOCUMENT;

/** Milliseconds of this work in one turn of the event loop. Further work waits for the next turn. */
const TURN = 10;

/** Ten thousand documents of half a kilobyte fit into this when they are parsed. */
const THREAD_CACHE_BYTES = 64 * 1024 * 1024;

/** To read and open an encrypted text costs as much as so many bytes of YAML, unless its own bytes cost more as JSON. */
const SEALED_AS_YAML = 48;
const SEALED = /ENC\[[0-9a-f]{16},[A-Za-z0-9+/]+={0,2}\]/g;

const ANCHOR = '&'.charCodeAt(0);
const ALIAS = '*'.charCodeAt(0);

/** A document that came with a request. */
export function newSource(bytes: Uint8Array, type: DocumentType): DocumentSource {
  return sourceOf(sha256Hex(bytes), bytes, type, false);
}

/** A document of a repository, by the id of an object that never changes its content. */
export function storedSource(oid: string, bytes: Uint8Array, type: DocumentType): DocumentSource {
  return sourceOf(oid, bytes, type, true);
}

function sourceOf(id: string, bytes: Uint8Array, type: DocumentType, isStored: boolean): DocumentSource {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const maySeal = text.includes(SEALED_BEGIN);
  const weight = weightOf(type, text) - (maySeal && type === 'yaml' ? sealedRelief(text) : 0);
  // A key may be written with escapes.
  const mayUnset = text.includes(UNSET) || text.includes('\\');
  return {
    ...{ key: `${id} ${type}`, type, bytes: withOwnBuffer(bytes), isStored },
    ...{ maySeal, mayUnset, place: null, weight },
  };
}

/**
 * The document with its encrypted texts opened at this place. What is remembered of it is for this place and these keys
 * alone, because its object may be copied to where it must not open.
 * @param generation that of the keys
 */
export function openedAt(source: DocumentSource, place: SeriesPlace, generation: number): DocumentSource {
  if (!source.maySeal) return source;
  const { configurationId, scopeTypeId, ownerId } = place;
  return {
    ...source,
    place,
    key: `${source.key} ${configurationId}/${scopeTypeId}/${ownerId} ${generation}`,
  };
}

/** Copies bytes that are a part of a larger buffer, because a thread would get a copy of the whole buffer. */
function withOwnBuffer(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}

/** Carries out work with documents. */
export interface DocumentRunner {
  /** What opens the secrets in documents. */
  readonly keys: KeyRing;
  /**
   * Carries out a task. A failure is always a rejected promise.
   * @param caller is the one whose turn it takes: a user's or a node's id, or what else the work is for
   * @throws HawserError what the task throws
   */
  run<N extends keyof DocumentTasks & string>(
    caller: string,
    name: N,
    input: Input<DocumentTasks, N>,
  ): Awaitable<Output<DocumentTasks, N>>;
}

/** Carries out everything at once. It is for threads, in which nobody else waits. */
export class DocumentsInThread implements DocumentRunner {
  readonly keys: KeyRing;
  private readonly tasks: DocumentTasks;

  constructor(keys: KeyRing) {
    this.keys = keys;
    this.tasks = documentTasks(keys, THREAD_CACHE_BYTES);
  }

  run<N extends keyof DocumentTasks & string>(
    _caller: string,
    name: N,
    input: Input<DocumentTasks, N>,
  ): Awaitable<Output<DocumentTasks, N>> {
    return carryOut(this.tasks, name, input);
  }
}

export class Documents implements DocumentRunner {
  readonly keys: KeyRing;
  private readonly threads: Threads<DocumentTasks>;
  private readonly tasks: DocumentTasks;
  private readonly turn = new TurnBudget(TURN);

  /** @param keys must be those of the threads */
  constructor(threads: Threads<DocumentTasks>, keys: KeyRing) {
    this.threads = threads;
    this.keys = keys;
    this.tasks = documentTasks(keys);
  }

  /** Carries out a task, at once if that is quick. @throws HawserError also what `Threads.run` throws */
  run<N extends keyof DocumentTasks & string>(
    caller: string,
    name: N,
    input: Input<DocumentTasks, N>,
  ): Awaitable<Output<DocumentTasks, N>> {
    if (isLarge(input)) return this.threads.run(caller, name, input);
    if (this.turn.isSpent) return nextTurn().then(() => this.run(caller, name, input));
    const start = performance.now();
    const output = carryOut(this.tasks, name, input);
    this.turn.spend(performance.now() - start);
    return output;
  }
}

function carryOut<N extends keyof DocumentTasks & string>(
  tasks: DocumentTasks,
  name: N,
  input: Input<DocumentTasks, N>,
): Awaitable<Output<DocumentTasks, N>> {
  try {
    return (tasks[name] as (given: typeof input) => Output<DocumentTasks, N>)(input);
  } catch (error) {
    return Promise.reject(error);
  }
}

/** Whether the documents in the input of a task, alone or in lists, are too large to be read at once. */
function isLarge(input: object): boolean {
  let together = 0;
  for (const value of Object.values(input)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      const weight: number = item?.weight ?? 0;
      together += weight;
      if (weight > SMALL_DOCUMENT || together > SMALL_TOGETHER) return true;
    }
  }
  return false;
}

/** Aliases can make a short text a large document. */
function weightOf(type: DocumentType, bytes: Uint8Array): number {
  if (type === 'json') return bytes.byteLength;
  const hasAliases = bytes.includes(ALIAS) && bytes.includes(ANCHOR);
  return hasAliases ? Number.POSITIVE_INFINITY : bytes.byteLength * WEIGHT_OF_YAML;
}

/** What the encrypted texts of a document weigh less than other YAML of their length. */
function sealedRelief(bytes: Buffer): number {
  if (bytes.byteLength > SMALL_DOCUMENT) return 0;
  const texts = bytes.toString('latin1').match(SEALED) ?? [];
  const lighter = texts.map(
    ({ length }) => length * WEIGHT_OF_YAML - Math.max(length, SEALED_AS_YAML * WEIGHT_OF_YAML),
  );
  return lighter.reduce((sum, each) => sum + Math.max(0, each), 0);
}
