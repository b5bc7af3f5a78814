/** Making a repository: built aside and moved into place, so that a crash leaves it whole or not at all. */

import { join } from 'node:path';
import { refuseGone } from '../lib/client-gone.ts';
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
  await buildAside(fs, { site, gitdir }, async () => {
    await makeSkeleton(fs, site, settings);
    if (!draft) return;
    const commit = await versions.writeDraft(site, draft, null);
    await fs.writeFile(join(site, draftRefName(draft.version)), `${commit}\n`);
    refuseGone(draft.gone);
  });
}

/** A repository without a row of its own, hence without settings, as that of a configuration's parameters. */
export async function buildEmptyRepository(
  fs: AtomicFs,
  places: { site: string; gitdir: string },
): Promise<void> {
  await buildAside(fs, places, () => makeSkeleton(fs, places.site, null));
}

async function buildAside(
  fs: AtomicFs,
  { site, gitdir }: { site: string; gitdir: string },
  build: () => Promise<void>,
): Promise<void> {
  let place = site;
  try {
    await build();
    await fs.rename(site, gitdir, () => {
      place = gitdir;
    });
  } catch (error) {
    await fs.discard(place).catch(() => undefined);
    const errno = errnoOf(error);
    throw errno === 'ENOTEMPTY' || errno === 'EEXIST' ? repositoryExists() : error;
  }
}

export function repositoryExists(): Error {
  return conflict('name_taken', 'There is a repository of that name already.');
}
