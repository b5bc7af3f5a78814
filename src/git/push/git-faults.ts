/** What went wrong when git looked at a push: what git says on its error output becomes an error for the pusher. */

import { showText } from '../../domain/safe-path.ts';
import { diskFault } from '../../lib/disk-faults.ts';
import { HawserError, internal, overLimit, tooLarge } from '../../lib/errors.ts';
import { damagedRepository } from '../disk-errors.ts';
import type { GitExit } from '../git-process.ts';
import { describeFsckFault } from './fsck-faults.ts';

export type GitTask = 'index-pack' | 'rev-list' | 'cat-file';

export interface PushFaultContext {
  task: GitTask;
  /** The limit for the pack in bytes. */
  packBytes: number;
  /** The limit for the content of one object in bytes. */
  objectBytes: number;
  /** Paths that nobody outside is to see. */
  hidden: readonly string[];
}

/** The shell says with these codes that it could not become git. */
const NO_PROGRAM = new Set<number | null>([126, 127]);

/** How the C library words the errors of system calls (strerror(3)), under LC_ALL=C. */
const ERRNO_TEXTS: Record<string, string> = {
  'No space left on device': 'ENOSPC',
  'Disk quota exceeded': 'EDQUOT',
  'File too large': 'EFBIG',
  'Input/output error': 'EIO',
  'Read-only file system': 'EROFS',
  'Too many open files': 'EMFILE',
  'Too many open files in system': 'ENFILE',
};

const NO_MEMORY = /out of memory|cannot allocate memory|too large to fit into virtual memory/i;
const OVER_LIMIT = /exceeds maximum allowed size/;
/** Git was told how much it may ask for at once (GIT_ALLOC_LIMIT). */
const TOO_LARGE_OBJECT = /attempting to allocate \d+ over limit/;
/** What an object leads to has another type than it says. */
const WRONG_TYPE =
  /object type mismatch|expected type|is a (?:blob|tree|commit|tag), not an? |not a (?:blob|tree|commit|tag)\b/;
const BROKEN_OBJECT = /corrupt|hash mismatch|object file .* is empty|unable to (?:unpack|parse)|inflate/;
/** Objects that are nowhere, as index-pack and rev-list say it. */
const MISSING =
  /unresolved delta|did not receive expected object|bad (?:tree )?object [0-9a-f]{40}|missing (?:blob|tree|commit|tag) object|could not read|failed to traverse parents/i;

/**
 * @returns null when git has succeeded; else invalid `invalid_pack` or `incomplete_push`; `payload_too_large`, also when
 *   git was killed because it took too long; what the disk says; `repository_damaged`; or `internal_error` without git.
 *   The messages are safe to show, and all that git said is their cause.
 */
export function pushFault(exit: GitExit, context: PushFaultContext): HawserError | null {
  const { code, error, stderr } = exit;
  if (code === 0 && error === null) return null;
  const cause = error ?? new Error(stderr.trim() || `git ended with code ${code}`);
  if (error || NO_PROGRAM.has(code)) return internal('internal_error', 'Git could not be started', cause);
  if (code === null) return tooMuchWork(cause);
  const said = [...stderr.matchAll(/^(fatal|error): (.*)$/gm)];
  // What git says before its last words may quote the content of the push, in lines that look like git's own.
  const last = said.findLast(([, kind]) => kind === 'fatal')?.[2] ?? '';
  const errno = ERRNO_TEXTS[last.slice(last.lastIndexOf(': ') + 2)];
  return (
    diskFault(errno, cause) ??
    sizeFault(last, context, cause) ??
    contentFault({ first: said[0]?.[2] ?? '', last }, context, cause)
  );
}

/** The error for an object that neither the push nor the repository has. */
export function missingObject(oid: string, cause?: unknown): HawserError {
  return refusal('incomplete_push', `The object ${oid} is neither in the push nor in the repository`, cause);
}

/** The error for an object that is larger than a file of an upload may be. */
export function tooLargeObject(objectBytes: number, cause?: unknown): HawserError {
  const message = `A file of the push, perhaps of an earlier commit, is ${overLimit(objectBytes, 'HAWSER_UPLOAD_LIMIT')}`;
  return new HawserError('too_large', 'payload_too_large', message, { cause });
}

function sizeFault(
  last: string,
  { packBytes, objectBytes }: PushFaultContext,
  cause: Error,
): HawserError | null {
  if (OVER_LIMIT.test(last)) return tooLarge(`The pack is ${overLimit(packBytes, 'HAWSER_PUSH_LIMIT')}`);
  if (TOO_LARGE_OBJECT.test(last)) return tooLargeObject(objectBytes, cause);
  return NO_MEMORY.test(last) ? tooMuchWork(cause) : null;
}

function contentFault(
  { first, last }: { first: string; last: string },
  { task, hidden }: PushFaultContext,
  cause: Error,
): HawserError {
  const shown = showSafely(first, hidden);
  const found = task === 'index-pack' ? describeFsckFault(first, (text) => showSafely(text, hidden)) : null;
  if (found !== null) return refusal('invalid_pack', found, cause);
  if (task !== 'cat-file') {
    if (WRONG_TYPE.test(first)) return refusal('invalid_pack', `Git refuses the push: ${shown}`, cause);
    const isMissing = MISSING.test(last) && !(task === 'rev-list' && BROKEN_OBJECT.test(cause.message));
    if (isMissing) return incomplete(first, shown, cause);
  }
  // What index-pack reads comes from the client. What the others read has been proven, or is the repository's.
  return task === 'index-pack'
    ? refusal('invalid_pack', `Git refuses the pack: ${shown || 'it is broken'}`, cause)
    : damagedRepository(cause);
}

function incomplete(first: string, shown: string, cause: Error): HawserError {
  const oid = /\b[0-9a-f]{40}\b/.exec(first)?.[0];
  if (oid !== undefined) return missingObject(oid, cause);
  return refusal('incomplete_push', `Objects of the push are missing: ${shown}`, cause);
}

function tooMuchWork(cause: Error): HawserError {
  const message = 'The push needs more memory or time than git gets here to unpack it';
  return new HawserError('too_large', 'payload_too_large', message, { cause });
}

function refusal(code: 'invalid_pack' | 'incomplete_push', message: string, cause: unknown): HawserError {
  return new HawserError('invalid', code, message, { cause });
}

/** Shortens the text, and leaves out the paths of this server. */
function showSafely(text: string, hidden: readonly string[]): string {
  const bare = hidden.reduce((rest, path) => rest.replaceAll(path, ''), text);
  return showText(bare.replaceAll(/(^|[\s'"(])\/\S*/g, '$1...'));
}
