/** Reads the audit trail from its table, and finds what a call adds to it. */

import { expect } from 'chai';
import type { Insertable } from 'kysely';
import type { DatabasePlace } from '../../src/db/database.ts';
import type { Schema } from '../../src/db/schema.ts';
import { newId } from '../../src/lib/ids.ts';
import type { Client, Reply } from './client.ts';
import { withDatabase } from './database.ts';
import type { Hawser } from './hawser.ts';

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

/** Writes entries that no deed of a test could make, or not as fast. What is not given is of nobody and of now. */
export async function addEntries(
  place: DatabasePlace,
  entries: readonly Partial<Omit<Insertable<Schema['audit_entries']>, 'seq'>>[],
): Promise<void> {
  const common = { action: 'test.entry', actor_type: 'User', resource_type: 'Test' } as const;
  const absent = { actor_id: null, actor_name: null, resource_id: null, details: null };
  const request = { ip_address: null, request_id: null };
  await withDatabase(place, ({ write }) =>
    write.transaction().execute(async (trx) => {
      for (const entry of entries)
        await trx
          .insertInto('audit_entries')
          .values({ id: newId(), timestamp: Date.now(), ...common, ...absent, ...request, ...entry })
          .execute();
    }),
  );
}

/** @returns all entries in the order in which they were written */
export async function entriesOf(hawser: Hawser): Promise<Entry[]> {
  const rows = await withDatabase(hawser, ({ read }) =>
    read.selectFrom('audit_entries').selectAll().orderBy('seq').execute(),
  );
  return rows.map((row) => ({ ...row, details: JSON.parse(row.details ?? 'null') }));
}

/** @returns the result of the work, and the entries that it adds to the trail */
export async function entriesDuring<T>(
  hawser: Hawser,
  work: () => Promise<T>,
): Promise<{ result: T; entries: Entry[] }> {
  const before = (await entriesOf(hawser)).length;
  const result = await work();
  return { result, entries: (await entriesOf(hawser)).slice(before) };
}

let requests = 0;

/** @returns the one entry of a call that succeeds. The entry must have the request id that the caller sent. */
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

/** Makes a call that must get this status and add nothing to the trail. */
export async function expectNoEntry(
  hawser: Hawser,
  status: number,
  call: () => Promise<Reply>,
): Promise<void> {
  const { result, entries } = await entriesDuring(hawser, call);
  expect(result.status, `${call} ${result.text}`).to.equal(status);
  expect(entries, `${call}`).to.deep.equal([]);
}

/** What was done to what. Who did it, and from where, is left out. */
export function shortly({ action, resource_type, resource_id, details }: Entry) {
  return { action, resource_type, resource_id, details };
}
