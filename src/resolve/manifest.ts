/**
 * The manifest is the one answer to "what does this node get?". Checksum, ETag and bundle come from this value, so they
 * cannot disagree.
 */

import { PARAMETERS_FILE } from '../domain/bundle-paths.ts';
import type { MergeWay } from '../domain/merge-way.ts';
import type { VariableValues } from '../domain/variables.ts';
import { sha256Hex } from '../lib/hash.ts';
import type { MergedScope } from '../security/access.ts';
import type { StoredFile, VersionRef } from '../versions/store.ts';
import type { ConfigurationPlan } from './plans.ts';

/** The merged parameters of a part. */
export interface ManifestParameters {
  /** As `MergedDocuments.evidence`. */
  evidence: string;
  /** Whether a leaf of the merged file is stored encrypted. */
  hasSecrets: boolean;
  /** As `MergedDocuments` has them. */
  mergeVersion: 1 | 2;
  variables: VariableValues;
  /** How the files are merged. */
  way: MergeWay;
  /** The files that are merged, lowest precedence first. */
  refs: readonly VersionRef[];
  /** The scope of each of them, by ids, because another scope may get the name. */
  scopes: readonly MergedScope[];
}

/** A version of a configuration whose files go into the bundle. */
export interface ManifestPart {
  configurationName: string;
  /** The version's tag. The files are read by its object id, which never changes, even if the ref moves. */
  tag: VersionRef;
  /** The prefix of each path: empty, or `<child name>/` in a composite. */
  folder: string;
  /** Null if no scope gives any parameters. */
  parameters: ManifestParameters | null;
  /** By which rules parameters merge: 2 where something other than the defaults of before holds. */
  mergeVersion: 1 | 2;
  /** The variables that were replaced, with their values; null where none are. */
  variables: VariableValues | null;
}

export interface Manifest {
  /** The name of the configuration or composite. */
  configurationName: string;
  version: string;
  /** The tag of this version of the configuration or composite. */
  tag: VersionRef;
  entryPoint: string;
  /** The path of the merged parameters inside the bundle. Null if there are none, and for a composite. */
  parametersFile: string | null;
  /** The SHA-256 of everything that decides the bundle, in hexadecimal. */
  checksum: string;
  parts: readonly ManifestPart[];
  /** The document that is generated at the entry point of a composite; null for a configuration. */
  document: string | null;
}

/** Whether the bundle holds secrets in the clear. */
export function hasSecrets({ parts }: Pick<Manifest, 'parts'>): boolean {
  return parts.some(({ parameters }) => parameters?.hasSecrets ?? false);
}

/** The name of the hashed form. A bundle of another form must have another checksum. */
const FORM = 'hawser-manifest-1';

/**
 * The manifest of a configuration. The checksum covers name, version, entry point, then each path with the id of its
 * content in the order of the paths' bytes, then the merged parameters if there are any. It covers only what reaches the
 * node, not the tags, their authors or times.
 */
export function configurationManifest(
  plan: ConfigurationPlan,
  parameters: ManifestParameters | null,
): Manifest {
  const { name, tag, entryPoint } = plan;
  return {
    configurationName: name,
    version: tag.version,
    tag,
    entryPoint,
    parametersFile: parameters === null ? null : PARAMETERS_FILE,
    checksum: sha256Hex(hashedText(plan, parameters)),
    parts: [{ configurationName: name, tag, folder: '', parameters, ...mergedBy(plan, parameters) }],
    document: null,
  };
}

function mergedBy(
  { merging: { way, hasVariables } }: ConfigurationPlan,
  parameters: ManifestParameters | null,
) {
  const isOther = way.strategies.length > 0 || hasVariables || parameters?.mergeVersion === 2;
  return {
    mergeVersion: isOther ? (2 as const) : (1 as const),
    variables: hasVariables ? (parameters?.variables ?? {}) : null,
  };
}

/** The beginning of the hashed text, which is the same for all nodes with parameters. */
const beginnings = new WeakMap<ConfigurationPlan, string>();

/**
 * The text is an array in JSON: form, name, version, entry point, pairs of path and id, the pair of the parameters. The
 * pair of an executable file has a third member, `x`, so that all other files hash as they did before.
 */
function hashedText(plan: ConfigurationPlan, parameters: ManifestParameters | null): string {
  if (parameters === null) return textOf(plan, plan.files);
  const beginning = beginnings.get(plan) ?? textOf(plan, plan.filesBesideParameters).slice(0, -1);
  beginnings.set(plan, beginning);
  return `${beginning},${JSON.stringify([PARAMETERS_FILE, parameters.evidence])}]`;
}

function textOf({ name, tag, entryPoint }: ConfigurationPlan, files: readonly StoredFile[]): string {
  const pairs = files.map(({ path, oid, executable }) => (executable ? [path, oid, 'x'] : [path, oid]));
  return JSON.stringify([FORM, name, tag.version, entryPoint, pairs]);
}

/** The manifest of a composite. The checksum covers name, version, entry point, and the checksums of all children. */
export function compositeManifest(
  composite: { name: string; tag: VersionRef; entryPoint: string; document: string },
  children: readonly Manifest[],
): Manifest {
  const { name, tag, entryPoint, document } = composite;
  const { version } = tag;
  const checksums = children.map((child) => [child.configurationName, child.checksum]);
  return {
    configurationName: name,
    version,
    tag,
    entryPoint,
    parametersFile: null,
    checksum: sha256Hex(JSON.stringify([FORM, 'composite', name, version, entryPoint, checksums])),
    parts: children.flatMap((child) =>
      child.parts.map((part) => ({ ...part, folder: `${child.configurationName}/` })),
    ),
    document,
  };
}
