/** What differs between the kinds of repositories where versions are written: the rows, and what the audit trail says. */

import type { AuditAction } from '../domain/audit-actions.ts';
import type { RepositoryKind } from '../git/types.ts';
import type { ResourceKind } from './rows.ts';
import type { DraftContent, PlannedEntry, VersionRef } from './types.ts';

export interface KindFacts {
  rows: ResourceKind;
  actions: { created: AuditAction; replaced: AuditAction };
  /** What the audit trail says of a draft that is written, beside its commit. */
  draftDetails(content: Pick<DraftContent, 'isPassthrough'>, before: VersionRef | null): Planned;
  noSuchVersion: string;
}

/** What the audit trail says of a change that came by push. */
export const PUSHED = { via: 'push' };

/** What an audit entry says of the change, beside its action. */
export type Planned = Pick<PlannedEntry, 'details' | 'replaces'>;
export type PlannedChange = Planned & Pick<PlannedEntry, 'action'>;

const OF_VERSIONS = {
  // The object id of a draft is that of its commit.
  draftDetails: (_content: unknown, before: VersionRef | null) => ({
    details: {},
    replaces: before?.oid ?? null,
  }),
  noSuchVersion: 'No such version',
};

export const AUTHORED = {
  configurations: {
    ...OF_VERSIONS,
    rows: 'configurations',
    actions: { created: 'configuration.version_created', replaced: 'configuration.version_replaced' },
  },
  composites: {
    ...OF_VERSIONS,
    rows: 'composites',
    // A draft is only replaced by changing its children, and then the caller gives the audit entry.
    actions: { created: 'composite.version_created', replaced: 'composite.child_changed' },
  },
  parameters: {
    rows: 'configurations',
    actions: { created: 'parameters.version_saved', replaced: 'parameters.version_saved' },
    draftDetails({ isPassthrough = false }, before) {
      return { details: { isPassthrough, replaced: before?.oid ?? null }, replaces: null };
    },
    noSuchVersion: 'The scope has no such version',
  },
} as const satisfies Record<RepositoryKind, KindFacts>;
