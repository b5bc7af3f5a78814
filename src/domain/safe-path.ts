/**
 * Brings the paths of authors' files to the form in which they are stored: relative, with `/` between segments, in NFC.
 * Paths are refused that would be unsafe or ambiguous in a Git tree, in a checkout on Windows or macOS, or in the ZIP that
 * a node unpacks.
 */

import { type HawserError, invalid, invalidField } from '../lib/errors.ts';

export const MAX_PATH_BYTES = 1024;
const MAX_SEGMENT_BYTES = 255;
const SHOWN_CHARACTERS = 100;

/** Git's own limit for a line of attributes, the newline not counted (ATTR_MAX_LINE_LENGTH in attr.h). */
const MAX_ATTRIBUTE_LINE = 2048;

/** Code points that HFS+ leaves out when it compares names (Git's next_hfs_char in utf8.c). */
const HFS_IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/** Windows devices: reserved as a whole name and before any extension (learn.microsoft.com, "Naming Files"). */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)$/i;

/** NTFS short names, plain and hashed, under which a file can be opened (Git's is_ntfs_dot_generic). */
const MODULES_ALIAS = { plain: /^gitmod~[1-4]$/, hash: 'gi7eba' };
const ATTRIBUTES_ALIAS = { plain: /^gitatt~[1-4]$/, hash: 'gi7d29' };

/**
 * The stored form of a path as an author gave it. A `\` is read as `/`.
 * @throws HawserError `invalid_path` with a message that names the fault and shows the path escaped
 */
export function normalizePath(raw: string): string {
  const path = raw.replaceAll('\\', '/').normalize('NFC');
  const fault = wholeFault(path) ?? firstSegmentFault(path);
  if (fault !== null) throw invalid('invalid_path', `The path "${showText(raw)}" ${fault}`);
  return path;
}

/** Makes a text fit for a message: escapes control and invisible characters and cuts it to 100 characters. */
export function showText(text: string): string {
  const escaped = text
    .slice(0, SHOWN_CHARACTERS + 1)
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (found) => `\\u{${(found.codePointAt(0) ?? 0).toString(16)}}`);
  const characters = [...escaped];
  if (characters.length <= SHOWN_CHARACTERS) return escaped;
  return `${characters.slice(0, SHOWN_CHARACTERS - 3).join('')}...`;
}

/**
 * Two paths with the same key are one file on some file system. The key is the path in lower, then upper case by Unicode's
 * full mappings, because APFS and case-insensitive ext4 fold fully: there `straße` is `STRASSE` and `ſ` is `s`. Lower case
 * alone would keep these (and the final sigma) apart. The key may join a few names that Windows keeps apart (dotless `ı`
 * and `i`). That costs an author a rename; the opposite would lose a file.
 */
export function foldPath(path: string): string {
  return path.normalize('NFC').toLowerCase().toUpperCase().normalize('NFC');
}

/** A set of normalised paths without clashes. Each path is looked up once, so the work grows linearly with their bytes. */
export class PathSet {
  /** Files and folders by their folded paths. The value of a folder is the first file below it. */
  private readonly files = new Map<string, string>();
  private readonly folders = new Map<string, string>();

  /**
   * @throws HawserError `invalid_path` if an earlier file has the same path without regard to case, or if a file is where
   *   another path needs a folder. Folders that differ only in case merge harmlessly.
   */
  add(path: string): void {
    const key = foldPath(path);
    const same = this.files.get(key);
    if (same !== undefined) throw clash(path, same, 'are the same file without regard to case');
    const inside = this.folders.get(key);
    if (inside !== undefined) throw fileAndFolder(path, inside);
    this.files.set(key, path);
    for (let slash = key.lastIndexOf('/'); slash > 0; slash = key.lastIndexOf('/', slash - 1)) {
      const folder = key.slice(0, slash);
      // The folders above it are known too.
      if (this.folders.has(folder)) return;
      const file = this.files.get(folder);
      if (file !== undefined) throw fileAndFolder(file, path);
      this.folders.set(folder, path);
    }
  }
}

/** @throws HawserError `invalid_path` if paths clash, see `PathSet` */
export function checkPathSet(paths: readonly string[]): void {
  const set = new PathSet();
  for (const path of paths) set.add(path);
}

/** Whether Git reads attributes from the file, on some file system. */
export function isGitAttributes(path: string): boolean {
  return /(?:^|\/)\.gitattributes$/i.test(path);
}

/**
 * Refuses a `.gitattributes` with a line that is too long for Git. `git fsck` calls that an error
 * (gitattributesLineLength), and a clone with `transfer.fsckObjects` would always fail on it.
 */
export function checkGitAttributes(path: string, content: Uint8Array): void {
  if (!isGitAttributes(path)) return;
  for (let start = 0; content.length - start >= MAX_ATTRIBUTE_LINE; ) {
    // An upload may have fifty million lines, so this looks only for the last newline within the limit. All lines that
    // end before it are short enough.
    const newline = content.lastIndexOf(0x0a, start + MAX_ATTRIBUTE_LINE - 1);
    if (newline < start)
      throw invalidField('/files', `"${showText(path)}" has a line of ${MAX_ATTRIBUTE_LINE} bytes or more`);
    start = newline + 1;
  }
}

function fileAndFolder(file: string, path: string): HawserError {
  return clash(file, path, 'clash: the first is a file where the other needs a folder');
}

function clash(first: string, second: string, how: string): HawserError {
  return invalid('invalid_path', `The paths "${showText(first)}" and "${showText(second)}" ${how}`);
}

function wholeFault(path: string): string | null {
  if (path === '') return 'is empty';
  // A decoder puts U+FFFD in place of bytes that are not UTF-8, so the true name is lost.
  if (/[\p{Cs}\ufffd]/u.test(path)) return 'is not valid UTF-8';
  if (/\p{Cc}/u.test(path)) return 'has a control character';
  if (path.startsWith('/')) return 'is absolute';
  if (/^[a-z]:/i.test(path)) return 'starts with a drive letter';
  // On NTFS `a:b` is a stream of the file `a`, and `.git::$INDEX_ALLOCATION` the folder `.git` itself.
  if (path.includes(':')) return 'has a colon';
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return `is longer than ${MAX_PATH_BYTES} bytes`;
  return null;
}

function firstSegmentFault(path: string): string | null {
  for (const segment of path.split('/')) {
    const fault = segmentFault(segment) ?? gitFault(segment);
    if (fault !== null) return fault;
  }
  return null;
}

function segmentFault(segment: string): string | null {
  if (segment === '') return 'has an empty segment';
  if (segment === '.' || segment === '..') return 'has a "." or ".." segment';
  if (/[. ]$/.test(segment)) return 'has a segment that ends in a dot or a space';
  if (Buffer.byteLength(segment) > MAX_SEGMENT_BYTES) {
    return `has a segment longer than ${MAX_SEGMENT_BYTES} bytes`;
  }
  // Windows drops the extension and the spaces before it: `nul .txt` is the device too.
  const base = segment.replace(/ *(?:\..*)?$/, '');
  return DEVICE.test(base) ? 'has a segment that is a device name on Windows' : null;
}

/** Refuses names that have a meaning for Git in any spelling (its verify_path and fsck_tree; tried with 2.39). */
function gitFault(segment: string): string | null {
  const name = segment.replace(HFS_IGNORED, '').toLowerCase();
  if (name === '' || name === '.' || name === '..') return 'has a segment of invisible characters';
  if (/^(?:\.git[. ]*|git~1)$/.test(name)) return 'has a ".git" segment';
  // Its content is the author's, and `git fsck` and `clone --recurse-submodules` act on it: a hostile URL or
  // name in it breaks both. A version holds no submodules, so nothing is lost by refusing the file.
  if (/^\.gitmodules[. ]*$/.test(name) || isAlias(name, MODULES_ALIAS)) return 'names a ".gitmodules" file';
  // The plain name is allowed. Under another spelling the content would escape checkGitAttributes.
  const disguised = name === '.gitattributes' && segment.toLowerCase() !== name;
  if (disguised || isAlias(name, ATTRIBUTES_ALIAS)) return 'names ".gitattributes" in another spelling';
  return null;
}

/** A hashed short name has eight characters: a prefix of the hash, then `~` and a number. */
function isAlias(name: string, alias: { plain: RegExp; hash: string }): boolean {
  if (alias.plain.test(name)) return true;
  const prefix = name.length === 8 ? /^([a-z0-9]*)~[1-9]\d*$/.exec(name)?.[1] : undefined;
  return prefix !== undefined && alias.hash.startsWith(prefix);
}
