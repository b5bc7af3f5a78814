/** The entries that changes of versions leave in the audit trail, and the removal of many versions with theirs. */

import type { Database, Db } from '../db/database.ts';
import type { AuditAction } from '../domain/audit-actions.ts';
import type { RepositoryKind } from '../git/types.ts';
import { type Actor, recordAudit } from '../security/audit.ts';
import { AUDITED, noteParameters, type Owner } from './rows.ts';
import type { LockedRepository, VersionRef } from './types.ts';

/** The parts of an audit entry that depend on the change. */
export interface AuditChange {
  action: AuditAction;
  details: Record<string, unknown>;
}

/** Records still under the lock, so that the entries stand in the order of the changes. */
export function recordChanges(
  database: Pick<Database, 'transact'>,
  owner: Owner,
  { writer, actor }: { writer: LockedRepository; actor: Actor },
  entries: readonly AuditChange[],
): Promise<void> {
  return recordAll(database, [{ owner, writer, entries }], actor);
}

/** What was changed in one repository, and what the audit trail says of it. */
export interface ChangedRepository {
  owner: Owner;
  writer: LockedRepository;
  entries: readonly AuditChange[];
}

/** Records changes of several repositories in one transaction. In PostgreSQL it makes all of them. */
export function recordAll(
  { transact }: Pick<Database, 'transact'>,
  changed: readonly ChangedRepository[],
  actor: Actor,
): Promise<void> {
  const record = (rest: readonly ChangedRepository[], notes: readonly Note[]): Promise<void> => {
    const [next, ...others] = rest;
    if (next) return next.writer.note((note) => record(others, [...notes, note]));
    return transact(async (trx) => {
      for (const note of notes) await note(trx);
      for (const { owner, entries } of changed) {
        const { id: resourceId, name } = owner.resource;
        if (owner.kind === 'parameters') await noteParameters(trx, resourceId);
        for (const { action, details } of entries)
          await recordAudit(trx, actor, { action, resourceId, details: { name, ...details } });
      }
    });
  };
  return record(changed, []);
}

type Note = (trx: Db) => Promise<void>;

/**
 * Deletes versions, published ones too, in the name of a cleanup. Must run under the lock.
 * @param told what the audit trail says of a version that is gone
 * @param onGone told which have gone. Some may have, though others could not be deleted and this throws.
 */
export async function deleteVersions<K extends RepositoryKind, V extends { ref: VersionRef }>(
  database: Database,
  owner: Owner<K>,
  { writer, actor }: { writer: LockedRepository; actor: Actor },
  due: readonly V[],
  { told, onGone }: { told: (version: V) => AuditChange['details']; onGone: (gone: readonly V[]) => void },
): Promise<void> {
  const isGone = ({ ref: { series, version } }: V) => writer.index.of(series).get(version) === undefined;
  try {
    await writer.deleteVersions(due.map(({ ref }) => ref));
  } finally {
    const gone = due.filter(isGone);
    const action = `${AUDITED[owner.kind]}.version_deleted` as const;
    const entries = gone.map((version) => ({ action, details: told(version) }));
    try {
      if (gone.length > 0) await recordChanges(database, owner, { writer, actor }, entries);
    } finally {
      // In PostgreSQL the versions are removed by the commit of the entries. If it fails, they stay.
      onGone(gone.filter(isGone));
    }
  }
}
