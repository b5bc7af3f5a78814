/** Reads the audit trail as an operator does: through its route. */

import { expect } from 'chai';
import type { Reply } from './client.ts';
import type { Hawser } from './hawser.ts';

export interface Entry {
  id: string;
  timestamp: string;
  actorType: string;
  actorId: string | null;
  actorName: string | null;
  action: string;
  resourceType: string;
  resourceId: string | null;
  resourceName: string | null;
  summary: string;
  details: Record<string, unknown> | null;
  ipAddress: string | null;
  requestId: string | null;
}

/** @param query such as `action=user.created&take=5` */
export async function auditEntries(hawser: Pick<Hawser, 'admin'>, query = ''): Promise<Entry[]> {
  const reply = await hawser.admin.get(`/api/v1/audit?${query}`);
  if (reply.status !== 200) throw new Error(`the audit trail answered ${reply.status} ${reply.text}`);
  return reply.json;
}

async function countAuditEntries(hawser: Hawser): Promise<number> {
  const reply = await hawser.admin.get('/api/v1/audit?take=1');
  return Number(reply.headers['x-total-count']);
}

/** @returns the entries that the work has added, oldest first */
export async function auditedDuring(hawser: Hawser, work: () => Promise<unknown>): Promise<Entry[]> {
  const before = await countAuditEntries(hawser);
  await work();
  const added = (await countAuditEntries(hawser)) - before;
  return added === 0 ? [] : (await auditEntries(hawser, `take=${added}`)).reverse();
}

/** The answer of a call, and the entries that it has added. */
export async function auditedCall(
  hawser: Hawser,
  call: () => Promise<Reply>,
): Promise<{ reply: Reply; entries: Entry[] }> {
  const replies: Reply[] = [];
  const entries = await auditedDuring(hawser, async () => replies.push(await call()));
  return { reply: replies[0] as Reply, entries };
}

export async function expectNothingAudited(hawser: Hawser, work: () => Promise<unknown>): Promise<void> {
  expect(await auditedDuring(hawser, work)).to.deep.equal([]);
}
