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

/** A version of a configuration whose files go into the bundle. */
export interface ManifestPart {
  configurationName: string;
  /** The version's tag, by whose object id the files are read: that never changes, even if the ref moves. */
  tag: VersionRef;
  /** Put before each path: empty, or `<child name>/` in a composite. */
  folder: string;
}

export interface Manifest {
  /** Name of the configuration or composite. */
  configurationName: string;
  version: string;
  entryPoint: string;
  /** Path of the merged parameters inside the bundle; null when there are none, and of a composite. */
  parametersFile: string | null;
  /** SHA-256 over everything that decides the bundle, hex. */
  checksum: string;
  parts: readonly ManifestPart[];
  /** Of a composite: the document generated at its entry point. */
  document: string | null;
}

/** Names the form that is hashed; a bundle of another form must have another checksum. */
const FORM = 'hawser-manifest-1';

/**
 * Of a configuration. The checksum covers name, version, entry point, then each path with its content's id in
 * the order of the paths' bytes. Only what reaches the node counts: not the tag, its author or its time.
 * @param files sorted by path bytes, as the Git store gives them
 */
export function configurationManifest(
  configurationName: string,
  tag: VersionRef,
  entryPoint: string,
  files: readonly ManifestFile[],
): Manifest {
  const paths = files.map((file) => [file.path, file.oid]);
  return {
    configurationName,
    version: tag.version,
    entryPoint,
    parametersFile: null,
    checksum: sha256Hex(JSON.stringify([FORM, configurationName, tag.version, entryPoint, paths])),
    parts: [{ configurationName, tag, folder: '' }],
    document: null,
  };
}

/** Of a composite: the checksum covers name, version, entry point, and the same of every child in order. */
export function compositeManifest(
  composite: { name: string; version: string; entryPoint: string; document: string },
  children: readonly Manifest[],
): Manifest {
  const { name, version, entryPoint, document } = composite;
  const checksums = children.map((child) => [child.configurationName, child.checksum]);
  return {
    configurationName: name,
    version,
    entryPoint,
    parametersFile: null,
    checksum: sha256Hex(JSON.stringify([FORM, 'composite', name, version, entryPoint, checksums])),
    parts: children.flatMap((child) =>
      child.parts.map((part) => ({ ...part, folder: `${child.configurationName}/` })),
    ),
    document,
  };
}
