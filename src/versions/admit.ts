/** What says whether a tag counts that no push has brought. `outside-tags.ts` has the rule. */

import type { StoredFile } from '../git/types.ts';

/** A tag that has no record of a push. */
export interface OutsideTag {
  version: string;
  oid: string;
  commit: string;
  entryPoint: string;
  files(): Promise<readonly StoredFile[]>;
  /** The bytes of an object of the repository. */
  read(oid: string, type: 'tag' | 'blob'): Promise<Buffer>;
}

/** @returns why a tag of a configuration is no version; null where it counts */
export type Admit = (configurationName: string, tag: OutsideTag) => Promise<string | null>;
