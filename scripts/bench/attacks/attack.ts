/** What an attack is: a row of the bench as data, and what the attacker's process is told and tells. */

import type { ClientCertificate } from '../../../test/support/client-certificates.ts';
import type { Endpoint } from '../messages.ts';
import type { Site } from './site.ts';
import type { TrafficSummary } from './traffic.ts';

/** The bounds of rights.md 6, in milliseconds: of one request, and of ten or more of a kind from one caller. */
export const ONE_REQUEST = 50;
export const TEN_REQUESTS = 200;

export interface Attack {
  /** What `--rows` looks for. */
  name: string;
  /** What the table shows. */
  label: string;
  /** The most that a poll of another node may wait meanwhile, in milliseconds. */
  waitLimit: number;
  /** What the attack times by itself (`Site.took`): what it is, and the most it may take in milliseconds. */
  timed?: { what: string; limit: number };
  /** HAWSER_* variables of its server. */
  settings?(isQuick: boolean): Record<string, string>;
  /** Makes what is needed on the fresh server. @returns the attack itself, which ends by itself */
  prepare(site: Site): Promise<() => Promise<void>>;
}

/** A node that can connect. */
export interface AttackNode {
  nodeId: string;
  identity: ClientCertificate;
}

export type AttackOrder =
  | { kind: 'prepare'; name: string; endpoint: Endpoint; folder: string; isQuick: boolean }
  | { kind: 'attack' };

export type AttackReport =
  /** The node is another one than any that attacks, and has a configuration. */
  | { kind: 'prepared'; node: AttackNode }
  /** A few times a second, so that it is known of an attack that had to be broken off. */
  | { kind: 'traffic'; traffic: TrafficSummary }
  | { kind: 'done'; traffic: TrafficSummary }
  | { kind: 'failed'; message: string };
