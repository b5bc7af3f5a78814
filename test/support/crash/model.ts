/**
 * What the server has acknowledged and what it was asked for when it died: the yardstick after each crash. Everything
 * there can be has a key, such as `versions/web/1.0.0`, and a state, which is JSON, null while it is not there.
 */

import { isDeepStrictEqual } from 'node:util';
import type { ClientCertificate } from '../client-certificates.ts';

// biome-ignore lint/suspicious/noExplicitAny: as free as JSON is
export type State = any;

/** One request: either all its parts come about or none does. */
export interface Change {
  what: string;
  parts: readonly { key: string; before: State; after: State }[];
}

export class Model {
  /** Ids that the server has given, by key. */
  readonly ids = new Map<string, string>();
  /** Every certificate that a node has had, by thumbprint. */
  readonly identities = new Map<string, ClientCertificate>();
  /** What a report said, by its id: reports do not change. */
  readonly markers = new Map<string, string>();
  readonly roleIds: string[] = [];
  acknowledged = 0;
  registrations = 0;
  private readonly settled = new Map<string, State>();
  private readonly inFlight = new Set<Change>();
  /** Changed since somebody last looked. */
  private readonly touched = new Set<string>();
  private counter = 0;

  /** For names and versions: never the same twice. */
  next(): number {
    this.counter += 1;
    return this.counter;
  }

  state(key: string): State {
    return this.settled.get(key) ?? null;
  }

  /** Of all that is there for certain, the keys that begin with `start`. */
  keys(start: string): string[] {
    return [...this.settled.keys()].filter((key) => key.startsWith(start));
  }

  /** As `keys`, of those that no request is about to change. */
  idle(start: string): string[] {
    const busy = this.busyKeys();
    return this.keys(start).filter((key) => !busy.has(key));
  }

  /** Whether a request is about to change something whose key begins with one of these. */
  isBusy(...starts: string[]): boolean {
    return [...this.busyKeys()].some((key) => starts.some((start) => key.startsWith(start)));
  }

  begin(what: string, after: Record<string, State>): Change {
    const parts = Object.entries(after).map(([key, state]) => ({
      key,
      before: this.state(key),
      after: state,
    }));
    const change = { what, parts };
    this.inFlight.add(change);
    for (const { key } of parts) this.touched.add(key);
    return change;
  }

  acknowledge(change: Change): void {
    this.acknowledged += 1;
    this.settle(change, 'after');
  }

  /** The server has said no. */
  refuse(change: Change): void {
    this.settle(change, 'before');
  }

  /** What is to be looked at after a crash; from then on it counts as looked at. */
  takeTouched(): string[] {
    const keys = [...this.touched];
    this.touched.clear();
    return keys;
  }

  /**
   * Compares with what is there, and takes over what became of the requests that were never answered.
   * @throws Error that names what was lost or is there by halves
   */
  compare(found: ReadonlyMap<string, State>): void {
    for (const change of [...this.inFlight]) this.settle(change, outcomeOf(change, found));
    for (const [key, state] of found) {
      if (isDeepStrictEqual(state, this.state(key))) continue;
      throw new Error(`${key}: acknowledged ${show(this.state(key))}, found ${show(state)}`);
    }
  }

  private settle(change: Change, outcome: 'before' | 'after'): void {
    this.inFlight.delete(change);
    for (const part of change.parts) {
      if (part[outcome] === null) this.settled.delete(part.key);
      else this.settled.set(part.key, part[outcome]);
    }
    if (outcome === 'after' && change.what === 'register') this.registrations += 1;
  }

  private busyKeys(): Set<string> {
    return new Set([...this.inFlight].flatMap(({ parts }) => parts.map(({ key }) => key)));
  }
}

function outcomeOf({ what, parts }: Change, found: ReadonlyMap<string, State>): 'before' | 'after' {
  for (const outcome of ['after', 'before'] as const) {
    if (parts.every((part) => isDeepStrictEqual(found.get(part.key), part[outcome]))) return outcome;
  }
  const told = parts.map(
    ({ key, before, after }) => `${key}: ${show(before)} -> ${show(after)}, found ${show(found.get(key))}`,
  );
  throw new Error(`by halves: ${what}\n${told.join('\n')}`);
}

const show = (state: State) => JSON.stringify(state ?? null);
