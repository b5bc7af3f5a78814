/**
 * The manifest: the one answer to "what does this node get?". Checksum, ETag and bundle come from this value
 * and so cannot disagree.
 */

import { PARAMETERS_FILE } from '../domain/bundle-paths.ts';
import { sha256Hex } from '../lib/hash.ts';
import type { StoredFile, VersionRef } from '../versions/store.ts';
import type { ConfigurationPlan } from './plans.ts';

/** The merged parameters of a part. */
export interface ManifestParameters {
  /** Of the merged file's bytes, hex. */
  sha256: string;
  /** The files it is merged from, lowest precedence first. */
  refs: readonly VersionRef[];
}

/** A version of a configuration whose files go into the bundle. */
export interface ManifestPart {
  configurationName: string;
  /** The version's tag, by whose object id the files are read: that never changes, even if the ref moves. */
  tag: VersionRef;
  /** Put before each path: empty, or `<child name>/` in a composite. */
  folder: string;
  /** Null where no scope gives any. */
  parameters: ManifestParameters | null;
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
 * the order of the paths' bytes, then the merged parameters if there are any. Only what reaches the node counts: not
 * the tags, their authors or times.
 */
export function configurationManifest(
  plan: ConfigurationPlan,
  parameters: ManifestParameters | null,
): Manifest {
  const { name, tag, entryPoint } = plan;
  return {
    configurationName: name,
    version: tag.version,
    entryPoint,
    parametersFile: parameters === null ? null : PARAMETERS_FILE,
    checksum: sha256Hex(hashedText(plan, parameters)),
    parts: [{ configurationName: name, tag, folder: '', parameters }],
    document: null,
  };
}

/** What the checksums of all nodes with parameters begin with. */
const beginnings = new WeakMap<ConfigurationPlan, string>();

/** An array in JSON: form, name, version, entry point, pairs of path and id, then the pair of the parameters. */
function hashedText(plan: ConfigurationPlan, parameters: ManifestParameters | null): string {
  if (parameters === null) return textOf(plan, plan.files);
  const beginning = beginnings.get(plan) ?? textOf(plan, plan.filesBesideParameters).slice(0, -1);
  beginnings.set(plan, beginning);
  return `${beginning},${JSON.stringify([PARAMETERS_FILE, parameters.sha256])}]`;
}

function textOf({ name, tag, entryPoint }: ConfigurationPlan, files: readonly StoredFile[]): string {
  const pairs = files.map(({ path, oid }) => [path, oid]);
  return JSON.stringify([FORM, name, tag.version, entryPoint, pairs]);
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
