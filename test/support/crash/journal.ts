/**
 * A record of what the server under test does to its disk, line by line. After its death the record tells where it
 * was killed, what was flushed by then, and how everything else was before. A line that was passed to `write`
 * survives the SIGKILL of the writer.
 */

import { closeSync, openSync, writeSync } from 'node:fs';

/**
 * The state of a name before a change: absent, a file (kept as a link of this name), an empty folder, or a tree
 * (kept).
 */
export type Before = null | { file: string } | { folder: true } | { tree: string };

export type Line =
  /**
   * The server was told where to kill itself. From here on passes are counted anew; those of the start are counted
   * separately.
   */
  | { do: 'armed' }
  /** A failpoint was passed. */
  | { do: 'pass'; point: string }
  /** A file is about to be moved. */
  | { do: 'rename'; id: number; from: string; to: string; source: Before; target: Before }
  /** A folder is about to be moved to a name that does not exist. */
  | { do: 'move'; id: number; from: string; to: string }
  /** A name is about to be created or removed. */
  | { do: 'change'; id: number; path: string; before: Before }
  /** The operation that began with this id has succeeded or failed. */
  | { do: 'done' | 'failed'; id: number }
  /** A folder is about to be flushed, and then has been flushed. */
  | { do: 'flush'; id: number; path: string }
  | { do: 'flushed'; id: number }
  /** A file's content is about to be written, and then has been flushed. */
  | { do: 'write' | 'synced'; path: string }
  /** A file of this size is about to grow. */
  | { do: 'append'; path: string; size: number };

export class Journal {
  private readonly descriptor: number;

  constructor(path: string) {
    this.descriptor = openSync(path, 'a');
  }

  write(line: Line): void {
    writeSync(this.descriptor, `${JSON.stringify(line)}\n`);
  }

  close(): void {
    closeSync(this.descriptor);
  }
}

/** Reads all lines, except a last line that its writer could not finish. */
export function readLines(text: string): Line[] {
  const lines = text.split('\n');
  lines.pop();
  return lines.map((line) => JSON.parse(line) as Line);
}
