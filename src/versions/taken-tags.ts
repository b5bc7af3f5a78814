/** Takes annotated tags that were made elsewhere, by the rules of a tag that stock git makes in a repository. */

import { guardDisk } from '../git/disk-errors.ts';
import type { ObjectStore } from '../git/objects.ts';
import type { RefMove } from '../git/refs.ts';
import { conflict, invalid } from '../lib/errors.ts';
import type { Repository } from './repository.ts';
import type { PlannedEntry, TakenObjects, TakenTag } from './types.ts';

export interface TakerTools {
  repository: Repository;
  objects: ObjectStore;
  create(): Promise<void>;
  move(move: RefMove, entry: PlannedEntry): Promise<boolean>;
  refresh(): Promise<void>;
}

/**
 * Takes a version and what stands beside it, or one of these.
 * @returns those that were not there, with the commits of their versions
 * @throws HawserError conflict `version_exists` where another tag has the name; invalid `validation_failed` with the reason
 *   why a tag is no version. The caller's work must fail then, so that nothing stays moved.
 */
export async function takeTags(
  tools: TakerTools,
  tags: readonly TakenTag[],
  load: () => Promise<TakenObjects>,
): Promise<(TakenTag & { commit: string | null })[]> {
  const { repository } = tools;
  const { refs } = repository;
  const there = (name: string) => (repository.absent ? null : refs.get(name));
  for (const { name, oid } of tags)
    if ((there(name) ?? oid) !== oid)
      throw conflict(
        'version_exists',
        'another tag of this name is there, and published versions never move',
      );
  const added = tags.filter(({ name }) => there(name) === null);
  if (added.length === 0) return [];
  await guardDisk(async () => {
    if (repository.absent) await tools.create();
    const { objects, ends } = await load();
    await tools.objects.writeAll(repository.gitdir, objects);
    if (ends.length > 0) await refs.removeForGood(ends, [], []);
    // The version comes last, so that no node gets it without its withdrawal or its rollout.
    for (const { name, oid, entry } of added.toReversed())
      if (!(await tools.move({ name, from: null, to: oid }, entry)))
        throw conflict('versions_changed', 'somebody else made a tag of this name meanwhile');
  });
  await tools.refresh();
  return added.map((tag) => ({ ...tag, commit: requireUsable(repository, tag) }));
}

/** The commit of the version, or of its rollout. */
function requireUsable({ known }: Repository, { name, oid, named }: TakenTag): string | null {
  const index = known?.of(named.series);
  if (named.status === 'Rollout' && index?.rollouts.some((rollout) => rollout.oid === oid)) return oid;
  const version = index?.get(named.version);
  const found = named.status === 'Withdrawn' ? version?.withdrawn?.tag : version?.oid;
  if (version !== undefined && found === oid) return version.commit;
  throw invalid('validation_failed', known?.faults.get(name) ?? 'it is no annotated tag of a version');
}
