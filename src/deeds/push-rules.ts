/** What differs between the kinds of repositories that take pushes: what a push is judged by, and what the rules say of it. */

import type { readValidationSettings } from '../db/settings.ts';
import type { CompatibilityReport } from '../domain/compatibility.ts';
import type { Finding } from '../domain/findings.ts';
import type { ObjectStore } from '../git/objects.ts';
import type { Clock } from '../lib/clock.ts';
import { invalid } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import type { Threads } from '../lib/threads.ts';
import type { FleetTools } from '../resolve/fleet-tasks.ts';
import type { CompatibilityGuard } from '../resolve/schema-compatibility.ts';
import type { GrantedResource } from '../security/access.ts';
import type { Caller } from '../security/caller.ts';
import type { DraftTools } from '../versions/draft-edits.ts';
import type { PushedKind, PushedVersion, PushPlan } from '../versions/push-plan.ts';
import type { JudgedPush, NewObjects } from '../versions/pushed-content.ts';
import type { ResourceTools } from '../versions/resources.ts';
import type { ConfigurationRow } from '../versions/rows.ts';
import type { TreeTasks } from '../versions/tree-tasks.ts';
import type { SeriesIndex, VersionIndex } from '../versions/types.ts';
import type { readEffectiveSettings } from './configuration-settings.ts';
import type { SecretTools } from './secret-content.ts';
import type { DraftTools as ProposingTools } from './set-drafts.ts';

/** Who pushes to which repository. */
export interface PushCall extends Pick<Caller, 'principal' | 'actor'> {
  kind: PushedKind;
  resource: GrantedResource;
  /** It is aborted when nobody waits for the answer any more. */
  gone: AbortSignal;
  /** Asks once more who the caller is, and what it may. @throws HawserError as if the call came anew */
  reauthorize(): Promise<void>;
}

export interface PushDeedTools extends ResourceTools, DraftTools, SecretTools {
  compatibility: CompatibilityGuard;
  questions: FleetTools['questions'];
  log: Log;
  clock: Clock;
  threads: Threads<TreeTasks>;
  /** Propose what was pushed as a change set. */
  proposing: ProposingTools;
}

/** What a push is judged by, beside what it holds. */
export interface Seen {
  row: ConfigurationRow;
  settings: Awaited<ReturnType<typeof readEffectiveSettings>>;
  pushIdentity: Awaited<ReturnType<typeof readValidationSettings>>['pushIdentity'];
  /** Those of each series that the push names. */
  versions: ReadonlyMap<string, VersionIndex>;
  /** Equal where a push would be judged alike. */
  text: string;
}

/** Where a push is judged: the objects of the repository, and over them those that came. */
export interface PushSite<S extends Seen> {
  call: PushCall;
  plan: PushPlan;
  seen: S;
  gitdir: string;
  objects: ObjectStore;
  fresh: NewObjects;
}

/** What the rules say of a push that they do not refuse. */
export interface Verdict {
  /** In the order of what was pushed. */
  versions: readonly JudgedVersion[];
  /** The ids of the keys of all encrypted texts in it. */
  keyIds: ReadonlySet<string>;
  /** What is found in it. It is asked once the push is taken, and its objects are there. */
  findings(): Promise<readonly Finding[]>;
  /** What publishing changes for parameters; null where nothing was compared. */
  report(): Promise<CompatibilityReport | null>;
}

export const NOTHING_JUDGED: Verdict = {
  versions: [],
  keyIds: new Set(),
  findings: async () => [],
  report: async () => null,
};

export interface JudgedVersion {
  push: JudgedPush;
  /** Null for a parameter file. */
  entryPoint: string | null;
  /** The node that a published file of scope Node belongs to. */
  nodeId: string | undefined;
  /** Whether the schema refuses a file, and the mode keeps it all the same. */
  needsMigration: boolean;
}

export interface PushRules<S extends Seen> {
  /**
   * Looks at all that a push is judged by, also at what the caller may do. It is called again under the lock.
   * @throws HawserError forbidden; what refuses a push whatever it holds
   */
  look(call: PushCall, plan: PushPlan, row: ConfigurationRow, index: SeriesIndex): Promise<S>;
  /** @throws HawserError the first rule that is broken */
  judge(site: PushSite<S>, pushes: readonly JudgedPush[]): Promise<Verdict>;
  /** Does under the lock what must be there before the versions are. @returns false where the push is to be judged anew */
  prepare(call: PushCall, seen: S, verdict: Verdict): Promise<boolean>;
}

/** What is proposed, or kept, is published later, whatever came for it. */
export const isPublishing = ({ publishes, proposes, keeps }: PushPlan, { tag }: PushedVersion) =>
  proposes === null && !keeps && (tag !== null || publishes);

/** Whether it is judged by the rules of publishing. */
export const isToBePublished = (plan: PushPlan, version: PushedVersion) =>
  plan.proposes !== null || plan.keeps || isPublishing(plan, version);

/** @throws HawserError `invalid_committer` */
export function checkIdentity({ principal }: PushCall, { tip, tag }: JudgedPush): void {
  const claims = [tip.committer.email, ...(tag === null ? [] : [tag.tagger?.email ?? ''])];
  if (claims.some((email) => email.toLowerCase() !== principal.email.toLowerCase()))
    throw invalid(
      'invalid_committer',
      `The committer and the tagger must have the e-mail ${principal.email}`,
    );
}

/** The text of which two are equal where the published versions of the series, and those that are pushed, are the same. */
export function textOfVersions({ versions }: PushPlan, of: ReadonlyMap<string, VersionIndex>): string {
  const published = [...of.values()].map((index) => index.published.map(({ oid }) => oid));
  const named = versions.map(({ series, version }) => of.get(series)?.get(version)?.oid ?? null);
  return JSON.stringify([published, named]);
}
