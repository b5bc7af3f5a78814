/** Reads from its journal which of a server's changes were not flushed. A power cut might undo all of them. */

import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Before, Line } from './journal.ts';

/** One name that was created, removed or given to another file since its folder was flushed. */
export interface Change {
  id: number;
  path: string;
  before: Before;
}

/** A folder that was moved, with everything in it. */
export interface Move {
  id: number;
  from: string;
  to: string;
}

export class Unflushed {
  /** The changes in the order in which they were made. */
  changes: Change[] = [];
  moves: Move[] = [];
  /** Files whose content was not flushed. */
  readonly contents = new Set<string>();
  /** Files that have grown, with their size before. */
  readonly grown = new Map<string, number>();
  private readonly kept: string;
  /** Operations that have begun and are not known to have happened. */
  private readonly open = new Map<number, Line>();
  /** The changes that each flush in progress will make safe. */
  private readonly flushes = new Map<number, (Change | Move)[]>();

  /** @param kept the folder of what may have to be restored */
  constructor(kept: string) {
    this.kept = kept;
  }

  add(line: Line): void {
    if (line.do === 'rename') {
      const { id, from, to, source, target } = line;
      this.begin(line, { id, path: from, before: source }, { id, path: to, before: target });
    } else if (line.do === 'change') this.begin(line, line);
    else if (line.do === 'move') {
      this.open.set(line.id, line);
      this.moves.push(line);
    } else if (line.do === 'done') this.settle(line.id);
    else if (line.do === 'failed') this.forget(line.id);
    else if (line.do === 'flush') this.flushes.set(line.id, this.happenedIn(line.path));
    else if (line.do === 'flushed') this.drop(this.flushes.get(line.id) ?? []);
    else if (line.do === 'write') this.contents.add(line.path);
    else if (line.do === 'synced') this.contents.delete(line.path);
    else if (line.do === 'append' && !this.grown.has(line.path)) this.grown.set(line.path, line.size);
  }

  /**
   * The writer is dead. Operations in progress have happened or not. A later flush by another process makes safe
   * those that have.
   */
  end(): void {
    for (const id of [...this.open.keys()]) this.settle(id);
    this.flushes.clear();
    // The next writer begins again with the same ids.
    for (const change of this.changes) change.id = 0;
    for (const move of this.moves) move.id = 0;
  }

  /** Call this after a power cut: what is on the disk now is safe. */
  clear(): void {
    this.drop([...this.changes]);
    this.moves = [];
    this.contents.clear();
    this.grown.clear();
  }

  private begin(line: Line & { id: number }, ...changes: Change[]): void {
    this.open.set(line.id, line);
    this.changes.push(...changes.map(({ id, path, before }) => ({ id, path, before })));
  }

  private settle(id: number): void {
    const line = this.open.get(id);
    this.open.delete(id);
    if (line?.do === 'move') this.follow(line);
    else if (line?.do === 'rename') this.carry(line.from, line.to);
    else if (line?.do === 'change' && line.before !== null) this.carry(line.path, null);
  }

  private forget(id: number): void {
    this.open.delete(id);
    this.moves = this.moves.filter((move) => move.id !== id);
    this.drop(this.changes.filter((change) => change.id === id));
  }

  /** Moves the record of a file's unflushed content when the file moves. */
  private carry(from: string, to: string | null): void {
    const isUnflushed = this.contents.delete(from);
    const size = this.grown.get(from);
    this.grown.delete(from);
    if (to === null) return;
    this.contents.delete(to);
    this.grown.delete(to);
    if (isUnflushed) this.contents.add(to);
    if (size !== undefined) this.grown.set(to, size);
  }

  /** Updates the names below a folder that has moved. */
  private follow({ from, to }: Move): void {
    const moved = (path: string) => (path.startsWith(`${from}/`) ? to + path.slice(from.length) : path);
    for (const change of this.changes) change.path = moved(change.path);
    for (const path of [...this.contents]) if (moved(path) !== path) this.carry(path, moved(path));
    for (const path of [...this.grown.keys()]) if (moved(path) !== path) this.carry(path, moved(path));
  }

  private happenedIn(folder: string): (Change | Move)[] {
    const happened = ({ id }: Change | Move) => !this.open.has(id);
    return [
      ...this.changes.filter((change) => happened(change) && dirname(change.path) === folder),
      ...this.moves.filter((move) => happened(move) && dirname(move.to) === folder),
    ];
  }

  private drop(settled: readonly (Change | Move)[]): void {
    const gone = new Set(settled);
    this.changes = this.changes.filter((change) => !gone.has(change));
    this.moves = this.moves.filter((move) => !gone.has(move));
    for (const one of settled) {
      if ('before' in one && one.before && !('folder' in one.before)) {
        const name = 'file' in one.before ? one.before.file : one.before.tree;
        rmSync(join(this.kept, name), { recursive: true, force: true });
      }
    }
  }
}
