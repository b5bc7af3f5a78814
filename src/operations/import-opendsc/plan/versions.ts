/** What becomes of a version that keeps the rules: the same for configurations, composites and parameter files. */

import { versionExists } from '../../../versions/rules.ts';
import type { Deed, WrittenVersion } from '../deeds.ts';
import type { Kind } from '../kinds.ts';
import type { SourceStatus } from '../source/site.ts';
import { Clash, here, type Judged, made, type Plan, type Standing } from './plan.ts';

interface Coming<T> {
  source: { version: string; status: SourceStatus; createdAt: number | null; createdBy: string | null };
  /** The key of its series in the plan. */
  series: string;
  /** The version of this name that is here. */
  there: T | undefined;
  /** @throws Clash where its content is another one */
  requireSame(there: T): void;
  deed(written: WrittenVersion): Deed;
  standing?: Standing;
}

/**
 * Compares the version with those of its series. A draft that is here may be one that was to be published when an import ended.
 * @throws LeftOut, Clash; HawserError `version_exists` for one that counts as the same (SemVer 10)
 */
export function judgeVersionHere<T extends { status: SourceStatus }>(
  plan: Plan,
  kind: Kind,
  { source, series, there, requireSame, deed, standing }: Coming<T>,
): Judged {
  const { version, status, createdAt, createdBy: author } = source;
  plan.once(kind, `${series} ${version}`);
  const known = plan.versionsOf(series);
  const same = known.findSame(version);
  if (same) throw versionExists(same.version);
  const madeAt = createdAt ?? plan.input.now;
  const written = {
    version,
    author,
    madeAt,
    isPublished: status === 'Published',
    isThere: there !== undefined,
  };
  if (there !== undefined) {
    requireSame(there);
    if (there.status === status) return here(standing);
    if (there.status === 'Published') throw new Clash('It is published here');
  }
  if (!plan.input.skip.has(kind)) known.put({ version, status, isWithdrawn: false, createdAt: madeAt });
  return made(deed(written), standing);
}
