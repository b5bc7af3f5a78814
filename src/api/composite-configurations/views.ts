/** Composites, their versions and items as the API shows them. */

import type { CompositeChild, CompositeDocument } from '../../domain/composite-document.ts';
import { prereleaseChannelOf } from '../../domain/version-order.ts';
import { toOptionalTimestamp, toTimestamp } from '../../lib/clock.ts';
import { nameBasedId } from '../../lib/ids.ts';
import type { VersionDetails, VersionIndex } from '../../versions/types.ts';
import type { CompositeRow } from './queries.ts';

/** @param index null where the repository cannot be read: the numbers are then unknown, not nought */
export function toComposite(row: CompositeRow, index: VersionIndex | null) {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    entryPoint: row.entry_point,
    versionCount: index?.versions.length ?? null,
    latestVersion: index?.versions[0]?.version ?? null,
    latestPublishedVersion: index?.published[0]?.version ?? null,
    createdAt: toTimestamp(row.created_at),
    updatedAt: toTimestamp(row.updated_at),
  };
}

/** @param configurationIds ids of the children's configurations by name */
export function toCompositeVersion(
  compositeId: string,
  details: VersionDetails,
  document: CompositeDocument,
  configurationIds: ReadonlyMap<string, string>,
) {
  return {
    // A version has no row, so its id is made from what names it.
    id: nameBasedId(compositeId, details.version),
    version: details.version,
    status: details.status,
    prereleaseChannel: prereleaseChannelOf(details.version),
    items: document.children.map((child) => toItem(child, configurationIds)),
    createdAt: toTimestamp(details.createdAt),
    createdBy: details.createdBy,
    publishedAt: toOptionalTimestamp(details.publishedAt),
    publishedBy: details.publishedBy,
    commit: details.commit,
  };
}

export function toItem(child: CompositeChild, configurationIds: ReadonlyMap<string, string>) {
  return {
    id: child.id,
    childConfigurationId: configurationIds.get(child.configuration) ?? null,
    childConfigurationName: child.configuration,
    activeVersion: child.version,
    order: child.order,
  };
}
