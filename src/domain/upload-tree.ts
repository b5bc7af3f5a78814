/** Checks the paths of the files of one upload as they come, so that an upload with too many files ends early. */

import { HawserError, invalid, tooLarge } from '../lib/errors.ts';
import { MAX_PATH_BYTES, normalizePath, PathSet, showText } from './safe-path.ts';

/** These bounds hold whatever the settings allow, because the list of a version's files is read and shown as a whole. */
export const MAX_FILES = 20_000;
export const MAX_FOLDERS = 20_000;
/** The greatest number of segments of a path, including the file name. */
export const MAX_SEGMENTS = 64;
/** Litter costs time too, although it is left out. Archives of macOS have a file of it for each file and each folder. */
export const MAX_LITTER = MAX_FILES + MAX_FOLDERS;
/** The most files of litter that an answer names. */
const MAX_IGNORED = 1_000;

/** Beside the folder `__MACOSX`, what macOS and Windows leave in folders that people open. */
const LITTER = new Set(['.ds_store', 'thumbs.db', 'desktop.ini']);

/**
 * Whether macOS or Windows made the file by itself, so that nobody means to upload it.
 * @param path that of a folder ends with a slash
 */
export function isLitter(path: string): boolean {
  const segments = path.toLowerCase().split(/[/\\]/);
  return segments.includes('__macosx') || LITTER.has(segments.at(-1) ?? '');
}

export class UploadTree {
  private readonly limit: number;
  private readonly paths = new PathSet();
  /** The folders by their exact paths. Two that differ only in case count as two. */
  private readonly folders = new Set<string>();
  private files = 0;
  private litter = 0;
  private readonly named: string[] = [];

  /** @param limit is the number of files that the settings allow */
  constructor(limit: number) {
    this.limit = limit;
  }

  /**
   * Adds a file. @returns its path in the form in which it is stored
   * @throws HawserError `invalid_path`, also for more than 64 segments or a clash with an earlier path;
   *   `payload_too_large` beyond the limit; `too_many_files` beyond 20,000 files or folders
   */
  add(raw: string): string {
    this.files += 1;
    if (this.files > this.limit) throw tooManyFiles(this.limit);
    if (this.files > MAX_FILES) throw tooMany(`${MAX_FILES} files`);
    const path = normalizeNewPath(raw);
    this.addFolders(path);
    this.paths.add(path);
    return path;
  }

  /**
   * Whether a file or folder is litter, which is left out. It must obey no rule of paths.
   * @throws HawserError `too_many_files` beyond 40,000 of them
   */
  leavesOut(raw: string): boolean {
    if (!isLitter(raw)) return false;
    this.litter += 1;
    if (this.litter > MAX_LITTER) throw tooMany(`${MAX_LITTER} files that are left out`);
    const path = raw.replaceAll('\\', '/').slice(0, MAX_PATH_BYTES);
    if (!path.endsWith('/') && this.named.length < MAX_IGNORED) this.named.push(path);
    return true;
  }

  /** The files that were left out, a thousand at most. */
  get ignored(): readonly string[] {
    return this.named;
  }

  private addFolders(path: string): void {
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const folder = path.slice(0, end);
      // The folders above it are known too.
      if (this.folders.has(folder)) return;
      this.folders.add(folder);
      if (this.folders.size > MAX_FOLDERS) throw tooMany(`${MAX_FOLDERS} folders`);
    }
  }
}

/**
 * Signs that no file name on Windows has, and signs that turn the direction of the text behind them, so that a name seems to
 * be another. What was stored with them is served as it is.
 */
const UNFIT = /[<>"|?*\u202a-\u202e\u2066-\u2069]/u;

/**
 * The stored form of the path of a new file.
 * @throws HawserError `invalid_path`, as `normalizePath` does, for signs that no Windows can check out, and for more than 64
 *   segments
 */
export function normalizeNewPath(raw: string): string {
  const path = normalizePath(raw);
  const [sign] = UNFIT.exec(path) ?? [];
  if (sign !== undefined)
    throw invalid(
      'invalid_path',
      `The path "${showText(raw)}" has a "${showText(sign)}", which Windows refuses`,
    );
  if (path.split('/').length <= MAX_SEGMENTS) return path;
  throw invalid('invalid_path', `The path "${showText(raw)}" has more than ${MAX_SEGMENTS} segments`);
}

/** The path that an archive or a form gives, without the `./` that some programs put before it. */
export function withoutLeadingDot(raw: string): string {
  return raw.replace(/^\.[/\\](?=.)/, '');
}

/** More files than the setting allows. */
export function tooManyFiles(limit: number): HawserError {
  return tooLarge(`The upload holds more than ${limit} files, the limit that HAWSER_UPLOAD_FILES sets`);
}

export function tooMany(what: string): HawserError {
  return new HawserError('too_large', 'too_many_files', `The upload holds more than ${what}`);
}
