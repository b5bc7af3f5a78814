/**
 * What the server has acknowledged, and the requests that were in progress when it died. After each crash the server
 * is compared with this model. Every resource has a key, such as `versions/web/1.0.0`, and a state, which is JSON, or
 * null while the resource does not exist.
 */

import { isDeepStrictEqual } from 'node:util';
import type { ClientCertificate } from '../client-certificates.ts';

// biome-ignore lint/suspicious/noExplicitAny: as free as JSON is
export type State = any;

/** One request. Either all of its parts happen or none does. */
export interface Change {
  what: string;
  parts: readonly { key: string; before: State; after: State }[];
}

export class Model {
  /** Ids that the server has assigned, by key. */
  readonly ids = new Map<string, string>();
  /** Every certificate that a node has had, by thumbprint. */
  readonly identities = new Map<string, ClientCertificate>();
  /** The content of each report, by its id; reports do not change. */
  readonly markers = new Map<string, string>();
  /** The deeds of change sets as the server keeps them, by the keys of the sets. */
  readonly deeds = new Map<string, (Record<string, State> & { kind: string })[]>();
  readonly roleIds: string[] = [];
  acknowledged = 0;
  registrations = 0;
  private readonly settled = new Map<string, State>();
  private readonly inFlight = new Set<Change>();
  /** Keys that have changed since the last check. */
  private readonly touched = new Set<string>();
  private counter = 0;

  /** A number for names and versions, which is never the same twice. */
  next(): number {
    this.counter += 1;
    return this.counter;
  }

  state(key: string): State {
    return this.settled.get(key) ?? null;
  }

  /** As `state`, for what does not exist yet too, where a request in progress may have made it. */
  stateOrWish(key: string): State {
    const wishes = [...this.inFlight].flatMap(({ parts }) => parts.filter((part) => part.key === key));
    return this.state(key) ?? wishes[0]?.after ?? null;
  }

  /** The keys that begin with `start` and certainly exist. */
  keys(start: string): string[] {
    return [...this.settled.keys()].filter((key) => key.startsWith(start));
  }

  /** Like `keys`, without those that a request is about to change. */
  idle(start: string): string[] {
    const busy = this.busyKeys();
    return this.keys(start).filter((key) => !busy.has(key));
  }

  /** Whether a request is about to change something whose key begins with one of these. */
  isBusy(...starts: string[]): boolean {
    return [...this.busyKeys()].some((key) => starts.some((start) => key.startsWith(start)));
  }

  /** What is in progress on something whose key begins with one of these, for the message of a fault. */
  inProgress(...starts: string[]): string[] {
    return [...this.inFlight]
      .filter(({ parts }) => parts.some(({ key }) => starts.some((start) => key.startsWith(start))))
      .map(({ what, parts }) => `in progress: ${what} ${parts.map(({ key }) => key).join(', ')}`);
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

  /** Records that the server has refused the change. */
  refuse(change: Change): void {
    this.settle(change, 'before');
  }

  /** The keys to check after a crash. From then on they count as checked. */
  takeTouched(): string[] {
    const keys = [...this.touched];
    this.touched.clear();
    return keys;
  }

  /**
   * Compares the model with what was found. Adopts the results of the requests that were never answered.
   * @throws Error that names what was lost or is there only in part
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
