/** What the audit trail holds, read from its table, and what a call adds to it. */

import { expect } from 'chai';
import type { Client, Reply } from './client.ts';
import type { Hawser } from './hawser.ts';
import { withDatabase } from './users.ts';

export interface Entry {
  seq: number;
  timestamp: number;
  actor_type: string;
  actor_id: string | null;
  actor_name: string | null;
  action: string;
  resource_type: string;
  resource_id: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into details freely
  details: any;
  ip_address: string | null;
  request_id: string | null;
}

/** All entries in the order in which they were written. */
export async function entriesOf(hawser: Hawser): Promise<Entry[]> {
  const rows = await withDatabase(hawser, ({ read }) =>
    read.selectFrom('audit_entries').selectAll().orderBy('seq').execute(),
  );
  return rows.map((row) => ({ ...row, details: JSON.parse(row.details ?? 'null') }));
}

/** What comes of the work, and what it adds to the trail. */
export async function entriesDuring<T>(
  hawser: Hawser,
  work: () => Promise<T>,
): Promise<{ result: T; entries: Entry[] }> {
  const before = (await entriesOf(hawser)).length;
  const result = await work();
  return { result, entries: (await entriesOf(hawser)).slice(before) };
}

let requests = 0;

/** The one entry of a call that succeeds, which names the request by the id that its caller gave it. */
export async function onlyEntry(
  hawser: Hawser,
  client: Client,
  call: (client: Client) => Promise<Reply>,
): Promise<Entry> {
  requests += 1;
  const requestId = `audit.test-${requests}`;
  const named = client.with({ 'X-Request-Id': requestId });
  const { result, entries } = await entriesDuring(hawser, () => call(named));
  expect(result.status, result.text).to.be.within(200, 204);
  expect(entries.map((entry) => entry.action)).to.have.length(1);
  const [entry] = entries as [Entry];
  expect(entry.request_id).to.equal(requestId);
  return entry;
}

/** A call that answers this status and adds nothing to the trail. */
export async function expectNoEntry(
  hawser: Hawser,
  status: number,
  call: () => Promise<Reply>,
): Promise<void> {
  const { result, entries } = await entriesDuring(hawser, call);
  expect(result.status, `${call} ${result.text}`).to.equal(status);
  expect(entries, `${call}`).to.deep.equal([]);
}

/** What was done to what; who did it from where is apart. */
export function shortly({ action, resource_type, resource_id, details }: Entry) {
  return { action, resource_type, resource_id, details };
}
