/**
 * A change of a version is made in Git, and its audit entry is written afterwards. So that a server that is killed in
 * between leaves no change without its entry, the entry is noted in the repository before the ref moves, and the note is
 * dropped once the entry is written. Whoever holds the lock next, or the next start, finds the note and records the change
 * if it was made. The note is not flushed: after a power cut it may be gone, and Git alone names author, tagger and times.
 */

import { join } from 'node:path';
import type { Database } from '../db/database.ts';
import { AtomicFs } from '../git/atomic-fs.ts';
import type { RefMove } from '../git/refs.ts';
import { gitdirOf } from '../git/repository-layout.ts';
import type { RepositoryRef } from '../git/types.ts';
import { groupBy } from '../lib/group-by.ts';
import type { Owner } from './rows.ts';
import type { LockedRepository, PlannedEntry } from './types.ts';
import { type AuditChange, recordChanges } from './version-records.ts';

/** A change that is about to be made. */
interface Note {
  move: RefMove;
  entry: PlannedEntry;
}

const FILE = 'hawser-unrecorded';

/** The note of one repository. */
export class UnrecordedNote {
  private readonly fs: AtomicFs;
  private readonly path: string;

  constructor(fs: AtomicFs, gitdir: string) {
    this.fs = fs;
    this.path = join(gitdir, FILE);
  }

  get isThere(): boolean {
    return this.fs.lstatNow(this.path) !== undefined;
  }

  write(...notes: readonly Note[]): Promise<void> {
    return this.fs.append(this.path, notes.map((note) => `${JSON.stringify(note)}\n`).join(''));
  }

  /** The notes that were written whole. A line that was cut short is of a change that was not made. */
  read(): Note[] {
    const text = this.fs.readNow(this.path)?.toString('utf8') ?? '';
    return text.split('\n').flatMap(parseLine);
  }

  /** For a note whose entry is written: should it come back, the entry is found. */
  drop(): Promise<void> {
    return this.fs.discardFile(this.path);
  }

  /**
   * For a note of a change that may not have been made. It must not come back after a power cut, because the same change, to
   * the very object, may be made again and recorded meanwhile, as an import does.
   */
  dropForGood(): Promise<void> {
    return this.fs.unlink(this.path);
  }
}

function parseLine(line: string): Note[] {
  try {
    return [JSON.parse(line)];
  } catch {
    return [];
  }
}

/** Whether a change may have been made in the repository without its entry. @param root the folder of all repositories */
export function hasUnrecorded(root: string, ref: RepositoryRef): boolean {
  return new UnrecordedNote(new AtomicFs(), gitdirOf(root, ref)).isThere;
}

/** The entry once its commit is known. */
export function withCommit({ action, details, replaces }: PlannedEntry, commit: string | null): AuditChange {
  if (replaces === undefined) return { action, details };
  return {
    action,
    details: { ...details, commit: replaces === null ? commit : { from: replaces, to: commit } },
  };
}

/** Records the changes that an earlier holder of the lock, or a server that was killed, made and did not record. */
export async function recordUnrecorded(
  database: Database,
  { kind, resource }: Owner,
  writer: LockedRepository,
): Promise<void> {
  const lost: ReturnType<LockedRepository['unrecorded']> = [];
  for (const one of writer.unrecorded()) if (!(await isRecorded(database, one.entry))) lost.push(one);
  // The entries of a push are alike in what `isRecorded` asks, and one transaction has all of them or none.
  const deeds = groupBy(lost, ({ entry }) => JSON.stringify([entry.resourceId, entry.actor]));
  for (const made of deeds.values()) {
    const [{ entry }] = made as [(typeof lost)[number]];
    const owner = { kind, resource: { ...resource, id: entry.resourceId } };
    const changes = made.map((one) => withCommit(one.entry, one.commit));
    await recordChanges(database, owner, { writer, actor: entry.actor }, changes);
  }
  await writer.dropUnrecorded();
}

/** Whether the server was killed only after it had written the entry. */
async function isRecorded(
  { read }: Database,
  { actor: { at, requestId }, resourceId, action }: PlannedEntry,
): Promise<boolean> {
  const found = await read
    .selectFrom('audit_entries')
    .select('id')
    .where('resource_id', '=', resourceId)
    .where('timestamp', '=', at)
    .where('action', '=', action)
    .where('request_id', 'is not distinct from', requestId)
    .executeTakeFirst();
  return found !== undefined;
}
