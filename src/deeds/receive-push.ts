/** Carries out what a push of git asks for, by the rules of the other deeds, once its objects are there to be read. */

import { createHash } from 'node:crypto';
import { isOutcomeUnknown } from '../db/errors.ts';
import { freezeLook } from '../db/freeze.ts';
import type { CompatibilityReport } from '../domain/compatibility.ts';
import type { Finding } from '../domain/findings.ts';
import type { Ways } from '../domain/ways.ts';
import type { PushRequest } from '../git/push/push-request.ts';
import { conflict } from '../lib/errors.ts';
import { paced } from '../lib/pace.ts';
import { offeredWays } from '../resolve/offered-ways.ts';
import { requirePermission } from '../security/principal.ts';
import { authorVersions } from '../versions/author.ts';
import { scopeOf } from '../versions/parameter-files.ts';
import {
  blamingLater,
  isDeletion,
  type PushedVersion,
  type PushPlan,
  planPush,
} from '../versions/push-plan.ts';
import { judgeContent, type NewObjects } from '../versions/pushed-content.ts';
import { fileBlocker, rolloutBlocker } from '../versions/rollout-rules.ts';
import { type ConfigurationRow, requireRow, type Target } from '../versions/rows.ts';
import { SortedVersions } from '../versions/sorted-versions.ts';
import { requireTakeable } from '../versions/taken-pushes.ts';
import type { PushRecord, TakenPush as PushToTake, VersionIndex } from '../versions/types.ts';
import type { Change } from './changes.ts';
import { proposeSet } from './propose-change-set.ts';
import { requireDoneAlone } from './protection.ts';
import {
  checkIdentity,
  isPublishing,
  type JudgedVersion,
  type PushCall,
  type PushDeedTools,
  type PushRules,
  type Seen,
  type Verdict,
} from './push-rules.ts';
import { PushedConfiguration } from './pushed-configuration.ts';
import { PushedFiles } from './pushed-files.ts';

export type { PushCall, PushDeedTools } from './push-rules.ts';

/** What a push asks for, once it is known to be possible at all. */
export interface PushDeed {
  /** @throws HawserError the first rule that is broken */
  carryOut(fresh: FreshObjects): Promise<TakenPush>;
}

/** What became of a push that was taken. */
export interface TakenPush {
  configurationName: string;
  versions: readonly TakenVersion[];
  findings: readonly Finding[];
  /** By which ways nodes are offered a version of a configuration; null where nothing was published, or it cannot be told. */
  nodes: Ways | null;
  /** What publishing changed for parameters; null where nothing was compared. */
  report: CompatibilityReport | null;
  /** The number of the change set that proposes it; null where none was asked for. */
  changeSet: number | null;
}

export interface TakenVersion extends Pick<PushedVersion, 'series' | 'version'> {
  became: 'deleted' | 'draft' | 'published';
  /** Whether the schema of parameters refuses it, and the mode keeps it all the same. */
  needsMigration: boolean;
  /** The id of the tag that the server has made in place of the draft that was pushed; null where it made none. */
  madeTag: string | null;
  /** The move of its draft where a tag was pushed that is proposed; null for all else. */
  keptAs: { from: string | null; to: string } | null;
}

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

interface Judged {
  seen: Seen;
  /** Stands for the ids of all objects that came. */
  added: string;
  verdict: Verdict;
  pushes: readonly PushToTake[];
}

/** So often a push is judged while others change what it is judged by. After the first time its objects are there already. */
const JUDGED_AGAIN = 6;

export class PushDeeds {
  private readonly tools: PushDeedTools;
  private readonly rules: Record<PushCall['kind'], PushRules<Seen>>;

  constructor(tools: PushDeedTools) {
    this.tools = tools;
    this.rules = { configurations: new PushedConfiguration(tools), parameters: new PushedFiles(tools) };
  }

  /** @throws HawserError as `planPush` */
  plan(call: PushCall, { commands, options }: PushRequest): PushDeed {
    const plan = planPush(call.kind, commands, options);
    if (plan.proposes !== null) requirePermission(call.principal, 'nodes.read');
    return { carryOut: (fresh) => this.take(call, plan, fresh) };
  }

  /**
   * Judges the push without any lock, takes it under that of the repository, and judges it anew where what it was judged by
   * has changed meanwhile.
   */
  private async take(call: PushCall, plan: PushPlan, fresh: FreshObjects): Promise<TakenPush> {
    const { clock, database, store } = this.tools;
    const rules = this.rules[call.kind];
    const publishes = plan.versions.some((version) => isPublishing(plan, version));
    const requireUnfrozen = publishes ? freezeLook(() => clock.now()) : undefined;
    await requireUnfrozen?.(database.read);
    const made = targetOf(call);
    const target = { ...made, actor: { ...made.actor, requireUnfrozen } };
    let [last, written]: [Judged | null, string | null] = [null, null];
    for (let time = 1; time <= JUDGED_AGAIN; time += 1) {
      const judged: Judged = await this.judgeAll(call, plan, fresh, last);
      const repository = repositoryOf(call, judged.seen.row);
      // They are written before anybody waits for the lock, however many they are, unless there is nowhere to write them yet.
      if (judged.added !== written && (await store.has(repository))) {
        await store.writeObjects(repository, fresh.giveAll());
        written = judged.added;
      }
      const tags = await authorVersions(this.tools, target, async (author, row) => {
        // The upload may have taken minutes, and the lock too.
        await call.reauthorize();
        await requireDoneAlone(this.tools, call.actor, ...publishedBy(call, plan, row));
        const seen = await rules.look(call, plan, row, author.all);
        if (seen.text !== judged.seen.text || !(await fresh.isCurrent())) return null;
        if (!(await rules.prepare(call, seen, judged.verdict))) return null;
        await author.takePushes(judged.pushes, written === judged.added ? null : () => fresh.giveAll());
        return plan.versions.map(({ series, version }) => author.index(series).get(version)?.oid ?? null);
      });
      if (tags) {
        const changeSet = plan.proposes === null ? null : await this.propose(call, plan, judged);
        return { ...(await this.outcomeOf(call, plan, judged, tags)), changeSet };
      }
      last = judged;
    }
    throw conflict('versions_changed', 'Others write to this configuration again and again; push once more');
  }

  /** Proposes what was pushed. Where that cannot be done, the drafts go that the push has made. */
  private async propose(call: PushCall, plan: PushPlan, { seen, pushes }: Judged): Promise<number> {
    const { principal, actor } = call;
    const deeds = plan.versions.map(publishingIn(call, seen.row));
    const wanted = { title: plan.proposes ?? '', description: null, deeds };
    try {
      return (await proposeSet(this.tools.proposing, { principal, actor }, wanted)).id;
    } catch (error) {
      if (isOutcomeUnknown(error)) throw error;
      await authorVersions(this.tools, targetOf(call), async (author) => {
        for (const { series, version, from, to } of pushes) {
          const draft = author.index(series).get(version);
          const isOurs = from === null && to !== null && 'draft' in to && draft?.oid === to.draft;
          if (isOurs) await author.deleteDraft(version, series);
        }
      }).catch((err) => this.tools.log.warn({ err }, 'drafts of a push that could not be proposed stay'));
      throw error;
    }
  }

  private async outcomeOf(
    { resource, principal, kind }: PushCall,
    plan: PushPlan,
    { verdict, seen, pushes }: Judged,
    tags: readonly (string | null)[],
  ): Promise<Omit<TakenPush, 'changeSet'>> {
    const versions = plan.versions.map((one, at): TakenVersion => {
      const { series, version } = one;
      const isPublished = isPublishing(plan, one);
      const became = isPublished ? 'published' : isDeletion(one) ? 'deleted' : 'draft';
      const madeTag = plan.publishes ? (tags[at] ?? null) : null;
      const needsMigration = verdict.versions.some(
        ({ push, needsMigration }) => needsMigration && push.plan === one,
      );
      const to = pushes[at]?.to ?? null;
      const isKept = one.tag !== null && to !== null && 'draft' in to;
      const keptAs = isKept ? { from: pushes[at]?.from ?? null, to: to.draft } : null;
      return { series, version, became, needsMigration, madeTag, keptAs };
    });
    const findings = (await this.orNull(() => verdict.findings())) ?? [];
    const [first] = versions;
    const isCounted = kind === 'configurations' && first?.became === 'published';
    const assigned = { kind: 'configurations', ...resource } as const;
    const nodes = isCounted
      ? await offeredWays(this.tools, principal, { assigned, version: first.version })
      : null;
    const report = await this.orNull(() => verdict.report());
    return { configurationName: seen.row.name, versions, findings, nodes, report };
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
    plan: PushPlan,
    fresh: FreshObjects,
    last: Judged | null,
  ): Promise<Judged> {
    const { store, database, limits, threads } = this.tools;
    const rules = this.rules[call.kind];
    await call.reauthorize();
    await fresh.findAgain();
    const row = await requireRow(database.read, 'configurations', call.resource.id);
    await requireDoneAlone(this.tools, call.actor, ...publishedBy(call, plan, row));
    const repository = repositoryOf(call, row);
    const upper = { has: (oid: string) => fresh.added.has(oid), read: (oid: string) => fresh.read(oid) };
    const seen = await rules.look(call, plan, row, await store.index(repository));
    const added = hashOfKeys(fresh.added);
    if (last?.added === added && seen.text === last.seen.text) return last;
    const site = { ...store.under(repository, upper), fresh };
    const pushed = await judgeContent(
      {
        ...{ ...site, kind: call.kind, limits },
        lookAtTrees: (trees) => threads.run(call.principal.userId, 'lookAtTrees', trees),
        sizesOf: async (files) => (await store.fileInfos(repository, files)).map(({ size }) => size),
      },
      plan.versions.filter((version) => !isDeletion(version)),
    );
    const verdict = await rules.judge({ ...site, call, plan, seen }, pushed);
    const judged = new Map(verdict.versions.map((one) => [one.push.plan, one]));
    const rolling =
      call.kind === 'parameters' ? await store.versions({ kind: 'configurations', name: row.name }) : null;
    const pushes: PushToTake[] = [];
    for await (const version of paced(plan.versions))
      pushes.push(
        await blamingLater(version.ref, async () =>
          this.pushOf(call, plan, { ...seen, rolling }, [version, judged.get(version)]),
        ),
      );
    return { seen, added, verdict, pushes };
  }

  /** @throws HawserError what stands against it beside what it holds: what is refused leaves no object behind */
  private pushOf(
    call: PushCall,
    plan: PushPlan,
    { versions, pushIdentity, rolling }: Seen & { rolling: VersionIndex | null },
    [version, judged]: [PushedVersion, JudgedVersion | undefined],
  ): PushToTake {
    const index = versions.get(version.series) ?? SortedVersions.EMPTY;
    if (judged && pushIdentity !== 'Any') checkIdentity(call, judged.push);
    const blocker = rolling ? fileBlocker(rolling) : rolloutBlocker(index, version.version);
    if (blocker && isPublishing(plan, version)) throw blocker;
    const push = takenPush(call, plan, index, [version, judged]);
    requireTakeable(index, push);
    return push;
  }
}

/** What a push publishes, as protections are asked of it. */
function publishedBy(call: PushCall, plan: PushPlan, row: ConfigurationRow): Change[] {
  return plan.versions.filter((one) => isPublishing(plan, one)).map(publishingIn(call, row));
}

/** The deed that publishes a version of the push. */
function publishingIn({ kind }: PushCall, { name: configurationName }: ConfigurationRow) {
  return ({ series, version }: PushedVersion): Change => {
    if (kind === 'configurations') return { kind: 'PublishConfiguration', configurationName, version };
    const { scopeType: scopeTypeName, value: scopeValue } = scopeOf(series);
    return { kind: 'PublishParameters', configurationName, scopeTypeName, scopeValue, version };
  };
}

/** The commit of the draft that there is; null where there is none. */
function draftNow(index: VersionIndex, version: string): string | null {
  const before = index.get(version);
  return before?.status === 'Draft' ? before.oid : null;
}

/** The draft that a tag becomes which is proposed. @throws HawserError conflict `draft_exists` */
function draftBefore(index: VersionIndex, version: string, commit: string): string | null {
  const before = index.get(version);
  if (before?.status !== 'Draft') return null;
  if (before.oid === commit) return commit;
  throw conflict('draft_exists', 'There is a draft of this version with other content; push the draft too');
}

function takenPush(
  call: PushCall,
  { publishes, proposes, keeps }: PushPlan,
  index: VersionIndex,
  [{ series, version, draft, tag }, judged]: [PushedVersion, JudgedVersion | undefined],
): PushToTake {
  const { username: name, email } = call.principal;
  const at = call.actor.at;
  const person = { name, email };
  const origin = index.get(version)?.pushed ?? { createdAt: at, creator: person };
  const nodeId = judged?.nodeId;
  const record: PushRecord = {
    createdAt: origin.createdAt,
    creator: origin.creator,
    pusher: person,
    pushedAt: at,
    ...(nodeId !== undefined && { nodeId }),
  };
  const from = draft && { from: draft.from };
  const isPassthrough = judged?.push.content.isPassthrough ?? false;
  const rest = { series, version, ...from, isPassthrough, record };
  if (judged === undefined) return { ...rest, to: null };
  const { push, entryPoint } = judged;
  const { commit } = push;
  if (publishes) return { ...rest, to: { commit, entryPoint } };
  if ((proposes !== null || keeps) && tag !== null) {
    const replaced = keeps ? draftNow(index, version) : draftBefore(index, version, commit);
    const from = draft ? draft.from : replaced;
    return { ...rest, from, record: { ...record, tag }, to: { draft: commit } };
  }
  return { ...rest, to: tag === null ? { draft: commit } : { tag, commit } };
}

function hashOfKeys(added: NewObjects['added']): string {
  const hash = createHash('sha256');
  for (const oid of added.keys()) hash.update(oid);
  return hash.digest('hex');
}

const repositoryOf = ({ kind }: PushCall, { name }: ConfigurationRow) => ({ kind, name }) as const;

function targetOf({ kind, resource, principal, actor, gone }: PushCall): Target<PushCall['kind']> {
  return { kind, resource, principal, actor, gone };
}
