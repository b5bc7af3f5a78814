/** Carries out what a push of git asks for, by the rules of the other deeds, once its objects are there to be read. */

import { createHash } from 'node:crypto';
import { freezeLook } from '../db/freeze.ts';
import { readValidationSettings } from '../db/settings.ts';
import type { CompatibilityReport } from '../domain/compatibility.ts';
import type { Finding } from '../domain/findings.ts';
import type { Ways } from '../domain/ways.ts';
import type { PushRequest } from '../git/push/push-request.ts';
import type { Clock } from '../lib/clock.ts';
import { conflict, invalid } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import type { Threads } from '../lib/threads.ts';
import type { FleetTools } from '../resolve/fleet-tasks.ts';
import { offeredWays } from '../resolve/offered-ways.ts';
import {
  type Compatibility,
  type CompatibilityGuard,
  NOT_COMPARED,
} from '../resolve/schema-compatibility.ts';
import type { GrantedResource } from '../security/access.ts';
import { grantedResource } from '../security/authorize.ts';
import type { Caller } from '../security/caller.ts';
import { authorVersions } from '../versions/author.ts';
import { PUSHED } from '../versions/author-kinds.ts';
import type { DraftTools } from '../versions/draft-edits.ts';
import { type DeletedDraft, type PushedVersion, planPush } from '../versions/push-plan.ts';
import { type JudgedPush, judgeContent, type NewObjects } from '../versions/pushed-content.ts';
import type { ResourceTools } from '../versions/resources.ts';
import { rolloutBlocker } from '../versions/rollout-rules.ts';
import { type ConfigurationRow, requireRow, type Target } from '../versions/rows.ts';
import { checkDraft } from '../versions/rules.ts';
import { requireTakeable } from '../versions/taken-pushes.ts';
import type { TreeTasks } from '../versions/tree-tasks.ts';
import type { PushRecord, TakenPush as PushToTake, VersionIndex } from '../versions/types.ts';
import { judgingBy, readEffectiveSettings } from './configuration-settings.ts';
import { findingsInHistory } from './publish-obstacles.ts';

/** Who pushes to which configuration. */
export interface PushCall extends Pick<Caller, 'principal' | 'actor'> {
  resource: GrantedResource;
  /** It is aborted when nobody waits for the answer any more. */
  gone: AbortSignal;
  /** Asks once more who the caller is, and what it may. @throws HawserError as if the call came anew */
  reauthorize(): Promise<void>;
}

export interface PushDeedTools extends ResourceTools, DraftTools {
  compatibility: CompatibilityGuard;
  questions: FleetTools['questions'];
  log: Log;
  clock: Clock;
  threads: Threads<TreeTasks>;
}

/** What a push asks for, once it is known to be possible at all. */
export interface PushDeed {
  /** @throws HawserError the first rule that is broken */
  carryOut(fresh: FreshObjects): Promise<TakenPush>;
}

/** What became of a push that was taken. */
export type TakenPush =
  | { kind: 'deleted'; configurationName: string; version: string }
  | { kind: 'draft'; version: string; findings: readonly Finding[] }
  | {
      kind: 'published';
      version: string;
      findings: readonly Finding[];
      /** Null where they could not be counted. */
      nodes: Ways | null;
      /** What publishing changed for parameters; null where nothing was compared. */
      report: CompatibilityReport | null;
      /** The id of the tag that the server has made in place of the draft that was pushed; null where a tag was pushed. */
      madeTag: string | null;
    };

/** The objects that came, and what of the repository they were compared with. */
export interface FreshObjects extends NewObjects {
  /**
   * Looks again for what the repository lacks, if its refs have changed: one may have gone, and objects with it.
   * @throws HawserError as when they were first looked for
   */
  findAgain(): Promise<void>;
  /** Whether all refs are still there that were there when the objects were looked for. */
  isCurrent(): Promise<boolean>;
}

/** What a push is judged by, beside what it holds. */
interface Seen {
  row: ConfigurationRow;
  settings: Awaited<ReturnType<typeof readEffectiveSettings>>;
  pushIdentity: Awaited<ReturnType<typeof readValidationSettings>>['pushIdentity'];
  index: VersionIndex;
}

interface Judged {
  seen: Seen;
  /** Stands for the ids of all objects that came. */
  added: string;
  push: JudgedPush;
  /** Nothing is compared where nothing is published. */
  compatibility: Compatibility;
}

/** Where a push is judged: the objects of the repository, and over them those that came. */
type Site = { call: PushCall; seen: Seen } & ReturnType<PushDeedTools['store']['under']>;

/** So often a push is judged while others change what it is judged by. After the first time its objects are there already. */
const JUDGED_AGAIN = 6;

export class PushDeeds {
  private readonly tools: PushDeedTools;

  constructor(tools: PushDeedTools) {
    this.tools = tools;
  }

  /** @throws HawserError as `planPush` */
  plan(call: PushCall, { commands, options }: PushRequest): PushDeed {
    const plan = planPush(commands, options);
    return {
      carryOut: (fresh) =>
        plan.kind === 'deletion' ? this.deleteDraft(call, plan) : this.takeVersion(call, plan, fresh),
    };
  }

  private async deleteDraft(call: PushCall, { version, from }: DeletedDraft): Promise<TakenPush> {
    const { read } = this.tools.database;
    await call.reauthorize();
    const { name } = await grantedResource(read, call.principal, 'configuration', 'Manage', {
      id: call.resource.id,
    });
    await authorVersions(this.tools, targetOf(call), async (author) => {
      const draft = author.requireDraft(version, undefined, 'A published version stays');
      if (draft.oid !== from) throw changed();
      await author.deleteDraft(version, undefined, PUSHED);
    });
    return { kind: 'deleted', configurationName: name, version };
  }

  /**
   * Judges the push without any lock, takes it under that of the repository, and judges it anew where what it was judged by
   * has changed meanwhile.
   */
  private async takeVersion(call: PushCall, plan: PushedVersion, fresh: FreshObjects): Promise<TakenPush> {
    const { clock, database, store } = this.tools;
    const requireUnfrozen = isPublishing(plan) ? freezeLook(() => clock.now()) : undefined;
    await requireUnfrozen?.(database.read);
    const made = targetOf(call);
    const target = { ...made, actor: { ...made.actor, requireUnfrozen } };
    let [last, written]: [Judged | null, string | null] = [null, null];
    for (let time = 1; time <= JUDGED_AGAIN; time += 1) {
      const judged: Judged = await this.judgeAll(call, plan, fresh, last);
      // They are written before anybody waits for the lock, however many they are.
      if (judged.added !== written) await store.writeObjects(repositoryOf(judged.seen.row), fresh.giveAll());
      written = judged.added;
      const taken = await authorVersions(this.tools, target, async (author, row) => {
        // The upload may have taken minutes, and the lock too.
        await call.reauthorize();
        const now = { row, ...(await this.rulesOf(row)), index: author.index() };
        if (!(await fresh.isCurrent()) || !isSame(judged.seen, now, plan.version)) return null;
        const { version } = await author.takePush(takenPush(call, plan, now.index, judged.push));
        return { tag: author.index().get(version)?.oid ?? null };
      });
      if (taken) return this.outcomeOf(call, plan, judged, taken.tag);
      last = judged;
    }
    throw conflict('versions_changed', 'Others write to this configuration again and again; push once more');
  }

  private async outcomeOf(
    call: PushCall,
    plan: PushedVersion,
    judged: Judged,
    tag: string | null,
  ): Promise<TakenPush> {
    const { findings, report: compare } = judged.compatibility;
    const isSilent = judged.seen.settings.documentChecks === 'None';
    const { row, index } = judged.seen;
    const inHistory = await this.orNull(() =>
      findingsInHistory(this.tools.store, row.name, index, judged.push),
    );
    const found = [...(inHistory ?? []), ...(isSilent ? [] : findings)];
    const { version } = plan;
    if (!isPublishing(plan)) return { kind: 'draft', version, findings: found };
    const assigned = { kind: 'configurations', ...call.resource } as const;
    const nodes = await offeredWays(this.tools, call.principal, { assigned, version });
    const report = await this.orNull(compare);
    return {
      kind: 'published',
      version,
      findings: found,
      nodes,
      report,
      madeTag: plan.publishes ? tag : null,
    };
  }

  /** Once a version is there, nothing may say that it is not. What cannot be told of it is left out. */
  private async orNull<T>(ask: () => Promise<T>): Promise<T | null> {
    try {
      return await ask();
    } catch (error) {
      this.tools.log.warn({ err: error }, 'an answer to a push is shorter than it should be');
      return null;
    }
  }

  /**
   * @param last what was judged before; it is the answer where nothing has changed that it goes by
   * @throws HawserError the first rule that is broken
   */
  private async judgeAll(
    call: PushCall,
    plan: PushedVersion,
    fresh: FreshObjects,
    last: Judged | null,
  ): Promise<Judged> {
    const { store, database } = this.tools;
    await call.reauthorize();
    await fresh.findAgain();
    const row = await requireRow(database.read, 'configurations', call.resource.id);
    const repository = repositoryOf(row);
    const upper = { has: (oid: string) => fresh.added.has(oid), read: (oid: string) => fresh.read(oid) };
    const seen = { row, ...(await this.rulesOf(row)), index: await store.versions(repository) };
    const added = hashOfKeys(fresh.added);
    if (last?.added === added && isSame(last.seen, seen, plan.version)) return last;
    const site = { call, seen, ...store.under(repository, upper) };
    const push = await this.judge(site, plan, fresh);
    const compatibility = await this.judgeDocument(site, plan, push);
    for (const blocker of compatibility.blockers) throw blocker;
    // What is refused leaves no object behind.
    const blocker = isPublishing(plan) ? rolloutBlocker(seen.index, plan.version) : null;
    if (blocker) throw blocker;
    requireTakeable(seen.index, takenPush(call, plan, seen.index, push));
    return { seen, added, push, compatibility };
  }

  private async rulesOf({ id }: ConfigurationRow): Promise<Pick<Seen, 'settings' | 'pushIdentity'>> {
    const { read } = this.tools.database;
    const settings = await readEffectiveSettings(read, id);
    const { pushIdentity } = await readValidationSettings(read);
    return { settings, pushIdentity };
  }

  private async judge(
    { call, seen, ...site }: Site,
    plan: PushedVersion,
    fresh: FreshObjects,
  ): Promise<JudgedPush> {
    const { store, limits, threads } = this.tools;
    const { row, settings, pushIdentity, index } = seen;
    const repository = repositoryOf(row);
    const push = await judgeContent(
      {
        ...site,
        fresh,
        limits,
        lookAtTrees: (trees) => threads.run(call.principal.userId, 'lookAtTrees', trees),
        sizesOf: async (files) => (await store.fileInfos(repository, files)).map(({ size }) => size),
        inheritedEntryPoint: async () => {
          const [below] = index.published;
          // The one below is told by the index only for versions that are in it.
          return below === undefined ? null : (await store.details(repository, below)).entryPoint;
        },
      },
      plan,
    );
    checkDraft({
      version: plan.version,
      entryPoint: push.entryPoint,
      prereleaseChannel: undefined,
      files: push.content.files,
      useServerManagedParameters: row.use_server_managed_parameters === 1,
      // A version that is there has its name already.
      requireSemVer: settings.requireSemVer && index.get(plan.version) === undefined,
    });
    if (pushIdentity !== 'Any') checkIdentity(call, push);
    return push;
  }

  /** What the entry point is, and what publishing it would change, if it is published. */
  private async judgeDocument(
    { call, seen: { row, settings }, gitdir, objects }: Site,
    plan: PushedVersion,
    { content: { files }, entryPoint }: JudgedPush,
  ): Promise<Compatibility> {
    const { version } = plan;
    const oid = files.find(({ path }) => path === entryPoint)?.oid ?? '';
    const load = () => objects.readBytes(gitdir, oid, 'blob');
    const pushed = { version, entryPoint, files, oid, load };
    const judging = judgingBy(row, settings, call.principal.userId);
    if (isPublishing(plan)) return this.tools.compatibility.judgeNew(row.name, pushed, judging);
    return { ...NOT_COMPARED, findings: await this.tools.compatibility.lookAtNew(pushed, judging) };
  }
}

function takenPush(call: PushCall, plan: PushedVersion, index: VersionIndex, push: JudgedPush): PushToTake {
  const { version, draft, tag, publishes } = plan;
  const { username: name, email } = call.principal;
  const at = call.actor.at;
  const person = { name, email };
  const origin = index.get(version)?.pushed ?? { createdAt: at, creator: person };
  const record: PushRecord = {
    createdAt: origin.createdAt,
    creator: origin.creator,
    pusher: person,
    pushedAt: at,
  };
  const to = publishes
    ? { publish: push.commit, entryPoint: push.entryPoint }
    : tag !== null
      ? { tag }
      : { draft: push.commit };
  return { version, ...(draft && { from: draft.from }), to, record };
}

function checkIdentity({ principal }: PushCall, { tip, tag }: JudgedPush): void {
  const claims = [tip.committer.email, ...(tag === null ? [] : [tag.tagger?.email ?? ''])];
  if (claims.some((email) => email.toLowerCase() !== principal.email.toLowerCase()))
    throw invalid(
      'invalid_committer',
      `The committer and the tagger must have the e-mail ${principal.email}`,
    );
}

const isPublishing = ({ tag, publishes }: PushedVersion) => tag !== null || publishes;

/** Whether a push would be judged alike. Drafts of other versions count for nothing. */
function isSame(before: Seen, now: Seen, version: string): boolean {
  const textOf = ({ row, settings, pushIdentity }: Seen) =>
    JSON.stringify([row.name, row.use_server_managed_parameters, settings, pushIdentity]);
  const refOf = ({ index }: Seen) => index.get(version)?.oid;
  const [published, current] = [before.index.published, now.index.published];
  return (
    textOf(before) === textOf(now) &&
    refOf(before) === refOf(now) &&
    published.length === current.length &&
    published.every(({ oid }, at) => oid === current[at]?.oid)
  );
}

function hashOfKeys(added: NewObjects['added']): string {
  const hash = createHash('sha256');
  for (const oid of added.keys()) hash.update(oid);
  return hash.digest('hex');
}

const repositoryOf = ({ name }: ConfigurationRow) => ({ kind: 'configurations', name }) as const;

function targetOf({ resource, principal, actor, gone }: PushCall): Target<'configurations'> {
  return { kind: 'configurations', resource, principal, actor, gone };
}

const changed = () => conflict('draft_changed', 'The draft has moved meanwhile; fetch it and push again');
