/**
 * The rules for versions, whoever makes them: a request now, a push or a preview later. No rule writes anything. A rule
 * for drafts throws; call it under the lock, with the row that was read there. A rule for publishing gives what it
 * finds. The rule on compatible parameters is in resolve/schema-compatibility.ts.
 */

import { PARAMETERS_FILE, takesParametersPlace } from '../domain/bundle-paths.ts';
import { type CompositeChild, type CompositeDocument, isFollowed } from '../domain/composite-document.ts';
import { normalizePath, showText } from '../domain/safe-path.ts';
import { isVersion, leadingVHint, prereleaseChannelOf } from '../domain/version-order.ts';
import { conflict, type HawserError, invalidField } from '../lib/errors.ts';
import { scopesIn, seriesOf } from './parameter-files.ts';
import type { VersionIndex, VersionRef } from './types.ts';
import type { VersionSource } from './version-source.ts';

export interface DraftRequest<F extends { path: string }> {
  version: string;
  entryPoint: string;
  prereleaseChannel: string | undefined;
  files: readonly F[];
  useServerManagedParameters: boolean;
  requireSemVer: boolean;
}

/**
 * Checks the draft of a configuration.
 * @returns its content, with the entry point in its normal form
 * @throws HawserError invalid for a version that must be SemVer, a channel that is not the version's, no files, or no
 *   file at the entry point; conflict `reserved_path`
 */
export function checkDraft<F extends { path: string }>(
  request: DraftRequest<F>,
): { entryPoint: string; files: readonly F[] } {
  const { version, files } = request;
  if (request.requireSemVer && !isVersion(version)) {
    const message = `Not a SemVer 2.0 version, which this configuration requires${leadingVHint(version)}`;
    throw invalidField('/version', message, 'semver_required');
  }
  checkChannel(version, request.prereleaseChannel);
  if (files.length === 0) throw invalidField('/files', 'A version needs at least one file', 'no_files');
  const entryPoint = normalizePath(request.entryPoint);
  if (!files.some((file) => file.path === entryPoint)) {
    throw invalidField('/entryPoint', noEntryPoint(entryPoint, files), 'entry_point_missing');
  }
  if (request.useServerManagedParameters) refuseReservedPaths(files);
  return { entryPoint, files };
}

/** More files than this are not named where the entry point is missing. */
const MAX_FOUND = 3;

/** Names the files that were probably meant: of the same name in a folder, as archives have them, or other documents. */
function noEntryPoint(entryPoint: string, files: readonly { path: string }[]): string {
  const paths = files.map(({ path }) => path);
  const name = baseName(entryPoint);
  const alike = paths.filter((path) => baseName(path) === name);
  const found = alike.length > 0 ? alike : paths.filter((path) => /\.dsc\.(?:ya?ml|json)$/i.test(path));
  if (found.length === 0)
    return `No file ${showText(entryPoint)}; set entryPoint to the path of the DSC document`;
  const more = found.length > MAX_FOUND ? ` and ${found.length - MAX_FOUND} more` : '';
  return `No file ${showText(entryPoint)}; found ${found.slice(0, MAX_FOUND).map(showText).join(', ')}${more}; set entryPoint`;
}

const baseName = (path: string) => path.slice(path.lastIndexOf('/') + 1).toLowerCase();

/** @throws HawserError invalid for a channel that is given, but is not that of the version */
export function checkChannel(version: string, channel: string | null | undefined): void {
  if ((channel ?? null) === null || channel === prereleaseChannelOf(version)) return;
  const message = "Not the first part of the version's prerelease";
  throw invalidField('/prereleaseChannel', message, 'prerelease_channel_mismatch');
}

/** @throws HawserError conflict `reserved_path` where a file, in any case, stands where the parameters go */
export function refuseReservedPaths(files: readonly { path: string }[]): void {
  if (!files.some(({ path }) => takesParametersPlace(path))) return;
  const message = `${PARAMETERS_FILE} is where the merged parameters go; rename the file or switch off server-managed parameters`;
  throw conflict('reserved_path', message);
}

/**
 * Refuses server-managed parameters where a version, which may be pinned or published later, runs a file whose place they take:
 * its nodes would run their parameters as their document, with the secrets in them.
 * @throws HawserError conflict `reserved_path`
 */
export async function refuseReservedEntryPoints(
  store: VersionSource,
  name: string,
  { versions }: VersionIndex,
): Promise<void> {
  for (const ref of versions) {
    const { entryPoint } = await store.details({ kind: 'configurations', name }, ref);
    if (!takesParametersPlace(entryPoint ?? '')) continue;
    const message = `The entry point of version ${ref.version} is where the merged parameters go; make another configuration for them`;
    throw conflict('reserved_path', message);
  }
}

/**
 * The draft of this name, or undefined without such a version.
 * @throws HawserError conflict `published_version`
 */
export function findDraft(
  index: VersionIndex,
  version: string,
  message = 'A published version never changes',
): VersionRef | undefined {
  const ref = index.get(version);
  if (ref?.status === 'Published') throw conflict('published_version', message);
  return ref;
}

/** @throws HawserError conflict `version_exists`, also for a version that differs in build metadata alone */
export function refuseSameVersion(index: VersionIndex, version: string): void {
  const same = index.findSame(version);
  if (same) throw versionExists(same.version);
}

export const versionExists = (version: string) =>
  conflict('version_exists', `Version ${version} exists already.`);

/** The rules for publishing a draft of some kind. They give the error of each that it breaks, in their order. */
export type PublishRules = (draft: VersionRef) => Promise<readonly HawserError[]>;

/**
 * What stands in the way of publishing a version. Publishing throws the first of these errors, and the check of a draft
 * shows all of them.
 */
export async function findBlockers(ref: VersionRef, rules: PublishRules): Promise<readonly HawserError[]> {
  if (ref.status === 'Published') return [conflict('already_published', 'The version is published already')];
  return rules(ref);
}

/**
 * The children of a composite that are not published, as the composite must be to be published itself.
 * @returns conflicts: `no_children`, or an `unpublished_child` for each, in the order of the children
 */
export async function findUnpublishedChildren(
  store: VersionSource,
  { children }: CompositeDocument,
): Promise<HawserError[]> {
  if (children.length === 0)
    return [conflict('no_children', 'A composite without children cannot be published')];
  const found: HawserError[] = [];
  for (const child of children) {
    const { configuration: name, version } = child;
    const index = await store.versions({ kind: 'configurations', name });
    const isPublished =
      version === null
        ? index.published.some((ref) => isFollowed(child, ref))
        : index.get(version)?.status === 'Published';
    if (!isPublished) found.push(unpublishedChild(child));
  }
  return found;
}

export function unpublishedChild({ configuration, version, majorVersion }: CompositeChild): HawserError {
  const ofMajor = majorVersion === null ? '' : ` of major ${majorVersion}`;
  const what =
    version === null
      ? `has no published version${ofMajor} that is offered`
      : `is pinned to ${version}, which is not published`;
  return conflict('unpublished_child', `The child ${configuration} ${what}`);
}

/**
 * Keeps the server-managed parameters of a configuration switched on while it has published parameter files.
 * @throws HawserError conflict `in_use`
 */
export async function refusePublishedParameters(
  store: VersionSource,
  configurationName: string,
): Promise<void> {
  const index = await store.parameters.index(configurationName);
  if (!scopesIn(index).some((scope) => index.of(seriesOf(scope)).published.length > 0)) return;
  throw conflict('in_use', 'It has published parameter files, which nodes would no longer get');
}
