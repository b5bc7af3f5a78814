/** Writes the difference of one file as `git diff` does, for `git apply`. It works on bytes. */

import { binaryPatch } from './binary-patch.ts';
import type { ChangedFile } from './file-changes.ts';
import { type Hunk, hunksOf, type LineKind, linesOf, startNumber } from './hunks.ts';
import type { LineChange } from './line-diff.ts';
import type { TextLines } from './text-lines.ts';

const CONTEXT = 3;
const NO_FILE = '/dev/null';
const NO_OBJECT = '0'.repeat(40);
/** Git shortens ids to so many digits. It needs all of them for a binary file. */
const SHORT_ID = 7;
const SIGNS: Record<LineKind, Buffer> = {
  Context: Buffer.from(' '),
  Added: Buffer.from('+'),
  Removed: Buffer.from('-'),
};
const LF = Buffer.from('\n');
const NO_NEWLINE = Buffer.from('\n\\ No newline at end of file\n');
/** So many bytes of the line before a hunk stand in the hunk's heading. */
const HEADING = 80;
/** Parts of a text are joined to pieces of so many bytes. */
const PIECE = 256 * 1024;

/** The lines above the hunks. @param isBinary whether a binary patch follows */
export function patchHead(
  { change, before, after, path, previousPath }: ChangedFile,
  isBinary: boolean,
): string {
  const oldPath = previousPath ?? path;
  const lines = [`diff --git ${quotedPath(`a/${oldPath}`)} ${quotedPath(`b/${path}`)}`];
  if (before === null) lines.push(`new file mode ${modeOf(after)}`);
  if (after === null) lines.push(`deleted file mode ${modeOf(before)}`);
  const hasMode = before === null || after === null || before.executable !== after.executable;
  if (before && after && hasMode) lines.push(`old mode ${modeOf(before)}`, `new mode ${modeOf(after)}`);
  if (change === 'Renamed')
    lines.push(
      'similarity index 100%',
      `rename from ${quotedPath(oldPath)}`,
      `rename to ${quotedPath(path)}`,
    );
  const [oldId, newId] = [before?.oid ?? NO_OBJECT, after?.oid ?? NO_OBJECT];
  const shown = (id: string) => (isBinary ? id : id.slice(0, SHORT_ID));
  if (oldId !== newId)
    lines.push(`index ${shown(oldId)}..${shown(newId)}${hasMode ? '' : ` ${modeOf(after)}`}`);
  return `${lines.join('\n')}\n`;
}

/** The patch of a file whose lines differ by these changes, in pieces. */
export function* textPatch(
  file: ChangedFile,
  before: TextLines,
  after: TextLines,
  changes: readonly LineChange[],
): Generator<Buffer> {
  let held: Buffer[] = [];
  let length = 0;
  for (const part of textParts(file, before, after, changes)) {
    for (let at = 0; at < part.length; ) {
      const taken = part.subarray(at, at + PIECE - length);
      held.push(taken);
      at += taken.length;
      length += taken.length;
      if (length < PIECE) continue;
      yield Buffer.concat(held);
      held = [];
      length = 0;
    }
  }
  yield Buffer.concat(held);
}

/** Lines and what stands between them, each by itself. */
function* textParts(
  file: ChangedFile,
  before: TextLines,
  after: TextLines,
  changes: readonly LineChange[],
): Generator<Buffer> {
  yield Buffer.from(patchHead(file, false));
  const hunks = hunksOf(changes, { old: before.count, next: after.count }, CONTEXT);
  if (hunks.length > 0) {
    const [oldName, newName] = [`a/${file.previousPath ?? file.path}`, `b/${file.path}`];
    yield Buffer.from(`--- ${file.before ? nameLine(oldName) : NO_FILE}\n`);
    yield Buffer.from(`+++ ${file.after ? nameLine(newName) : NO_FILE}\n`);
  }
  const headings = new Headings(before);
  for (const hunk of hunks) {
    yield hunkHead(hunk);
    yield headings.of(hunk);
    yield LF;
    for (const { kind, old, next } of linesOf(hunk)) {
      const line = old === null ? after.line(next as number) : before.line(old);
      yield SIGNS[kind];
      yield line;
      if (line[line.length - 1] !== 0x0a) yield NO_NEWLINE;
    }
  }
}

/** The patch of a file of which one side at least is binary, in pieces. */
export async function* binaryFilePatch(
  file: ChangedFile,
  before: Buffer,
  after: Buffer,
): AsyncGenerator<Buffer> {
  yield Buffer.from(patchHead(file, true));
  yield* binaryPatch(before, after);
}

/** A name with a space is followed by a tab, so that it is clear where it ends. */
function nameLine(path: string): string {
  return quotedPath(path) + (path.includes(' ') ? '\t' : '');
}

function hunkHead({ oldStart, oldEnd, newStart, newEnd }: Hunk): Buffer {
  return Buffer.from(`@@ -${rangeOf(oldStart, oldEnd)} +${rangeOf(newStart, newEnd)} @@`);
}

function rangeOf(start: number, end: number): string {
  const number = startNumber(start, end);
  return end - start === 1 ? `${number}` : `${number},${end - start}`;
}

/** Finds the last line before a hunk that looks like a heading (def_ff in git's xdiff/xemit.c). */
class Headings {
  private readonly text: TextLines;
  private seen = -1;
  private heading = Buffer.alloc(0);

  constructor(text: TextLines) {
    this.text = text;
  }

  /** The heading of a hunk. It must be asked for in the order of the hunks. */
  of({ oldStart }: Hunk): Buffer {
    for (let at = oldStart - 1; at > this.seen; at -= 1) {
      const line = this.text.line(at);
      if (!/^[A-Za-z_$]/.test(String.fromCharCode(line[0] ?? 0))) continue;
      const shown = line
        .subarray(0, HEADING)
        .toString('latin1')
        .replace(/[ \t\n\v\f\r]+$/, '');
      this.heading = Buffer.from(` ${shown}`, 'latin1');
      break;
    }
    this.seen = oldStart - 1;
    return this.heading;
  }
}

function modeOf(file: { executable: boolean } | null): string {
  return file?.executable ? '100755' : '100644';
}

const ESCAPES: Readonly<Record<number, string>> = {
  7: '\\a',
  8: '\\b',
  9: '\\t',
  10: '\\n',
  11: '\\v',
  12: '\\f',
  13: '\\r',
  34: '\\"',
  92: '\\\\',
};

/** The path, in quotes where any of its bytes needs that, as quote_c_style in git's quote.c writes it with `core.quotePath`. */
function quotedPath(path: string): string {
  if (/^[ !#-[\]-~]*$/.test(path)) return path;
  let text = '';
  for (const byte of Buffer.from(path)) {
    const isPlain = byte >= 0x20 && byte < 0x7f;
    text += ESCAPES[byte] ?? (isPlain ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, '0')}`);
  }
  return `"${text}"`;
}
