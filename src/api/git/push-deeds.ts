/** Carries out what a push asks for, by the functions and rules of the API's own deeds. */

import { freezeLook } from '../../db/freeze.ts';
import type { PushRequest } from '../../git/push/push-request.ts';
import type { RequestFacts } from '../../http/route.ts';
import type { Clock } from '../../lib/clock.ts';
import { conflict, invalid } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { type Compatibility, type CompatibilityGuard, NOT_COMPARED } from '../../resolve/compatibility.ts';
import type { GrantedResource } from '../../security/access.ts';
import { grantedResource } from '../../security/authorize.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { authorVersions, type VersionAuthor } from '../../versions/author.ts';
import { PUSHED } from '../../versions/author-kinds.ts';
import type { DraftTools } from '../../versions/draft-edits.ts';
import { type DeletedDraft, type PushedVersion, planPush } from '../../versions/push-plan.ts';
import { type JudgedPush, judgeContent, type NewObjects } from '../../versions/pushed-content.ts';
import type { ResourceTools } from '../../versions/resources.ts';
import type { ConfigurationRow, Target } from '../../versions/rows.ts';
import { checkDraft } from '../../versions/rules.ts';
import type { PushRecord, TakenObject, TakenPush, VersionRef } from '../../versions/types.ts';
import { readEffectiveSettings } from '../configurations/queries.ts';
import type { ProofTools } from '../crud/proof-routes.ts';
import { readValidationSettings } from '../settings/queries.ts';
import { linesOfReport, type TakenAnswer } from './push-answers.ts';

/** Who pushes to which configuration. */
export interface PushCall {
  resource: GrantedResource;
  principal: UserPrincipal;
  facts: RequestFacts;
}

export interface PushDeedTools extends ResourceTools, DraftTools {
  compatibility: CompatibilityGuard;
  questions: ProofTools['questions'];
  log: Log;
  clock: Clock;
}

/** What a push asks for, once it is known to be possible at all. */
export interface PushDeed {
  /** @throws HawserError the first rule that is broken */
  carryOut(fresh: NewObjects): Promise<TakenAnswer>;
}

type Author = VersionAuthor<'configurations'>;

/** Where a push is judged: the objects of the repository, and over them those that came. */
interface Site {
  call: PushCall;
  row: ConfigurationRow;
  site: ReturnType<Author['under']>;
}

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

  private async deleteDraft(call: PushCall, { version, from }: DeletedDraft): Promise<TakenAnswer> {
    const { read } = this.tools.database;
    await call.facts.reauthorize();
    const { name } = await grantedResource(read, call.principal, 'configuration', 'Manage', {
      id: call.resource.id,
    });
    await authorVersions(this.tools, targetOf(call), async (author) => {
      const draft = author.requireDraft(version, undefined, 'A published version stays');
      if (draft.oid !== from) throw changed();
      await author.deleteDraft(version, undefined, PUSHED);
    });
    return { lines: [`draft/${version} of ${name} is deleted.`] };
  }

  private async takeVersion(call: PushCall, plan: PushedVersion, fresh: NewObjects): Promise<TakenAnswer> {
    const isPublished = plan.tag !== null || plan.publishes;
    let judged: Compatibility = NOT_COMPARED;
    let tag: string | null = null;
    const upper = { has: (oid: string) => fresh.added.has(oid), read: (oid: string) => fresh.read(oid) };
    const { clock, database } = this.tools;
    const requireUnfrozen = isPublished ? freezeLook(() => clock.now()) : undefined;
    await requireUnfrozen?.(database.read);
    const made = targetOf(call);
    const target = { ...made, actor: { ...made.actor, requireUnfrozen } };
    await authorVersions(this.tools, target, async (author, row) => {
      // The upload may have taken minutes, and the lock too.
      await call.facts.reauthorize();
      await fresh.findAgain();
      const before = author.index().get(plan.version);
      const site = author.under(upper);
      const push = await this.judge({ call, author, row, site }, { plan, before, fresh });
      if (isPublished) {
        judged = await this.judgePublish({ call, row, site }, plan, push);
        const [blocker] = judged.blockers;
        if (blocker !== undefined) throw blocker;
      }
      const made = await author.takePush(takenPush(call, { plan, before, push, fresh }));
      tag = author.index().get(made.version)?.oid ?? null;
    });
    if (!isPublished) return { lines: [`draft/${plan.version} is there; publish it with its tag.`] };
    const nodes = await this.orNull(() => this.countOffered(call, plan.version));
    const report = await this.orNull(() => judged.report());
    const offer = nodes === null ? '' : `; ${nodes} ${nodes === 1 ? 'node is' : 'nodes are'} offered it`;
    const became =
      plan.publishes && tag !== null ? { name: `refs/tags/v${plan.version}`, from: null, to: tag } : null;
    const lines = [`${plan.version} is published${offer}.`, ...linesOfReport(report)];
    return { lines, ...(became && { became }) };
  }

  private async countOffered({ resource, principal }: PushCall, version: string): Promise<number> {
    const assigned = { kind: 'configurations', ...resource } as const;
    const use = await this.tools.questions.run(principal.userId, 'versionUse', assigned);
    return use.get(version)?.offered ?? 0;
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

  private async judge(
    { call, author, row, site }: Site & { author: Author },
    { plan, before, fresh }: { plan: PushedVersion; before: VersionRef | undefined; fresh: NewObjects },
  ): Promise<JudgedPush> {
    const { store, database, limits } = this.tools;
    const repository = { kind: 'configurations', name: row.name } as const;
    const push = await judgeContent(
      {
        ...site,
        fresh,
        limits,
        sizesOf: async (files) => (await store.fileInfos(repository, files)).map(({ size }) => size),
        inheritedEntryPoint: async () => {
          const [below] = author.index().published;
          // The one below is told by the index only for versions that are in it.
          return below === undefined ? null : (await store.details(repository, below)).entryPoint;
        },
      },
      plan,
    );
    const settings = await readEffectiveSettings(database.read, row.id);
    checkDraft({
      version: plan.version,
      entryPoint: push.entryPoint,
      prereleaseChannel: undefined,
      files: push.content.files,
      useServerManagedParameters: row.use_server_managed_parameters === 1,
      // A version that is there has its name already.
      requireSemVer: settings.requireSemVer && before === undefined,
    });
    await this.checkIdentity(call, push);
    return push;
  }

  private async checkIdentity({ principal }: PushCall, { tip, tag }: JudgedPush): Promise<void> {
    const { pushIdentity } = await readValidationSettings(this.tools.database.read);
    if (pushIdentity === 'Any') return;
    const claims = [tip.committer.email, ...(tag === null ? [] : [tag.tagger?.email ?? ''])];
    if (claims.some((email) => email.toLowerCase() !== principal.email.toLowerCase()))
      throw invalid(
        'invalid_committer',
        `The committer and the tagger must have the e-mail ${principal.email}`,
      );
  }

  private async judgePublish(
    { call, row, site }: Site,
    { version }: PushedVersion,
    { content, entryPoint }: JudgedPush,
  ): Promise<Compatibility> {
    if (row.use_server_managed_parameters !== 1) return NOT_COMPARED;
    const { database, compatibility } = this.tools;
    const { parameterValidationMode } = await readEffectiveSettings(database.read, row.id);
    const oid = content.files.find(({ path }) => path === entryPoint)?.oid ?? '';
    const load = () => site.objects.readBytes(site.gitdir, oid, 'blob');
    const judging = { isStrict: parameterValidationMode === 'Strict', caller: call.principal.userId };
    return compatibility.judgeNew(row.name, { version, entryPoint, oid, load }, judging);
  }
}

function takenPush(
  call: PushCall,
  {
    plan,
    before,
    push,
    fresh,
  }: { plan: PushedVersion; before: VersionRef | undefined; push: JudgedPush; fresh: NewObjects },
): TakenPush {
  const { version, draft, tag, publishes } = plan;
  const { username: name, email } = call.principal;
  const at = call.facts.actor.at;
  const person = { name, email };
  const origin = before?.pushed ?? { createdAt: at, creator: person };
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
  return { version, ...(draft && { from: draft.from }), to, record, objects: objectsOf(fresh) };
}

async function* objectsOf(fresh: NewObjects): AsyncGenerator<TakenObject> {
  for await (const { type, content } of fresh.readAll(fresh.added.keys())) yield { type, content };
}

function targetOf({ resource, principal, facts }: PushCall): Target<'configurations'> {
  return { kind: 'configurations', resource, principal, actor: facts.actor, gone: facts.over };
}

const changed = () => conflict('draft_changed', 'The draft has moved meanwhile; fetch it and push again');
