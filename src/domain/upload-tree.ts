/** The files of one upload by their paths, checked as they come, so that too many of them cost no more than enough. */

import { HawserError, invalid, tooLarge } from '../lib/errors.ts';
import { normalizePath, PathSet, showText } from './safe-path.ts';

/** Whatever the setting allows: what a version holds is read and shown as a whole. */
export const MAX_FILES = 20_000;
export const MAX_FOLDERS = 20_000;
/** The file name included. */
const MAX_SEGMENTS = 64;

export class UploadTree {
  private readonly limit: number;
  private readonly paths = new PathSet();
  /** By their paths as they are written: two that differ in case are two. */
  private readonly folders = new Set<string>();
  private files = 0;

  /** @param limit how many files the settings allow */
  constructor(limit: number) {
    this.limit = limit;
  }

  /**
   * @returns the path in the form in which it is stored
   * @throws HawserError `invalid_path`, also for more than 64 segments and where it clashes with one before;
   *   `payload_too_large` beyond the limit; `too_many_files` beyond 20,000 files or folders
   */
  add(raw: string): string {
    this.files += 1;
    if (this.files > this.limit) throw tooLarge(`The upload holds more than ${this.limit} files`);
    if (this.files > MAX_FILES) throw tooMany(`${MAX_FILES} files`);
    const path = normalizeNewPath(raw);
    this.addFolders(path);
    this.paths.add(path);
    return path;
  }

  private addFolders(path: string): void {
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const folder = path.slice(0, end);
      // Those above it are known too.
      if (this.folders.has(folder)) return;
      this.folders.add(folder);
      if (this.folders.size > MAX_FOLDERS) throw tooMany(`${MAX_FOLDERS} folders`);
    }
  }
}

/**
 * The stored form of a path at which something is to be written.
 * @throws HawserError `invalid_path`, as `normalizePath` does, and for more than 64 segments
 */
export function normalizeNewPath(raw: string): string {
  const path = normalizePath(raw);
  if (path.split('/').length <= MAX_SEGMENTS) return path;
  throw invalid('invalid_path', `The path "${showText(raw)}" has more than ${MAX_SEGMENTS} segments`);
}

export function tooMany(what: string): HawserError {
  return new HawserError('too_large', 'too_many_files', `The upload holds more than ${what}`);
}
