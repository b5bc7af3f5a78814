/** Change sets: proposes them, and reads what is said of them. */

import type { Client, Reply } from './client.ts';
import type { Wish } from './previews.ts';
import { ok } from './replies.ts';

export const SETS = '/api/v1/change-sets';

export const propose = (client: Client, deeds: readonly Wish[], more: object = {}): Promise<Reply> =>
  client.post(SETS, { title: 'a change', deeds, ...more });

/** A set that was made. */
export const proposed = (client: Client, deeds: readonly Wish[], more: object = {}) =>
  ok(201, propose(client, deeds, more));

export const setOf = ({ id }: { id: number }) => `${SETS}/${id}`;
