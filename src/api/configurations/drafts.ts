/** The rules of a new draft, checked before anything is written. */

import { PARAMETERS_FILE, takesParametersPlace } from '../../domain/bundle-paths.ts';
import { normalizePath } from '../../domain/safe-path.ts';
import { isVersion, prereleaseChannelOf } from '../../domain/version-order.ts';
import type { FileContent } from '../../git/types.ts';
import { conflict, invalidField } from '../../lib/errors.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import type { DraftInput } from '../../versions/types.ts';

export interface DraftRequest {
  version: string;
  entryPoint: string;
  prereleaseChannel: string | undefined;
  files: readonly FileContent[];
  useServerManagedParameters: boolean;
  requireSemVer: boolean;
  principal: UserPrincipal;
  now: number;
  gone: AbortSignal;
}

/**
 * @throws HawserError invalid for a channel that is not the version's, no files, or no file at the entry
 *   point; conflict `reserved_path`
 */
export function checkDraft(request: DraftRequest): DraftInput {
  const { version, prereleaseChannel, files, principal, now, gone } = request;
  if (request.requireSemVer && !isVersion(version)) {
    throw invalidField(
      '/version',
      'Not a SemVer 2.0 version, which this configuration requires',
      'semver_required',
    );
  }
  if (prereleaseChannel !== undefined && prereleaseChannel !== prereleaseChannelOf(version)) {
    const message = "Not the first part of the version's prerelease";
    throw invalidField('/prereleaseChannel', message, 'prerelease_channel_mismatch');
  }
  if (files.length === 0) throw invalidField('/files', 'A version needs at least one file', 'no_files');
  const entryPoint = normalizePath(request.entryPoint);
  if (!files.some((file) => file.path === entryPoint)) {
    throw invalidField('/entryPoint', 'None of the files has this path', 'entry_point_missing');
  }
  if (request.useServerManagedParameters) refuseReserved(files);
  const author = { name: principal.username, email: principal.email };
  return { version, entryPoint, files, author, at: now, gone };
}

/** @throws HawserError conflict `reserved_path` where a file, in any case, stands where the parameters go */
export function refuseReserved(files: readonly { path: string }[]): void {
  if (files.some(({ path }) => takesParametersPlace(path))) {
    const message = `${PARAMETERS_FILE} is where the merged parameters go; rename the file or switch off server-managed parameters`;
    throw conflict('reserved_path', message);
  }
}
