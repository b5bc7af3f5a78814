/** Making a repository: built aside and moved into place, so that a crash leaves it whole or not at all. */

import { join } from 'node:path';
import { conflict } from '../lib/errors.ts';
import type { AtomicFs } from './atomic-fs.ts';
import { errnoOf } from './disk-errors.ts';
import { makeSkeleton } from './repository-layout.ts';
import type { DraftInput, RepositorySettings } from './types.ts';
import { draftRefName } from './version-index.ts';
import type { VersionObjects } from './version-objects.ts';

/** Builds in `site`, which the next start sweeps if need be; `gitdir` must not exist, conflict `name_taken`. */
export async function buildRepository(
  { fs, versions }: { fs: AtomicFs; versions: VersionObjects },
  { site, gitdir }: { site: string; gitdir: string },
  settings: RepositorySettings,
  draft: DraftInput | null,
): Promise<void> {
  try {
    await makeSkeleton(fs, site, settings);
    if (draft) {
      const commit = await versions.writeDraft(site, draft, null);
      await fs.writeFile(join(site, draftRefName(draft.version)), `${commit}\n`);
    }
    await fs.rename(site, gitdir);
  } catch (error) {
    await fs.discard(site).catch(() => undefined);
    const errno = errnoOf(error);
    throw errno === 'ENOTEMPTY' || errno === 'EEXIST' ? repositoryExists() : error;
  }
}

export function repositoryExists(): Error {
  return conflict('name_taken', 'There is a repository of that name already.');
}
