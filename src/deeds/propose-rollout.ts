/**
 * What rollouts mean for changes that are tried: which of them is in the way, and what the start of one proposes. That counts as offered to
 * all, so each version of it is judged as if it were published alone.
 */

import type { Database } from '../db/database.ts';
import { HawserError, notFound } from '../lib/errors.ts';
import { seriesOf } from '../versions/parameter-files.ts';
import {
  fileBlocker,
  requireRollable,
  requireRollableFile,
  rolloutBlocker,
} from '../versions/rollout-rules.ts';
import { atFile } from '../versions/rollouts.ts';
import type { VersionIndex } from '../versions/types.ts';
import type { VersionSource } from '../versions/version-source.ts';
import { type Change, type ChangeOf, partsOf } from './changes.ts';
import { findFiles, requirePlan } from './start-rollout.ts';

/** The name as it is stored. */
type NameOf = (on: 'configuration' | 'composite' | 'parameters', name: string) => string;

/** The repository of what a change names by either of two members. */
export function ownerIn(
  { configurationName, compositeName }: ChangeOf<'Withdraw' | 'Restore' | 'StartRollout'>,
  nameOf: NameOf,
) {
  return typeof compositeName === 'string'
    ? ({ kind: 'composites', name: nameOf('composite', compositeName) } as const)
    : ({ kind: 'configurations', name: nameOf('configuration', configurationName ?? '') } as const);
}

/**
 * What is in the way of a change only at the moment: a rollout that has not ended.
 * @throws HawserError for a rollout that cannot be started at all: not_found, conflict `rollout_halted` or `not_possible`
 */
export async function rolloutInTheWay(
  source: VersionSource,
  change: Change,
  nameOf: NameOf,
): Promise<HawserError | null> {
  switch (change.kind) {
    case 'PublishParameters':
    case 'SetParameters': {
      const name = nameOf('parameters', change.configurationName);
      return fileBlocker(await source.versions({ kind: 'configurations', name }));
    }
    case 'PublishConfiguration': {
      const name = nameOf('configuration', change.configurationName);
      return rolloutBlocker(await source.versions({ kind: 'configurations', name }), change.version);
    }
    case 'PublishComposite': {
      const name = nameOf('composite', change.compositeName);
      return rolloutBlocker(await source.versions({ kind: 'composites', name }), change.version);
    }
    case 'Restore':
      return rolloutBlocker(await source.versions(ownerIn(change, nameOf)), change.version);
    case 'StartRollout':
      return rolloutToWaitFor(await source.versions(ownerIn(change, nameOf)), change);
    default:
      return null;
  }
}

function rolloutToWaitFor(index: VersionIndex, { version }: ChangeOf<'StartRollout'>): HawserError | null {
  const ref = typeof version === 'string' ? index.get(version) : null;
  if (ref === undefined) throw notFound('There is no such version.');
  try {
    requireRollable(index, ref);
    return null;
  } catch (error) {
    if (error instanceof HawserError && error.code === 'rollout_running') return error;
    throw error;
  }
}

interface Proposed {
  database: Database;
  /** The versions after the changes that were taken. */
  source(): VersionSource;
  /** Takes the publishing of a draft. */
  take(part: Change): Promise<void>;
}

/**
 * @param repository of the configuration or composite
 * @throws HawserError what publishing each draft would answer; as `requirePlan`, `findFiles` and `requireRollableFile`
 */
export async function proposeRollout(
  { database, source, take }: Proposed,
  repository: { kind: 'configurations' | 'composites'; name: string },
  change: ChangeOf<'StartRollout'>,
): Promise<void> {
  await requirePlan(database.read, change.steps);
  const found = await findFiles({ database }, change.parameters ?? []);
  const versions = await source().versions(repository);
  // What rolls out already is told as what is in the way.
  const isWaiting = rolloutToWaitFor(versions, change) !== null;
  const files = partsOf(change).filter(({ kind }) => kind === 'PublishParameters');
  for (const part of partsOf(change))
    if (part.kind === 'PublishConfiguration' || part.kind === 'PublishComposite') {
      const ref = (await source().versions(repository)).get(part.version);
      // One that is published is offered to all already.
      if (ref?.status === 'Draft') await take(part);
    }
  for (const [at, { scope, version, isOwn }] of found.entries())
    await atFile(at, async () => {
      const series = seriesOf({ scopeType: scope.scopeTypeName, value: scope.scopeValue });
      const index = (await source().parameters.index(repository.name)).of(series);
      const found = index.get(version);
      if (isWaiting && found?.status === 'Published') return;
      const offered = index.published.filter(isOwn);
      const ref = requireRollableFile(versions.rollouts, { ref: found, offered, file: scope });
      const part = files[at];
      if (ref.status === 'Draft' && part) await take(part);
    });
}
