/** The terms of the Git store. Object ids are 40 hexadecimal digits. */

/** The kinds of repositories that hold versions. */
export const REPOSITORY_KINDS = ['configurations', 'composites', 'parameters'] as const;
export type RepositoryKind = (typeof REPOSITORY_KINDS)[number];

export function isRepositoryKind(text: string): text is RepositoryKind {
  return (REPOSITORY_KINDS as readonly string[]).includes(text);
}

export interface RepositoryRef {
  kind: RepositoryKind;
  name: string;
}

/** All kinds: those of versions, and the one of the story of the change sets. */
export const STORED_KINDS = [...REPOSITORY_KINDS, 'changes'] as const;
export type StoredKind = (typeof STORED_KINDS)[number];

export function isStoredKind(text: string): text is StoredKind {
  return (STORED_KINDS as readonly string[]).includes(text);
}

/** Any repository, whatever is in it. */
export interface StoredRef {
  kind: StoredKind;
  name: string;
}

export function holdsVersions<R extends StoredRef>(ref: R): ref is R & RepositoryRef {
  return isRepositoryKind(ref.kind);
}

/** The one repository that tells of the change sets. */
export const CHANGES: StoredRef = { kind: 'changes', name: 'changes' };

/** The folders in which stock git works, which may be a cache. */
export interface GitFolders {
  /** Must be called before git reads the folder of a repository. @throws HawserError `repository_missing`; unavailable */
  materialise(ref: StoredRef): Promise<void>;
  /** To be called when git has found the folder damaged. */
  distrust(ref: StoredRef): Promise<void>;
  /** The path of a folder beside the repositories that the caller may make. What it leaves there goes at the next start. */
  scratch(): Promise<string>;
}

export interface Person {
  name: string;
  email: string;
}

/** A file that is to be stored. Its path is relative, in NFC, and has `/` between its parts. */
export interface FileContent {
  path: string;
  content: Uint8Array;
  /** Default: false. */
  executable?: boolean;
}

export interface StoredFile {
  path: string;
  /** The id of the blob. */
  oid: string;
  /** Whether Git has the file with the mode 100755. */
  executable: boolean;
}

export interface BlobInfo {
  size: number;
  /** Hexadecimal. */
  sha256: string;
}

/** All files of a commit that the repository has. */
export interface CommittedFiles {
  commit: string;
  files: readonly StoredFile[];
}

/** What a repository remembers of its row in the registry, so that it can be adopted when the row is lost. */
export interface RepositorySettings {
  id: string;
  description: string | null;
  /** The id of the user. */
  createdBy: string;
  useServerManagedParameters: boolean;
  /** Set for a composite. A configuration has an entry point in each version. */
  entryPoint: string | null;
  /** Milliseconds since the epoch. */
  createdAt: number;
}
