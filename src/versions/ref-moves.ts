/** The refs that the holder of a repository's lock has moved. They stay moved only if the holder's work succeeds. */

import { guardDisk } from '../git/disk-errors.ts';
import type { GitFolder } from '../git/lock-file.ts';
import { moveRef, type RefMove } from '../git/refs.ts';
import { noteRemoval } from '../git/removals.ts';

export class RefMoves {
  private readonly folder: GitFolder;
  private moves: RefMove[] = [];

  constructor(folder: GitFolder) {
    this.folder = folder;
  }

  /** Whether the work of a holder has failed and a ref that it moved is not back yet. */
  get isHalfway(): boolean {
    return this.moves.length > 0;
  }

  /** Moves a ref; gives false when the ref has another value than `from`. */
  async move(move: RefMove): Promise<boolean> {
    if (move.from !== null) await noteRemoval(this.folder);
    // It is noted first: where the disk fails, the ref may have moved all the same.
    this.moves.push(move);
    return moveRef(this.folder, move);
  }

  /** Lets the moves stand, because the holder's work has succeeded. */
  confirm(): void {
    this.moves = [];
  }

  /** Moves the refs back, the latest first. A ref that cannot be moved back is left for the next holder. */
  async rollBack(): Promise<void> {
    for (let move = this.moves.at(-1); move !== undefined; move = this.moves.at(-1)) {
      const { name, from, to } = move;
      // The result is false when the ref never moved, or when another program has moved it on.
      await guardDisk(() => moveRef(this.folder, { name, from: to, to: from }));
      this.moves.pop();
    }
  }
}
