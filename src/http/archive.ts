/** Takes apart a ZIP archive from outside in memory, and trusts nothing in it. */

import { isUtf8 } from 'node:buffer';
import { promisify } from 'node:util';
import { crc32, inflateRaw } from 'node:zlib';
import { type Entry, fromBufferPromise, getFileNameLowLevel, type ZipFile } from 'yauzl';
import { showText } from '../domain/safe-path.ts';
import {
  MAX_FILES,
  MAX_LITTER,
  normalizeNewPath,
  tooMany,
  tooManyFiles,
  UploadTree,
  withoutLeadingDot,
} from '../domain/upload-tree.ts';
import { HawserError, invalid, invalidField, overLimit, tooLarge } from '../lib/errors.ts';
import { inBlocks, Pace } from '../lib/pace.ts';

const inflate = promisify(inflateRaw);

export interface ArchiveLimits {
  /** The limit in bytes for all inflated files together. */
  bytes: number;
  /** The setting that has this limit, if it is one. */
  setting?: string | undefined;
  files: number;
}

export interface UploadedFile {
  /** The path has the form that `normalizePath` gives. */
  path: string;
  content: Buffer;
  /** Only a ZIP tells. A single file of a form is not executable. */
  executable?: boolean;
}

/** What an archive holds. */
export interface Unpacked {
  files: UploadedFile[];
  /** The paths of litter, which was not inflated. */
  ignored: readonly string[];
}

interface PlannedFile {
  path: string;
  entry: Entry;
}

/** Entries of folders cost time too. There may be as many of them as files, and this many more, beside litter. */
const SPARE_FOLDERS = 64;

/** The flags for encrypted, strongly encrypted and a masked central directory (APPNOTE.TXT 4.4.4). */
const ENCRYPTED_FLAGS = 0x1 | 0x40 | 0x2000;
const STORED = 0;
const DEFLATED = 8;

/** The upper half of the external attributes holds file types (stat.h), the lower half Windows' reparse points. */
const TYPE_MASK = 0xf000;
const REGULAR = 0x8000;
const FOLDER = 0x4000;
const DOS_FOLDER = 0x10;
const REPARSE_POINT = 0x400;

/** The systems that made an entry (APPNOTE.TXT 4.4.2.2): Unix, and macOS. */
const UTF8_SYSTEMS = [3, 19];

/** The extra field of Info-ZIP that holds the name in UTF-8. */
const UNICODE_PATH = 0x7075;

const CENTRAL_ENTRY = 0x02014b50;

/**
 * The files of an archive, without its folders and without litter. Everything that its directory tells of them is checked
 * before anything is inflated, and no entry may inflate to more than it declared, so a bomb costs no more than the limit.
 * @throws HawserError 400 `validation_failed`, in it `invalid_archive` (broken, encrypted, unknown compression, wrong
 *   checksum); 400 `invalid_path` (a refused, doubled or clashing name; a link or other special file); 413
 *   `payload_too_large` or `too_many_files`
 */
export async function unpackArchive(archive: Buffer, limits: ArchiveLimits): Promise<Unpacked> {
  try {
    const zip = await fromBufferPromise(archive, { decodeStrings: false });
    const { planned, ignored } = await planFiles(zip, archive, limits);
    const files: UploadedFile[] = [];
    const pace = new Pace();
    for (const { path, entry } of planned) {
      files.push({ path, content: await unpack(zip, archive, entry), executable: isExecutable(entry) });
      if (pace.isDue) await pace.rest();
    }
    return { files, ignored };
  } catch (error) {
    if (error instanceof HawserError) throw error;
    // The messages of yauzl and zlib may quote names from the archive, so they only go to the log.
    throw broken('The archive is not a readable ZIP file', error);
  }
}

async function planFiles(zip: ZipFile, archive: Buffer, limits: ArchiveLimits) {
  const mostEntries = 2 * Math.min(limits.files, MAX_FILES) + SPARE_FOLDERS;
  if (zip.entryCount > mostEntries + MAX_LITTER) throw tooManyEntries(limits);
  const tree = new UploadTree(limits.files);
  const pace = new Pace();
  const planned: PlannedFile[] = [];
  let [entries, bytes] = [0, 0];
  for await (const entry of zip.eachEntry()) {
    if (pace.isDue) await pace.rest();
    const name = withoutLeadingDot(entryName(entry).replaceAll('\\', '/'));
    if (tree.leavesOut(name)) continue;
    entries += 1;
    if (entries > mostEntries) throw tooManyEntries(limits);
    if (isPlannedFolder(entry, name)) continue;
    planned.push({ path: tree.add(name), entry });
    bytes += entry.uncompressedSize;
    if (bytes > limits.bytes)
      throw tooLarge(`The archive's files are ${overLimit(limits.bytes, limits.setting)}`);
  }
  // The count is a field of its own, of 16 bits. A wrong count would drop files silently.
  const cursor = Number(zip.readEntryCursor);
  if (cursor + 4 <= archive.length && archive.readUInt32LE(cursor) === CENTRAL_ENTRY) {
    throw broken('The archive has more entries than it declares');
  }
  return { planned, ignored: tree.ignored };
}

function tooManyEntries({ files }: ArchiveLimits): HawserError {
  return files < MAX_FILES ? tooManyFiles(files) : tooMany(`${MAX_FILES} files and as many folders`);
}

/** Checks an entry. @returns whether it is a folder */
function isPlannedFolder(entry: Entry, name: string): boolean {
  const isFolder = checkType(entry, name);
  // Some programs have an entry for the folder that was packed.
  if (isFolder && name !== './') normalizeNewPath(name.endsWith('/') ? name.slice(0, -1) : name);
  if ((entry.generalPurposeBitFlag & ENCRYPTED_FLAGS) !== 0) {
    throw broken(`The archive's entry "${showText(name)}" is encrypted`);
  }
  if (isFolder) return true;
  if (entry.compressionMethod !== STORED && entry.compressionMethod !== DEFLATED) {
    throw broken(`The archive's entry "${showText(name)}" uses a compression other than deflate`);
  }
  return false;
}

/**
 * The name is UTF-8 where the entry says so by a flag or Info-ZIP's Unicode path, else CP437 (APPNOTE.TXT D). The programs of
 * Unix and macOS write UTF-8 without the flag.
 */
function entryName(entry: Entry): string {
  const raw = entry.fileNameRaw;
  const isNamedTwice = entry.extraFields.some(({ id }) => id === UNICODE_PATH);
  if (!isNamedTwice && UTF8_SYSTEMS.includes(entry.versionMadeBy >>> 8) && isUtf8(raw)) return raw.toString();
  // yauzl's table for CP437 has pictures in place of the control characters and would hide them.
  if (raw.some((byte) => byte < 0x20 || byte === 0x7f)) return raw.toString('latin1');
  return getFileNameLowLevel(entry.generalPurposeBitFlag, raw, entry.extraFields, true);
}

/**
 * Whether the entry is a folder.
 * @throws HawserError for an entry that is neither a folder nor a regular file
 */
function checkType(entry: Entry, name: string): boolean {
  const type = (entry.externalFileAttributes >>> 16) & TYPE_MASK;
  const isSpecial = type !== 0 && type !== REGULAR && type !== FOLDER;
  // It does not matter which system made the entry: an unpacker may look at these bits anyway.
  if (isSpecial || (entry.externalFileAttributes & REPARSE_POINT) !== 0) {
    throw invalid(
      'invalid_path',
      `The archive's entry "${showText(name)}" is a link or another special file.`,
    );
  }
  const isDosFolder = type === 0 && (entry.externalFileAttributes & DOS_FOLDER) !== 0;
  const isFolder = name.endsWith('/') || type === FOLDER || isDosFolder;
  if (isFolder && entry.uncompressedSize > 0) {
    throw broken(`The archive's folder "${showText(name)}" has content`);
  }
  return isFolder;
}

/** The bit of the owner in the upper half of the attributes, which is zero in archives of Windows. */
function isExecutable({ externalFileAttributes }: Entry): boolean {
  return ((externalFileAttributes >>> 16) & 0o100) !== 0;
}

async function unpack(zip: ZipFile, archive: Buffer, entry: Entry): Promise<Buffer> {
  const { fileDataStart } = await zip.readLocalFileHeaderPromise(entry, { minimal: true });
  const end = fileDataStart + entry.compressedSize;
  if (end > archive.length) throw broken('The archive is cut off');
  const data = archive.subarray(fileDataStart, end);
  // This copies, so that one small file does not keep the whole archive in memory.
  const content = entry.compressionMethod === STORED ? Buffer.from(data) : await inflateEntry(data, entry);
  if (content.length !== entry.uncompressedSize || (await checksumOf(content)) !== entry.crc32) {
    throw broken('The archive is damaged: a file differs from its checksum');
  }
  return content;
}

async function checksumOf(content: Buffer): Promise<number> {
  let checksum = 0;
  await inBlocks(content, (block) => {
    checksum = crc32(block, checksum);
  });
  return checksum;
}

/** Stops with an error as soon as the output exceeds the declared size, which the limits have admitted. */
async function inflateEntry(data: Buffer, entry: Entry): Promise<Buffer> {
  const size = entry.uncompressedSize;
  // zlib hands out its work buffer. With the default of 16 KiB each tiny file would keep one alive.
  const chunkSize = Math.min(Math.max(size, 64), 64 * 1024);
  return inflate(data, { maxOutputLength: Math.max(size, 1), chunkSize });
}

function broken(message: string, cause?: unknown): HawserError {
  return invalidField('/archive', message, 'invalid_archive', cause);
}
