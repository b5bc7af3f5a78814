/** Parameter files as the API shows them, alone and by majors. */

import { isStable, majorOf } from '../../domain/version-order.ts';
import { toOptionalTimestamp, toTimestamp } from '../../lib/clock.ts';
import { nameBasedId } from '../../lib/ids.ts';
import type { ParameterDetails, ParameterScope, VersionRef } from '../../versions/store.ts';
import { MEDIA_TYPES } from './content.ts';

export interface ShownFile {
  configurationId: string;
  type: { id: string; name: string };
  scope: ParameterScope;
  details: ParameterDetails;
  needsMigration: boolean;
}

export function toParameterFile({ configurationId, type, scope, details, needsMigration }: ShownFile) {
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

/** Where a version has its address, from which it can be deleted and published. */
export function locationOf({ configurationId, type, scope, details }: ShownFile): string {
  const query = scope.value === null ? '' : `?scopeValue=${encodeURIComponent(scope.value)}`;
  const version = encodeURIComponent(details.version);
  return `/api/v1/parameters/${type.id}/${configurationId}/versions/${version}${query}`;
}

export interface Major {
  major: number;
  /** Highest first. */
  versions: VersionRef[];
}

/** Highest first; versions that are no SemVer have no major, and are left out. */
export function groupByMajor(highestFirst: readonly VersionRef[]): Major[] {
  const majors = new Map<number, Major>();
  for (const ref of highestFirst) {
    const major = majorOf(ref.version);
    if (major === null) continue;
    const group = majors.get(major) ?? { major, versions: [] };
    majors.set(major, group);
    group.versions.push(ref);
  }
  return [...majors.values()];
}

export function toMajor({ major, versions }: Major, hasMigrationNeeded: boolean) {
  return {
    majorVersion: major,
    versionCount: versions.length,
    hasActive: versions.some(({ status }) => status === 'Published'),
    latestVersion: versions[0]?.version,
    hasMigrationNeeded,
  };
}

/** The highest published stable version of a major, else the highest published one. */
export function activeOf({ versions }: Major): VersionRef | undefined {
  const published = versions.filter(({ status }) => status === 'Published');
  return published.find(({ version }) => isStable(version)) ?? published[0];
}
