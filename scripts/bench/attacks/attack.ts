/** The types of an attack: a row of the bench as data, and the messages to and from the attacker's process. */

import type { ClientCertificate } from '../../../test/support/client-certificates.ts';
import type { Endpoint } from '../messages.ts';
import type { Site } from './site.ts';
import type { TrafficSummary } from './traffic.ts';

/** The limits of what an attack may cost others, in milliseconds: for one request, and for ten or more of a kind from one caller. */
export const ONE_REQUEST = 50;
export const TEN_REQUESTS = 200;

export interface Attack {
  /** The name that `--rows` selects. */
  name: string;
  /** The name that the table shows. */
  label: string;
  /** The longest time that another node's poll may wait meanwhile, in milliseconds. */
  waitLimit: number;
  /** What the attack times itself (`Site.took`): a name, and the most that it may take in milliseconds. */
  timed?: { what: string; limit: number };
  /** The HAWSER_* variables of its server. */
  settings?: Record<string, string>;
  /**
   * Makes what is needed on the fresh server.
   * @returns the attack itself, which ends by itself
   */
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
  /** This node takes no part in the attack, and has a configuration. */
  | { kind: 'prepared'; node: AttackNode }
  /** This is sent a few times a second, so that it is known even if the attack has to be stopped. */
  | { kind: 'traffic'; traffic: TrafficSummary }
  | { kind: 'done'; traffic: TrafficSummary }
  | { kind: 'failed'; message: string };
