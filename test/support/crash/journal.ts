/**
 * What the server under test does to its disk, written down line by line, so that whoever outlives it knows where it
 * was killed, what was flushed by then, and how everything else was before. A line that `write` was given survives
 * the writer's SIGKILL.
 */

import { closeSync, openSync, writeSync } from 'node:fs';

/** How a name was before a change: absent, a file (kept as a link of this name), an empty folder, a tree (kept). */
export type Before = null | { file: string } | { folder: true } | { tree: string };

export type Line =
  /** The server was told where to die: from here on passings are counted anew, those of starting apart. */
  | { do: 'armed' }
  /** A failpoint was passed. */
  | { do: 'pass'; point: string }
  /** A file is about to be moved. */
  | { do: 'rename'; id: number; from: string; to: string; source: Before; target: Before }
  /** A folder is about to be moved to where nothing is. */
  | { do: 'move'; id: number; from: string; to: string }
  /** A name is about to come or go. */
  | { do: 'change'; id: number; path: string; before: Before }
  /** What was begun under this id has happened, or has not. */
  | { do: 'done' | 'failed'; id: number }
  /** A folder is about to be flushed, and has been. */
  | { do: 'flush'; id: number; path: string }
  | { do: 'flushed'; id: number }
  /** A file's content is about to be written, and has been flushed. */
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

/** All but a last line that its writer could not finish. */
export function readLines(text: string): Line[] {
  const lines = text.split('\n');
  lines.pop();
  return lines.map((line) => JSON.parse(line) as Line);
}
