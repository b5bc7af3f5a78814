/** Freezes one of several servers in the middle of a write, as a machine does whose memory or disk stands still. */

import type { Reply } from '../client.ts';
import { otherProgram } from '../postgres/other-program.ts';
import type { ServerCluster } from './cluster.ts';
import type { ClusterServer } from './server.ts';

/**
 * Lets the server begin a write, which then waits for another program while it holds its lock, and freezes it.
 * @param write a write that leaves an entry in the audit trail
 * @returns the answer that is still to come, in an array, because a promise would be waited for
 */
export async function freezeAmid(
  cluster: ServerCluster,
  server: ClusterServer,
  write: () => Promise<Reply>,
): Promise<[Promise<Reply>]> {
  const other = await otherProgram(cluster.database.url);
  try {
    await other.query('begin; lock table audit_entries in access exclusive mode');
    const sent = write();
    await other.waitedFor();
    server.freeze();
    return [sent];
  } finally {
    await other.end();
  }
}
