/**
 * Drafts that are made of files which the repository holds already: a copy of another version, and a draft of which one
 * file is saved or deleted. The rules of an upload hold for all files together. Call these under the lock.
 */

import { checkGitAttributes, isGitAttributes, normalizePath } from '../domain/safe-path.ts';
import { normalizeNewPath, UploadTree } from '../domain/upload-tree.ts';
import { blobIdOf } from '../git/loose-objects.ts';
import type { FileContent, StoredFile } from '../git/types.ts';
import { refuseGone } from '../lib/client-gone.ts';
import { conflict, HawserError, notFound, overLimit, tooLarge } from '../lib/errors.ts';
import { Pace } from '../lib/pace.ts';
import type { VersionAuthor } from './author.ts';
import type { ConfigurationRow, Target } from './rows.ts';
import { refuseReservedPaths } from './rules.ts';
import type { GitStore } from './store.ts';
import type { VersionDetails } from './types.ts';

/** What a version may hold at most. */
export interface VersionLimits {
  /** Bytes of all files together, which `HAWSER_UPLOAD_LIMIT` sets. */
  uploadBytes: number;
  /** Files, which `HAWSER_UPLOAD_FILES` sets. */
  uploadFiles: number;
}

export interface DraftTools {
  store: GitStore;
  limits: VersionLimits;
}

export type DraftTarget = Target<'configurations'>;
type Author = VersionAuthor<'configurations'>;

/** A file that is to be, and whether its bytes are still to be written. */
type DraftFile = StoredFile | FileContent;

/** A version after one of its files was saved. */
export interface SavedFile {
  details: VersionDetails;
  file: StoredFile;
  isNew: boolean;
}

/**
 * Saves a file of a draft. Bytes that it has already are not written again.
 * @param rawPath as the client gives it
 * @throws HawserError not_found without such a version; conflict `published_version`, `reserved_path`, `draft_changed`;
 *   invalid `invalid_path`, `validation_failed` for a `.gitattributes` that Git cannot read; too_large
 *   `payload_too_large`, `too_many_files`
 */
export async function saveFile(
  tools: DraftTools,
  target: DraftTarget,
  { author, row }: { author: Author; row: ConfigurationRow },
  { version, rawPath, content }: { version: string; rawPath: string; content: Buffer },
): Promise<SavedFile> {
  const { name } = target.resource;
  const draft = author.requireDraft(version);
  const path = normalizeNewPath(rawPath);
  const details = await tools.store.details({ kind: 'configurations', name }, draft);
  const before = details.files.find((file) => file.path === path);
  if (before?.oid === (await blobIdOf(content))) return { details, file: before, isNew: false };
  const others = details.files.filter((file) => file !== before);
  const files = [...others, { path, content }];
  await requireUploadable(tools, name, files);
  if (row.use_server_managed_parameters === 1) refuseReservedPaths(files);
  refuseGone(target.gone);
  const made = await author.editDraft(draft, { path, content });
  const file = made.files.find((each) => each.path === path);
  if (file === undefined) throw noSuchFile();
  return { details: made, file, isNew: before === undefined };
}

/**
 * Deletes a file of a draft.
 * @throws HawserError not_found without such a version or file; conflict `published_version`, `entry_point_missing`,
 *   `draft_changed`
 */
export async function deleteFile(
  { store }: DraftTools,
  { resource: { name } }: DraftTarget,
  author: Author,
  { version, path }: { version: string; path: string },
): Promise<void> {
  const draft = author.requireDraft(version);
  const { files, entryPoint } = await store.details({ kind: 'configurations', name }, draft);
  if (!files.some((file) => file.path === path)) throw noSuchFile();
  if (path === entryPoint)
    throw conflict('entry_point_missing', 'It is the entry point, without which there is no version');
  await author.editDraft(draft, { path, content: null });
}

/**
 * Checks what an upload of these files would be checked for as it comes.
 * @throws HawserError as `saveFile`
 */
export async function requireUploadable(
  { store, limits }: DraftTools,
  name: string,
  files: readonly DraftFile[],
): Promise<void> {
  const repository = { kind: 'configurations', name } as const;
  const tree = new UploadTree(limits.uploadFiles);
  const pace = new Pace();
  for (const file of files) {
    tree.add(file.path);
    if (pace.isDue) await pace.rest();
  }
  const stored = files.filter((file) => 'oid' in file);
  const infos = await store.fileInfos(repository, stored);
  const added = files.reduce((sum, file) => sum + ('oid' in file ? 0 : file.content.byteLength), 0);
  if (infos.reduce((sum, { size }) => sum + size, added) > limits.uploadBytes)
    throw tooLarge(`The version is ${overLimit(limits.uploadBytes, 'HAWSER_UPLOAD_LIMIT')}`);
  for (const file of files) {
    if (!isGitAttributes(file.path)) continue;
    checkGitAttributes(file.path, 'oid' in file ? await store.blob(repository, file.oid) : file.content);
  }
}

/** The path in its normal form. @throws HawserError not_found for one that no file can have */
export function existingPath(raw: string): string {
  try {
    return normalizePath(raw.replace(/\/$/, ''));
  } catch (error) {
    if (error instanceof HawserError) throw noSuchFile();
    throw error;
  }
}

export const noSuchFile = () => notFound('No such file in this version');
