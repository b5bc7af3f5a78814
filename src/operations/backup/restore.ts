/** Brings the content of an archive into two empty folders, all of it or nothing. */

import { dirname, join } from 'node:path';
import type { Config } from '../../config.ts';
import { REPOSITORY_FOLDERS } from '../../git/repository-layout.ts';
import { REPOSITORY_KINDS } from '../../git/types.ts';
import { ArchiveReader } from './archive-reader.ts';
import type { Manifest } from './manifest.ts';
import {
  clearFolders,
  flushTree,
  foldersOf,
  makeInnerFolder,
  prepareFolders,
  releaseFolders,
} from './restore-folders.ts';

/**
 * A server that is started before it is done refuses to, also after a kill; run again, it begins anew then.
 * @throws HawserError, with the folders as they were: `folder_not_empty`, or what `ArchiveReader` finds
 */
export async function restore(config: Config, file: string): Promise<Manifest> {
  const archive = await ArchiveReader.open(file);
  const folders = foldersOf(config);
  try {
    await prepareFolders(folders);
    try {
      await unpack(archive, config);
      for (const { path } of folders) await flushTree(path);
    } catch (error) {
      await clearFolders(folders);
      throw error;
    }
    await releaseFolders(folders);
    return archive.manifest;
  } finally {
    archive.close();
  }
}

async function unpack(archive: ArchiveReader, { dataDir, reposDir }: Config): Promise<void> {
  for (const kind of REPOSITORY_KINDS) await makeInnerFolder(join(reposDir, kind));
  for (const entry of archive.manifest.entries) {
    const [root, ...rest] = entry.path.split('/');
    const path = join(root === 'data' ? dataDir : reposDir, ...rest);
    await makeInnerFolder(dirname(path));
    // Every repository has this one.
    if (path.endsWith('.git/HEAD')) await makeRepositoryFolders(dirname(path));
    await archive.extract(entry, path);
  }
}

/** Those that git looks for, and that an archive of files cannot hold where they are empty. */
async function makeRepositoryFolders(gitdir: string): Promise<void> {
  for (const folder of REPOSITORY_FOLDERS) await makeInnerFolder(join(gitdir, folder));
}
