/**
 * The manifest: the one answer to "what does this node get?". Checksum, ETag and bundle come from this value
 * and so cannot disagree.
 */

import type { VersionRef } from '../git/types.ts';
import { sha256Hex } from '../lib/hash.ts';

/** A path and the Git blob id of its content. */
export interface ManifestFile {
  path: string;
  oid: string;
}

export interface Manifest {
  configurationId: string;
  configurationName: string;
  version: string;
  /** The version's tag, by whose object id the files are read. */
  tag: VersionRef;
  entryPoint: string;
  /** Path of the merged parameters inside the bundle, null when there are none. */
  parametersFile: string | null;
  /** SHA-256 over everything that decides the bundle, hex. */
  checksum: string;
}

export type ManifestContent = Omit<Manifest, 'checksum'>;

/** Names the form that is hashed; a bundle of another form must have another checksum. */
const FORM = 'hawser-manifest-1';

/**
 * Checksum over the canonical form: name, version, entry point, then each path with its content's id in the
 * order of the paths' bytes. Only what reaches the node counts: not the tag, its author or its time.
 * @param files sorted by path bytes, as the Git store gives them
 */
export function makeManifest(content: ManifestContent, files: readonly ManifestFile[]): Manifest {
  const { configurationName, version, entryPoint } = content;
  const paths = files.map((file) => [file.path, file.oid]);
  const canonical = JSON.stringify([FORM, configurationName, version, entryPoint, paths]);
  return { ...content, checksum: sha256Hex(canonical) };
}
