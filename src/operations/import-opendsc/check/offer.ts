/** What a node is served, in a form in which two servers can be compared. */

import type { SecretNames } from '../../../domain/secrets.ts';
import type { Mapping } from '../../../domain/value.ts';

/** A configuration in what a node is served. */
export interface Part {
  name: string;
  version: string;
  /** The SHA-256 of each file, in lower case, by its path inside of the configuration. */
  files: ReadonlyMap<string, string>;
  /** The merged parameters; null where no scope gives any. */
  parameters: Mapping | null;
  /** The version of the parameter file of each scope that gives one, by the scope as `Region/eu`. */
  scopes: ReadonlyMap<string, string>;
  /** Why a parameter file that counts there cannot be read by us, as a sentence, by its scope. */
  unread: ReadonlyMap<string, string>;
  /** Parameters whose values are shown to nobody. */
  secrets: SecretNames;
}

export interface Offer {
  /** Two nodes with the same key are served the same. */
  key: string;
  isComposite: boolean;
  /** By name. Of a configuration there is one. */
  parts: ReadonlyMap<string, Part>;
}

/** What a node is served, or why it gets nothing as a sentence; null where nothing is assigned to it. */
export type Served = { offer: Offer } | { fault: string } | null;
