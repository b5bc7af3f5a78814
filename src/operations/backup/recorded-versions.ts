/**
 * Finds the refs that a repository had at the moment of the database's copy. The copy's audit entries tell which changes
 * came before that moment. A ref that moved without an entry moved after it, or its change was not acknowledged yet.
 */

import type { VersionEntry } from '../../db/sqlite/snapshot.ts';
import type { PackedRef } from '../../git/refs.ts';
import type { RepositoryKind } from '../../git/types.ts';
import {
  isBesideStatus,
  KINDS,
  parseRefName,
  type RefName,
  refNameOf,
  SCHEMA_SERIES,
} from '../../versions/kinds.ts';
import { seriesOf } from '../../versions/parameter-files.ts';
import { AUDITED } from '../../versions/rows.ts';
import { ONLY_SERIES } from '../../versions/types.ts';

/**
 * What a version, its withdrawal or its rollout became by its last recorded change. The commit is that of the version, or of
 * the rollout; null when it was deleted, or is not withdrawn any more.
 */
type Recorded = RefName & { commit: string | null };

/** The members of an entry's details that name a version. A draft that took the place of another has two commits. */
interface Details {
  version: string | null;
  /** That of a rollout, which is the version unless parameter files roll out alone. */
  key?: string;
  scopeType?: string;
  scopeValue?: string | null;
  commit: string | { to: string };
}

const PUBLISHING = ['version_published', 'schema_uploaded'];
const WITHDRAWING = ['version_withdrawn', 'version_offered_again'];
const ROLLING = ['rollout_started', 'rollout_moved'];
const ENDING = ['version_deleted', 'version_offered_again'];

export class RecordedVersions {
  /** Maps the id of each resource to its entries, of which the oldest is the first. */
  private readonly entries = new Map<string, VersionEntry[]>();

  constructor(entries: readonly VersionEntry[]) {
    for (const entry of entries) {
      const others = this.entries.get(entry.resourceId);
      if (others) others.push(entry);
      else this.entries.set(entry.resourceId, [entry]);
    }
  }

  /**
   * The refs at the moment. A draft among them may lead to a commit that neither side has, if it was changed again since.
   * @param owner the id of the resource in the database's copy; null where the copy has none
   * @param before the refs that were seen before the moment
   * @param after the refs that were seen after it
   */
  refsAt(
    kind: RepositoryKind,
    owner: string | null,
    { before, after }: { before: readonly PackedRef[]; after: readonly PackedRef[] },
  ): readonly PackedRef[] {
    const entries = this.entries.get(owner ?? '') ?? [];
    // A start of the server adopts a repository as it finds it, and makes no entry for its versions.
    if (entries.some(({ action }) => action.endsWith('.adopted'))) return after;
    const recorded = lastChanges(kind, entries);
    const [old, now] = [byName(before), byName(after)];
    const refs: PackedRef[] = [];
    const others: string[] = [];
    let isAfter = true;
    for (const name of new Set([...old.keys(), ...now.keys(), ...[...recorded.values()].map(refNameOf)])) {
      const version = parseRefName(KINDS[kind], name);
      if (version === null || version === 'illegal') {
        others.push(name);
        continue;
      }
      const [since, until] = [now.get(name), old.get(name)];
      const ref = refAt(name, version, recorded.get(keyOf(version)), { since, until });
      if (ref) refs.push(ref);
      if (ref?.oid !== since?.oid) isAfter = false;
    }
    // The branches of published versions follow the tags. A start brings them up to date where they are behind.
    const follow = isAfter ? now : old;
    return [...refs, ...others.flatMap((name) => follow.get(name) ?? [])];
  }
}

function refAt(
  name: string,
  { status }: RefName,
  recorded: Recorded | undefined,
  { since, until }: { since: PackedRef | undefined; until: PackedRef | undefined },
): PackedRef | undefined {
  const isSame = since !== undefined && since.oid === until?.oid;
  if (isSame || recorded === undefined) return until;
  if (recorded.status !== status || recorded.commit === null) return undefined;
  if (status === 'Draft' || status === 'Rollout') return { name, oid: recorded.commit, peeled: null };
  return [since, until].find((ref) => ref && (ref.peeled ?? ref.oid) === recorded.commit);
}

/**
 * Maps each version, each withdrawal and each rollout, by `keyOf`, to its last recorded change. A version that is deleted
 * takes its withdrawal and its rollout with it.
 */
function lastChanges(kind: RepositoryKind, entries: readonly VersionEntry[]): Map<string, Recorded> {
  const changes = new Map<string, Recorded>();
  for (const { action, details } of entries) {
    const [audited, what = ''] = action.split('.');
    if (audited !== AUDITED[kind]) continue;
    const { version: own, key, scopeType, scopeValue = null, commit }: Details = JSON.parse(details);
    const version = own ?? key ?? '';
    const ofSchema = what === 'schema_uploaded' ? SCHEMA_SERIES : ONLY_SERIES;
    const series = scopeType === undefined ? ofSchema : seriesOf({ scopeType, value: scopeValue });
    const changed = {
      series,
      version,
      commit: ENDING.includes(what) ? null : typeof commit === 'string' ? commit : commit.to,
    };
    const isOfWithdrawal = WITHDRAWING.includes(what);
    const isOfRollout = ROLLING.includes(what);
    const take = (recorded: Recorded) => changes.set(keyOf(recorded), recorded);
    if (isOfWithdrawal || what === 'version_deleted') take({ ...changed, status: 'Withdrawn' });
    if (isOfRollout || what === 'version_deleted') take({ ...changed, status: 'Rollout' });
    if (!isOfWithdrawal && !isOfRollout)
      take({ ...changed, status: PUBLISHING.includes(what) ? 'Published' : 'Draft' });
  }
  return changes;
}

function byName(refs: readonly PackedRef[]): Map<string, PackedRef> {
  return new Map(refs.map((ref) => [ref.name, ref]));
}

function keyOf({ series, version, status }: RefName): string {
  return `${isBesideStatus(status) ? `${status} ` : ''}${series} ${version}`;
}
