/** The entries that changes of versions leave in the audit trail. */

import type { Database } from '../db/open.ts';
import type { AuditAction } from '../domain/audit-actions.ts';
import { type Actor, recordAudit } from '../security/audit.ts';
import { noteParameters, type Owner } from './rows.ts';
import type { LockedRepository } from './types.ts';

/** The parts of an audit entry that depend on the change. */
export interface AuditChange {
  action: AuditAction;
  details: Record<string, unknown>;
}

/** Records still under the lock, so that the entries stand in the order of the changes. */
export function recordChanges(
  { write }: Database,
  { kind, resource: { id: resourceId, name } }: Owner,
  { writer, actor }: { writer: LockedRepository; actor: Actor },
  entries: readonly AuditChange[],
): Promise<void> {
  return writer.note((note) =>
    write.transaction().execute(async (trx) => {
      await note(trx);
      if (kind === 'parameters') await noteParameters(trx, resourceId);
      for (const { action, details } of entries)
        await recordAudit(trx, actor, { action, resourceId, details: { name, ...details } });
    }),
  );
}
