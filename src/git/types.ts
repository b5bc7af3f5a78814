/** The terms of the Git store. Object ids are 40 hexadecimal digits. */

export const REPOSITORY_KINDS = ['configurations', 'composites', 'parameters'] as const;
export type RepositoryKind = (typeof REPOSITORY_KINDS)[number];

export function isRepositoryKind(text: string): text is RepositoryKind {
  return (REPOSITORY_KINDS as readonly string[]).includes(text);
}

export interface RepositoryRef {
  kind: RepositoryKind;
  name: string;
}

/** The folders in which stock git works, which may be a cache. */
export interface GitFolders {
  /** Must be called before git reads the folder of a repository. @throws HawserError `repository_missing`; unavailable */
  materialise(ref: RepositoryRef): Promise<void>;
  /** To be called when git has found the folder damaged. */
  distrust(ref: RepositoryRef): Promise<void>;
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
