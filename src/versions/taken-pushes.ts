/**
 * Many versions at once. Takes what was pushed, once it was looked at and its objects written: the records of the push, and all
 * of its refs; or makes drafts.
 */

import type { PeeledMove, RefMove } from '../git/refs.ts';
import { refuseGone } from '../lib/client-gone.ts';
import { notFound } from '../lib/errors.ts';
import { forEachOf } from '../lib/for-each-of.ts';
import { refNameOf } from './kinds.ts';
import { recordMoves } from './push-records.ts';
import type { Repository } from './repository.ts';
import type { RepositoryIndex } from './repository-index.ts';
import { refuseSameVersion, versionExists } from './rules.ts';
import type { PlannedDraft, PlannedEntry, PlannedPush, TakenPush, VersionIndex } from './types.ts';
import type { VersionWriter } from './version-writer.ts';
import { draftMoved, published } from './write-conflicts.ts';

export interface PushTaker {
  repository: Repository;
  writer: VersionWriter;
  index: RepositoryIndex;
}

/** The refs that move with one of many versions. */
export interface VersionMoves {
  entry: PlannedEntry;
  /** That of the version itself. */
  version: RefMove;
  all: readonly PeeledMove[];
}

/** So many drafts or tags are written at once. */
const CONCURRENT = 16;

/**
 * Refuses a push that another version, or the version as it is by now, stands against.
 * @throws HawserError not_found for a draft that is to go and is not there; conflict `version_exists`, `already_published`,
 *   `published_version`, `draft_changed`
 */
export function requireTakeable(
  versions: VersionIndex,
  { version, from, to, record }: Pick<TakenPush, 'version' | 'from' | 'to' | 'record'>,
): void {
  const before = versions.get(version);
  if (to === null && before === undefined) throw notFound('No such version');
  if (before === undefined) refuseSameVersion(versions, version);
  if (before?.status === 'Published') {
    if (to === null) throw published('published_version');
    const isDraft = 'draft' in to && record.tag === undefined;
    throw isDraft ? versionExists(version) : published('already_published');
  }
  if (from !== undefined && from !== (before?.oid ?? null)) throw draftMoved();
}

/**
 * Writes the tags that a push needs beside what came. No ref leads to them yet.
 * @throws HawserError as `requireTakeable`
 */
export async function planMoves(taker: PushTaker, pushes: readonly PlannedPush[]): Promise<VersionMoves[]> {
  for (const push of pushes) requireTakeable(taker.index.of(push.series), push);
  const planned: VersionMoves[] = [];
  await forEachOf([...pushes.entries()], CONCURRENT, async ([at, push]) => {
    planned[at] = { entry: push.entry, ...(await movesOf(taker, push)) };
  });
  return planned;
}

/**
 * Writes the commits of drafts that are made together. No ref leads to them yet.
 * @throws HawserError unavailable where the caller has gone
 */
export async function planDrafts(
  { writer, index }: PushTaker,
  drafts: readonly PlannedDraft[],
): Promise<VersionMoves[]> {
  const planned: VersionMoves[] = [];
  await forEachOf([...drafts.entries()], CONCURRENT, async ([at, draft]) => {
    const { series, version, at: createdAt, entry } = draft;
    const parent = index.parentOf(series, { version, createdAt });
    const to = await writer.writeDraft({ series, version, parent }, draft);
    const name = refNameOf({ series, version, status: 'Draft' });
    const move = { name, from: null, to, peeled: null };
    planned[at] = { entry, version: move, all: [move] };
  });
  for (const { gone } of drafts) refuseGone(gone);
  return planned;
}

/** @throws HawserError conflict `already_published`, `draft_changed`: why the refs did not move */
export function refuseMoved({ repository: { refs } }: PushTaker, moves: readonly VersionMoves[]): never {
  const all = moves.flatMap((one) => one.all);
  const isTag = all.find(({ name, from }) => refs.get(name) !== from)?.name.startsWith('refs/tags/');
  throw isTag ? published('already_published') : draftMoved();
}

async function movesOf(
  { repository, writer, index }: PushTaker,
  push: TakenPush,
): Promise<Omit<VersionMoves, 'entry'>> {
  const { series, version, from, to, record } = push;
  const { kind, upkeep } = repository;
  const named = (status: 'Draft' | 'Published') => refNameOf({ series, version, status });
  const recorded = async (name: string, type: 'commit' | 'tag', oid: string, commit: string) =>
    recordMoves(repository, name, { oid: await writer.writePushRecord({ oid, type }, record), commit });
  if (to === null || 'draft' in to) {
    const name = named('Draft');
    const move = { name, from: from ?? null, to: to?.draft ?? null, peeled: null };
    const { tag } = record;
    const kept = to
      ? await recorded(name, tag === undefined ? 'commit' : 'tag', tag ?? to.draft, to.draft)
      : recordMoves(repository, name, null);
    return { version: move, all: [...kept, move] };
  }
  const { commit } = to;
  const oid = 'tag' in to ? to.tag : await writeTag(writer, push, to);
  const name = named('Published');
  // A tag that the server makes tells by itself who pushed.
  const kept = 'tag' in to ? await recorded(name, 'tag', oid, commit) : recordMoves(repository, name, null);
  const move = { name, from: null, to: oid, peeled: commit };
  upkeep.announce(series, oid);
  // The branch of a scope type follows where a draft lies beside its tag, as every publishing leaves it.
  const isAlone = kind.hasSeries && index.of(series).get(version) === undefined;
  const draft = isAlone ? [{ name: named('Draft'), from: null, to: commit, peeled: null }] : [];
  return { version: move, all: [...kept, ...draft, move] };
}

function writeTag(
  writer: VersionWriter,
  { series, version, isPassthrough, record }: TakenPush,
  { commit: draft, entryPoint }: { commit: string; entryPoint: string | null },
): Promise<string> {
  const place = { series, version, parent: null, draft, pushed: record, others: [] };
  const { pusher: tagger, pushedAt: at, nodeId } = record;
  return writer.writeTag(place, { entryPoint, isPassthrough }, { tagger, at, nodeId });
}
