/** Parameter files as the API shows them. */

import { majorOf } from '../../domain/version-order.ts';
import type { ParameterDetails, ParameterScope } from '../../git/store.ts';
import { toOptionalTimestamp, toTimestamp } from '../../lib/clock.ts';
import { nameBasedId } from '../../lib/ids.ts';
import { MEDIA_TYPES } from './content.ts';

export interface ShownFile {
  type: { id: string; name: string };
  scope: ParameterScope;
  details: ParameterDetails;
  needsMigration: boolean;
}

export function toParameterFile(
  configurationId: string,
  { type, scope, details, needsMigration }: ShownFile,
) {
  const { version, contentType } = details;
  return {
    id: nameBasedId(configurationId, `${type.id}/${scope.value ?? ''}/${version}`),
    scopeTypeId: type.id,
    scopeTypeName: type.name,
    configurationId,
    scopeValue: scope.value,
    version,
    majorVersion: majorOf(version),
    checksum: details.sha256,
    contentType: contentType && MEDIA_TYPES[contentType],
    status: details.status,
    isPassthrough: details.isPassthrough,
    needsMigration,
    createdAt: toTimestamp(details.createdAt),
    createdBy: details.createdBy,
    publishedAt: toOptionalTimestamp(details.publishedAt),
  };
}

/** The address of a version, at which it can be deleted and published. */
export function locationOf(configurationId: string, { type, scope, details }: ShownFile): string {
  const query = scope.value === null ? '' : `?scopeValue=${encodeURIComponent(scope.value)}`;
  const version = encodeURIComponent(details.version);
  return `/api/v1/parameters/${type.id}/${configurationId}/versions/${version}${query}`;
}
