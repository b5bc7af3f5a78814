/** Judges changes in their order. The first that could not be carried out is named, and no other. */

import type { Db } from '../db/database.ts';
import { requireNodes } from '../db/nodes.ts';
import { conflict, type FieldError, HawserError } from '../lib/errors.ts';
import { paced } from '../lib/pace.ts';
import type { Proposal } from '../resolve/proposal.ts';
import type { Change } from './changes.ts';
import type { Proposing } from './propose-changes.ts';

/** The kinds of errors with which a deed says that it cannot be carried out. */
export const REFUSALS: ReadonlySet<string> = new Set(['invalid', 'not_found', 'conflict']);

/**
 * @param member of the body that lists the changes
 * @returns what all changes together propose
 * @throws HawserError what the first deed that cannot be carried out answers, with its errors behind `/<member>/<index>`;
 *   what it answers with 404 is conflict `not_found`
 */
export async function judgeChanges(
  proposing: Proposing,
  changes: readonly Change[],
  member: 'changes' | 'deeds',
): Promise<Proposal> {
  for await (const [at, change] of paced(changes.entries())) {
    const path = `/${member}/${at}`;
    try {
      await proposing.take(change, path);
    } catch (error) {
      throw refusalAt(path, error);
    }
  }
  return proposing.proposal;
}

/** @throws HawserError conflict `not_found` where a preview is to be narrowed to what is no node */
export async function requireWatched(db: Db, nodeIds: readonly string[]): Promise<void> {
  for (const [at, nodeId] of nodeIds.entries()) {
    try {
      await requireNodes(db, [nodeId]);
    } catch (error) {
      throw refusalAt(`/nodeIds/${at}`, error);
    }
  }
}

/** What is thrown at a path: a refusal names it, and is a conflict where it would be a 404. */
export function refusalAt(path: string, thrown: unknown): unknown {
  if (!(thrown instanceof HawserError) || !REFUSALS.has(thrown.kind)) return thrown;
  const { message, data } = thrown;
  const error = thrown.kind === 'not_found' ? conflict('not_found', message) : thrown;
  const given = (data['errors'] ?? []) as readonly FieldError[];
  const errors =
    given.length === 0
      ? [{ path, message, code: error.code }]
      : given.map((fault) => ({ ...fault, path: path + (fault.path ?? '') }));
  return new HawserError(error.kind, error.code, message, { data: { ...data, errors } });
}
