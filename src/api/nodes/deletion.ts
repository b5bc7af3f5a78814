/** Deleting a node with all that hangs on it. */

import type { Database } from '../../db/open.ts';
import { notFound } from '../../lib/errors.ts';
import { type Actor, recordAudit } from '../../security/audit.ts';
import { deleteNodeRow } from './queries.ts';

/**
 * Nothing of it is kept in memory, so that its certificate is unknown from the next call on, on open connections too.
 * @throws HawserError not_found
 */
export async function deleteNode(database: Database, actor: Actor, nodeId: string): Promise<void> {
  await database.write.transaction().execute(async (trx) => {
    const fqdn = await deleteNodeRow(trx, nodeId);
    if (fqdn === undefined) throw notFound('No such node');
    await recordAudit(trx, actor, { action: 'node.deleted', resourceId: nodeId, details: { fqdn } });
  });
}
