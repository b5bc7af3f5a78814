/** The writes of what stands beside the tag of a published version: withdrawals and rollouts. */

import { damagedRepository } from '../git/disk-errors.ts';
import type { GitOperation } from '../git/operations.ts';
import { notFound } from '../lib/errors.ts';
import { type BesideStatus, type RefName, refNameOf } from './kinds.ts';
import type { Repository } from './repository.ts';
import type { RepositoryIndex } from './repository-index.ts';
import { SortedVersions } from './sorted-versions.ts';
import {
  ONLY_SERIES,
  type PlannedEntry,
  type PublishedRollout,
  type Publishing,
  type RolloutMove,
  type RolloutRef,
  type VersionDetails,
  type VersionIndex,
  type VersionRef,
  type Withdrawing,
} from './types.ts';
import type { VersionWriter } from './version-writer.ts';
import { folderBlocked, publishedNamed, rolloutMoved, versionsMoved } from './write-conflicts.ts';

export interface BesideTaker {
  repository: Repository;
  writer: VersionWriter;
  index: RepositoryIndex;
  make(operation: GitOperation, name: RefName, work: () => Promise<void>): Promise<VersionDetails>;
  /** Moves a ref that is not that of one version, and gives its name. */
  beside(operation: GitOperation, work: () => Promise<string>): Promise<void>;
  move(name: string, from: string | null, to: string | null, facts?: MoveFacts): Promise<boolean>;
}

export interface MoveFacts {
  /** The audit entry of the move. Default: that which the holder has planned. */
  entry?: PlannedEntry;
  /** Whether the entry is noted already. */
  isNoted?: boolean;
}

/** As `LockedRepository.withdraw`. */
export async function withdraw(
  taker: BesideTaker,
  { series, version }: Pick<VersionRef, 'series' | 'version'>,
  by: Withdrawing,
): Promise<VersionDetails> {
  const { repository, writer } = taker;
  const ref = publishedNamed(taker.index.of(series), version);
  if (ref.withdrawn !== null) return repository.details(ref);
  const { refs } = repository;
  const named = besideOf(ref, 'Withdrawn');
  const made = await taker.make('withdraw', named, async () => {
    const name = refNameOf(named);
    requireFolders(repository, name);
    // A tag of this name that withdraws nothing is replaced, because nobody else could have meant the name.
    const from = refs.get(name);
    const oid = await writer.writeWithdrawal(ref, by);
    if (!(await taker.move(name, from, oid))) throw versionsMoved();
  });
  // Stock git may have given the version another tag meanwhile, on which the withdrawal does not stand.
  const isMoved = refs.get(ref.name) !== ref.oid;
  if (isMoved || made.withdrawn === null) throw versionsMoved();
  return made;
}

/** As `LockedRepository.offerAgain`. */
export async function offerAgain(
  taker: BesideTaker,
  { series, version }: Pick<VersionRef, 'series' | 'version'>,
): Promise<VersionDetails> {
  const ref = taker.index.of(series).get(version);
  if (!ref?.withdrawn) throw notFound('There is no such withdrawn version.');
  const { tag } = ref.withdrawn;
  const named = besideOf(ref, 'Withdrawn');
  return taker.make('withdraw', named, async () => {
    if (!(await taker.move(refNameOf(named), tag, null))) throw versionsMoved();
  });
}

/** As `LockedRepository.moveRollout`. */
export async function moveRollout(
  taker: BesideTaker,
  key: string,
  { expected, ...move }: RolloutMove & { expected: string | null },
): Promise<RolloutRef> {
  const { repository, writer } = taker;
  const index = taker.index.of(ONLY_SERIES);
  if (move.record.version !== null && publishedNamed(index, key).oid !== move.record.tag)
    throw versionsMoved();
  const before = findRollout(index, key);
  if ((before?.oid ?? null) !== expected) throw rolloutMoved();
  const name = refNameOf({ series: ONLY_SERIES, version: key, status: 'Rollout' });
  // What stands for a record that cannot be read must not become the record.
  if (before && !repository.known?.check(name)?.rollout) throw damagedRepository();
  await taker.beside('rollout', async () => {
    requireFolders(repository, name);
    // A branch of this name that counts for nothing is replaced, because nobody else could have meant the name.
    const from = expected ?? repository.refs.get(name);
    const oid = await writer.writeRollout(expected, move);
    if (!(await taker.move(name, from, oid))) throw rolloutMoved();
    return name;
  });
  // Stock git may have moved the branch, or the tag, meanwhile.
  const made = findRollout(repository.known?.of(ONLY_SERIES) ?? SortedVersions.EMPTY, key);
  if (!made || made.oid === expected) throw versionsMoved();
  return made;
}

/** The rollout of this key that has begun. */
export function findRollout({ rollouts }: VersionIndex, key: string): RolloutRef | undefined {
  return rollouts.find(({ record }) => record.key === key);
}

/**
 * Makes the branch of the rollout of a version of which the tag is written and has no ref yet. It comes before the tag, so
 * that nobody ever sees the version without its rollout.
 * @throws HawserError conflict `state_changed`, or `in_use` while a branch `rollout` is in the way
 */
export async function beginRollout(
  { repository, writer, move }: BesideTaker,
  { version, tag }: { version: string; tag: string },
  { entry, begin }: PublishedRollout,
  { tagger: author, at }: Publishing,
): Promise<void> {
  const name = refNameOf({ series: ONLY_SERIES, version, status: 'Rollout' });
  requireFolders(repository, name);
  const oid = await writer.writeRollout(null, { ...begin(tag), author, at });
  // A publishing that was cut off may have left another.
  if (!(await move(name, repository.refs.get(name), oid, { entry }))) throw rolloutMoved();
}

function besideOf({ series, version }: VersionRef, status: BesideStatus): RefName {
  return { series, version, status };
}

/** Git keeps refs as files in folders, so a ref that is named like one of the folders of the new one is in the way. */
function requireFolders({ refs }: Repository, name: string): void {
  const parts = name.split('/');
  for (let depth = 3; depth < parts.length; depth += 1) {
    const folder = parts.slice(0, depth).join('/');
    if (refs.get(folder) !== null) throw folderBlocked(folder);
  }
}
