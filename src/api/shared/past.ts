/** What the routes share that answer what nodes ran at a time. */

import { z } from 'zod';
import type { Database } from '../../db/database.ts';
import { EVIDENCE } from '../../db/node-tables.ts';
import { findPastNode, findRan, historyFrom, NOW, type PastNode, type Ran } from '../../db/past.ts';
import type { PastPlace, PastQuestion, PastRow } from '../../db/read-past.ts';
import { Checksum, choice, given, Id, Instant, Timestamp } from '../../http/schemas.ts';
import { toOptionalTimestamp, toTimestamp } from '../../lib/clock.ts';
import { HawserError, invalidField, notFound } from '../../lib/errors.ts';
import type { FleetTools } from '../../resolve/fleet-tasks.ts';
import type { PastSlice } from '../../resolve/past-tasks.ts';
import type { UserPrincipal } from '../../security/principal.ts';

/** `?at=` of what is asked about the past. */
export const At = Instant.optional().meta({
  description:
    'RFC 3339 with `Z` or an offset, not later than now and not before `historyFrom`. Left out: now',
});

/** What is said of each route that takes `at`. */
export const ABOUT_PAST =
  'Times are those of the calls of nodes. What was before `historyFrom` of `/settings/retention` is `past_gone`.';

/**
 * The time that is asked about.
 * @throws HawserError `validation_failed` for one that is still to come; gone `past_gone`
 */
export async function momentOf(
  { read }: Pick<Database, 'read'>,
  now: number,
  at: number | undefined,
  member = 'at',
): Promise<number> {
  if (at === undefined) return NOW;
  if (at > now) throw invalidField(`/${member}`, 'Later than now');
  const from = await historyFrom(read, now);
  if (at < from) throw pastGone(`It is known from ${toTimestamp(from)} on what nodes ran`);
  return at;
}

export const pastGone = (message: string) => new HawserError('gone', 'past_gone', message);

/** @throws HawserError not_found for a node that there is not, and never was as far as is known */
export async function requirePastNode({ read }: Pick<Database, 'read'>, nodeId: string): Promise<PastNode> {
  const node = await findPastNode(read, nodeId);
  if (node === undefined) throw notFound('No such node');
  return node;
}

/** @throws HawserError not_found `nothing_ran`, which only those are told who may read nodes */
export async function requireRan(
  { read }: Pick<Database, 'read'>,
  principal: UserPrincipal,
  nodeId: string,
  at: number,
): Promise<Ran> {
  const ran = await findRan(read, nodeId, at);
  if (ran !== undefined) return ran;
  if (!principal.permissions.has('nodes.read')) throw notFound('No such node');
  throw notFound('Nothing is known to have run on this node at that time', 'nothing_ran');
}

export const Evidence = z.enum(EVIDENCE).meta({ description: 'How the server knew at that time' });

/** A name that is null where the server keeps no manifest of the checksum. */
export const ofManifest = <T extends z.ZodType>(schema: T) =>
  schema.nullable().meta({ description: 'Null where the server keeps no manifest of the checksum' });

export const PAST_EXAMPLE = {
  nodeId: '0b9b2f0e-6d59-4b3e-9a53-2c6f5a1d7e84',
  fqdn: 'web-01.example.org',
  deletedAt: null,
  checksum: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  configurationName: 'web-server',
  isComposite: false,
  version: '1.2.0',
  evidence: 'Declared' as const,
  since: '2026-11-20T09:08:00.000Z',
};

export const PastNodeShape = {
  nodeId: Id,
  fqdn: z.string(),
  deletedAt: Timestamp.nullable().meta({ description: 'When the node was deleted; null while it is there' }),
  checksum: Checksum.meta({ description: 'What it ran' }),
  configurationName: ofManifest(z.string()),
  isComposite: ofManifest(z.boolean()),
  version: ofManifest(z.string()),
  evidence: Evidence,
  since: Timestamp.meta({ description: 'When this evidence of it came' }),
};

export const EvidenceFilter = given(choice(...EVIDENCE)).meta({
  description: 'How the server knew what they ran',
});

export function toPastNode({ deletedAt, since, ...row }: PastRow) {
  const { nodeId, fqdn, evidence, ...names } = row;
  return {
    ...{ nodeId, fqdn, deletedAt: toOptionalTimestamp(deletedAt) },
    ...{ ...names, evidence, since: toTimestamp(since) },
  };
}

/** Nodes that are looked at for each slice of a list that is sent whole. */
const NODES_AT_ONCE = 2_000;

/** All that match, slice by slice. The first one is there before anything is sent. */
export async function wholePast(
  { questions }: Pick<FleetTools, 'questions'>,
  caller: string,
  question: PastQuestion,
): Promise<AsyncGenerator<PastRow[]>> {
  const read = (after: PastPlace | null) =>
    questions.run(caller, 'pastSlice', { ...question, after, nodes: NODES_AT_ONCE });
  return from(read, await read(null));
}

async function* from(
  read: (after: PastPlace | null) => Promise<PastSlice>,
  first: PastSlice,
): AsyncGenerator<PastRow[]> {
  for (let slice = first; slice.last !== null; slice = await read(slice.last)) yield slice.rows;
}
