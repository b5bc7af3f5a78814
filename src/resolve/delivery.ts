/** What a node gets, with all that it is made of: for previews, proofs and explanations. Polls keep the manifest alone. */

import type { MergeWay } from '../domain/merge-way.ts';
import type { VersionRef } from '../versions/store.ts';
import type { Manifest } from './manifest.ts';
import type { ScopeFile } from './parameters.ts';
import type { ConfigurationPlan, Plan } from './plans.ts';

/** A scope that gives a file. The file of a passthrough has no content. */
export type GivenFile = ScopeFile & { file: VersionRef };

/** One configuration of what a node gets, with the files that are merged for it. */
export interface DeliveryPart {
  plan: ConfigurationPlan;
  /** The scopes that give a file, in the order of merging. Scopes that give none are left out. */
  scopes: readonly GivenFile[];
  /** How they merge for the node. */
  way: MergeWay;
}

export interface Delivery {
  plan: Plan;
  manifest: Manifest;
  /** The parts in the order of the manifest's. Of a configuration there is one. */
  parts: readonly DeliveryPart[];
}

/** Why a node gets nothing although something is assigned to it, in the words that its poll is answered with. */
export interface DeliveryError {
  code: string;
  message: string;
}

/** What a node gets, or why it does not; null where nothing is assigned to it. */
export type Outcome = { delivery: Delivery } | { error: DeliveryError } | null;
