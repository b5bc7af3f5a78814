/**
 * Publishes drafts of several series at once, for a rollout: their tags are written first, then somebody else decides, and
 * then all refs move by one rename. What a crash leaves in between is ended by the ids that the rollout names.
 */

import { damagedRepository } from '../git/disk-errors.ts';
import type { PeeledMove } from '../git/refs.ts';
import type { Repository } from './repository.ts';
import type { NamedTag, WrittenTag } from './types.ts';
import { draftMoved, published } from './write-conflicts.ts';

/**
 * Moves the refs of tags, all of them or none.
 * @throws HawserError conflict `draft_changed`, `already_published`
 */
export async function moveTags({ refs }: Repository, tags: readonly WrittenTag[]): Promise<void> {
  for (const { draft } of tags) if (refs.get(draft.name) !== draft.oid) throw draftMoved();
  const moves = tags.flatMap(({ move, records }) => [...records, move]);
  if (!(await refs.moveAll(moves))) throw published('already_published');
}

/**
 * Moves those refs that a crash kept from moving. One that leads elsewhere stays as it is.
 * @returns whether any was moved
 */
export async function finishTags(
  repository: Repository,
  tags: readonly NamedTag[],
  commitOf: (tag: string) => Promise<string>,
): Promise<boolean> {
  const { refs } = repository;
  const moves: PeeledMove[] = [];
  for (const { name, oid } of tags)
    if (refs.get(name) === null) moves.push({ name, from: null, to: oid, peeled: await commitOf(oid) });
  if (moves.length === 0) return false;
  // What follows is another deed. If that fails, these stay.
  if (!(await refs.moveAllForGood(moves))) throw damagedRepository();
  return true;
}
