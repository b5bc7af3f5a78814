/** Configurations and versions as the API shows them. */

import { prereleaseChannelOf } from '../../domain/version-order.ts';
import type { BlobInfo } from '../../git/types.ts';
import { mediaTypeOf } from '../../http/media-types.ts';
import { toOptionalTimestamp, toTimestamp } from '../../lib/clock.ts';
import type { VersionDetails, VersionIndex } from '../../versions/types.ts';
import type { ConfigurationRow } from './queries.ts';

/** @param index null where the repository cannot be read: the numbers are then unknown, not nought */
export function toConfiguration(row: ConfigurationRow, index: VersionIndex | null) {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    useServerManagedParameters: row.use_server_managed_parameters === 1,
    versionCount: index?.versions.length ?? null,
    latestVersion: index?.versions[0]?.version ?? null,
    latestPublishedVersion: index?.published[0]?.version ?? null,
    createdAt: toTimestamp(row.created_at),
    updatedAt: toTimestamp(row.updated_at),
  };
}

export function toVersion(details: VersionDetails) {
  return {
    version: details.version,
    status: details.status,
    entryPoint: details.entryPoint,
    prereleaseChannel: prereleaseChannelOf(details.version),
    fileCount: details.files.length,
    createdAt: toTimestamp(details.createdAt),
    createdBy: details.createdBy,
    publishedAt: toOptionalTimestamp(details.publishedAt),
    publishedBy: details.publishedBy,
    commit: details.commit,
  };
}

/**
 * The files of a version, as they are asked for: there may be twenty thousand.
 * @param infos of the files, in their order
 */
export function* toVersionFiles({ files }: VersionDetails, infos: readonly BlobInfo[]) {
  for (const [at, { path }] of files.entries()) {
    const { size, sha256 } = infos[at] as BlobInfo;
    yield { path, size, checksum: sha256, contentType: mediaTypeOf(path) };
  }
}
