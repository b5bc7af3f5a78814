/**
 * Ends the start of a rollout with parameter files that a crash has cut off. The branch of the rollout decides for all of it and
 * moves first, and the tags that it names are written by then. So whoever finds one of them without its ref makes the ref.
 */

import type { Database } from '../db/database.ts';
import type { RolloutRecord } from '../domain/rollout.ts';
import { refNameOf } from './kinds.ts';
import { seriesOf } from './parameter-files.ts';
import { isUnderWay } from './rollout-rules.ts';
import type { Owner } from './rows.ts';
import type { GitStore } from './store.ts';
import { type LockedRepository, type NamedTag, ONLY_SERIES, type SeriesIndex } from './types.ts';
import { recordUnrecorded } from './unrecorded.ts';

/**
 * To be called under the lock of the configuration, before its entries are recorded that a crash kept from the trail.
 * @throws HawserError `repository_damaged` where a tag cannot be read
 */
export async function finishRollouts(
  { database, store }: { database: Database; store: GitStore },
  { resource }: Owner<'configurations'>,
  writer: LockedRepository,
): Promise<void> {
  const { rollouts, loose } = writer.index.of(ONLY_SERIES);
  const records = [...loose.unbegun, ...rollouts].map(({ record }) => record);
  const begun = records.filter((record) => record.parameters.length > 0 && isUnderWay(record));
  if (begun.length === 0) return;
  const { name } = resource;
  const lacking = missingFiles(begun, await store.parameters.index(name));
  if (lacking.length > 0)
    await store.exclusive({ kind: 'parameters', name }, async (parameters) => {
      await parameters.finishTags(lacking);
      await recordUnrecorded(database, { kind: 'parameters', resource }, parameters);
    });
  const versions = loose.unbegun.flatMap(({ record: { version, tag } }) =>
    version === null || tag === null
      ? []
      : { name: refNameOf({ series: ONLY_SERIES, version, status: 'Published' }), oid: tag },
  );
  // The version comes last: until then nobody is offered any of it.
  if (versions.length > 0) await writer.finishTags(versions);
}

/** The tags of files to which no ref leads. */
export function missingFiles(records: readonly RolloutRecord[], index: SeriesIndex): NamedTag[] {
  return records.flatMap(({ parameters }) =>
    parameters.flatMap(({ scopeType, scopeValue, version, tag }) => {
      const series = seriesOf({ scopeType: scopeType.name, value: scopeValue?.value ?? null });
      if (index.of(series).get(version)?.status === 'Published') return [];
      return { name: refNameOf({ series, version, status: 'Published' }), oid: tag };
    }),
  );
}
