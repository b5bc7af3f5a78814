/** What the store of parameters speaks in. */

import type { BlobInfo, Person } from './types.ts';
import type { VersionRef } from './version-index.ts';

/** One value of a scope type; Default has none, every other type has one. */
export interface ParameterScope {
  scopeType: string;
  value: string | null;
}

export type ParameterContentType = 'yaml' | 'json';

/** A version of a scope's file, or of an uploaded schema, which is always published. */
export interface ParameterVersionRef extends VersionRef {
  /** The full name of its branch or tag. */
  name: string;
  /** Null while the objects cannot be read: it is listed all the same, and its details fail. */
  commit: string | null;
}

/** Never fails and never waits; follows every change of the repository. */
export interface ParameterIndex {
  /**
   * Highest first. The very same array for as long as nothing changed in this scope, whatever changed in others;
   * every scope without versions has one and the same empty array.
   */
  versions(scope: ParameterScope): readonly ParameterVersionRef[];
  /** The published ones of `versions`, under the same promise. */
  published(scope: ParameterScope): readonly ParameterVersionRef[];
  get(scope: ParameterScope, version: string): ParameterVersionRef | undefined;
  /** The scopes that have any version, of one type or of all, in no order. */
  scopes(scopeType?: string): ParameterScope[];
  /** Of uploaded schemas, highest first, under the same promise as `versions`. */
  schemas(): readonly ParameterVersionRef[];
}

/** What a scope sets; null skips the scope on purpose. */
export type ParameterContent = { type: ParameterContentType; bytes: Uint8Array } | null;

export interface ParameterDraft {
  version: string;
  content: ParameterContent;
  author: Person;
  at: number;
}

export interface SchemaUpload {
  version: string;
  content: { type: ParameterContentType; bytes: Uint8Array };
  author: Person;
  at: number;
}

export interface ParameterDetails extends BlobInfo {
  version: string;
  status: VersionRef['status'];
  commit: string;
  /** Null of a scope that is skipped on purpose, which has no content: its size is 0, its hash that of nothing. */
  contentType: ParameterContentType | null;
  /** The content's blob. */
  oid: string | null;
  isPassthrough: boolean;
  createdAt: number;
  createdBy: string;
  publishedAt: number | null;
  publishedBy: string | null;
}

/** A configuration's parameters while their lock is held; refuses to work once the lock is given back. */
export interface LockedParameters {
  /** As on the disk when the lock was taken, and after each write of this holder. */
  readonly index: ParameterIndex;
  /**
   * Makes a draft, or gives one that exists other content: its author and the time of its making stay. Conflict
   * `published_version`, `version_exists` for one that differs in build metadata alone, `draft_changed`.
   */
  writeDraft(scope: ParameterScope, draft: ParameterDraft): Promise<ParameterWrite>;
  /** Not found, conflict `already_published`, `draft_changed`. */
  publish(scope: ParameterScope, version: string, tagger: Person, at: number): Promise<ParameterDetails>;
  /** Not found, conflict `published_version`, `draft_changed`. */
  deleteDraft(scope: ParameterScope, version: string): Promise<void>;
  /**
   * Removes files, drafts and published ones, and the history that leads through them from what is kept, on the
   * branch of their scope type too: kept commits keep their ids. Conflict `versions_changed`.
   */
  deleteVersions(refs: readonly ParameterVersionRef[]): Promise<void>;
  /** Keeps an uploaded schema in place of an earlier one of the same version; conflict `schema_changed`. */
  putSchema(schema: SchemaUpload): Promise<ParameterDetails>;
}

export interface ParameterWrite {
  isNew: boolean;
  details: ParameterDetails;
}
