/**
 * Starts and moves rollouts, in the name of a user or of the server. Git is written first, then the audit trail. What
 * follows from a record is found out under the lock, from the record as it is there.
 */

import { rolloutEvent } from '../domain/event-types.ts';
import { NO_COUNTS, nextFilesKey, type RolledFile, type RolloutRecord } from '../domain/rollout.ts';
import { type RolloutBeginning, supersede, type Transition } from '../domain/rollout-machine.ts';
import { SERVER } from '../git/commits.ts';
import type { Person } from '../git/types.ts';
import type { Awaitable } from '../lib/awaitable.ts';
import { behind, notFound } from '../lib/errors.ts';
import type { UserPrincipal } from '../security/principal.ts';
import { type AuthorTools, underLock, VersionAuthor } from './author.ts';
import { findRollout } from './beside-writes.ts';
import { seriesOf } from './parameter-files.ts';
import { tidyReason } from './rollout-messages.ts';
import { type FileScope, requireRollable, requireRollableFile } from './rollout-rules.ts';
import { AUDITED, type ResourceKind, type Target } from './rows.ts';
import { findBlockers, type PublishRules } from './rules.ts';
import {
  type LockedRepository,
  ONLY_SERIES,
  type PlannedEntry,
  type RolloutMove,
  type RolloutRef,
  type VersionRef,
  type WrittenTag,
} from './types.ts';
import { withCommit } from './unrecorded.ts';
import { type AuditChange, type ChangedRepository, recordAll, recordChanges } from './version-records.ts';

type Tools = Pick<AuthorTools, 'database' | 'store'>;

/** Who moves a rollout of what. The server itself has no principal. */
export type RolloutTarget<K extends ResourceKind = ResourceKind> = Omit<Target<K>, 'principal'> & {
  principal: UserPrincipal | null;
};

/** A parameter file that is to roll out. */
export interface FileToRoll {
  scope: FileScope;
  version: string;
  /** The node for which a file of scope Node is published. */
  nodeId: string | undefined;
  /** The rules for publishing, where it is a draft. */
  rules: PublishRules;
  /** Tells whether a published version of the series belongs to whoever the file is for. */
  isOwn(ref: VersionRef): boolean;
}

export interface RolloutStart {
  /** Null for files alone. */
  version: string | null;
  files: readonly FileToRoll[];
  /** The rules for publishing, where the version is a draft. */
  rules: PublishRules;
  /** Why, for the tags of drafts and for the first commit of the rollout. */
  message?: string | undefined;
  /** Makes the first record, as `beginRollout` does. */
  begin(
    what: Pick<RolloutBeginning, 'key' | 'version' | 'tag' | 'parameters' | 'publishedBy'>,
  ): RolloutRecord;
}

/**
 * Rolls out a draft, which is published into its rollout, or the highest published version; parameter files go with it, or
 * alone. The rollout of a lower version ends with it.
 * @throws HawserError not_found; conflict as `requireRollable`; what publishing a draft throws. What is said of a file has its
 *   path behind `/parameters/<index>`
 */
export function startRollout(
  { database, store }: Tools,
  target: Target<ResourceKind>,
  start: RolloutStart,
): Promise<RolloutRef> {
  const { kind, resource } = target;
  return underLock({ database, store }, target, async (writer) => {
    const index = writer.index.of(ONLY_SERIES);
    const { version, files } = start;
    const ref = version === null ? null : index.get(version);
    if (ref === undefined) throw notFound('There is no such version.');
    const superseded = requireRollable(index, ref);
    if (ref?.status === 'Draft') await refuseBlocked(ref, start.rules);
    const starting = new Start({ database, store }, { target, start, writer }, { ref, superseded });
    const parameters = { kind: 'parameters', name: resource.name } as const;
    // Whoever publishes a file holds this lock, and asks what rolls out.
    if (kind === 'composites' || !(files.length > 0 || (await store.has(parameters))))
      await starting.run(null);
    else {
      const owner = { kind: parameters.kind, resource, actor: target.actor };
      await underLock({ database, store }, owner, (locked) => starting.run(locked));
    }
    return requireRollout(writer, starting.key);
  });
}

async function refuseBlocked(ref: VersionRef, rules: PublishRules): Promise<void> {
  const [blocker] = await findBlockers(ref, rules);
  if (blocker !== undefined) throw blocker;
}

interface Starting {
  target: Target<ResourceKind>;
  start: RolloutStart;
  writer: LockedRepository;
}

/** Starts one rollout while the locks are held. */
class Start {
  readonly key: string;
  private readonly tools: Tools;
  private readonly target: Target<ResourceKind>;
  private readonly start: RolloutStart;
  private readonly writer: LockedRepository;
  private readonly ref: VersionRef | null;
  private readonly superseded: readonly RolloutRef[];

  constructor(
    tools: Tools,
    { target, start, writer }: Starting,
    { ref, superseded }: { ref: VersionRef | null; superseded: readonly RolloutRef[] },
  ) {
    const { rollouts } = writer.index.of(ONLY_SERIES);
    this.key = start.version ?? nextFilesKey(rollouts.map(({ record }) => record.key));
    this.tools = tools;
    this.target = target;
    this.start = start;
    this.writer = writer;
    this.ref = ref;
    this.superseded = superseded;
  }

  /**
   * The branch moves first and decides; the tags follow, those of the files before that of the version.
   * @param parameters the repository of the files; null where there is none
   */
  async run(parameters: LockedRepository | null): Promise<void> {
    const { writer, target, start, key } = this;
    const files = parameters === null ? [] : await this.judgeFiles(parameters);
    const tags = parameters ? await parameters.writeTags(files.flatMap(({ draft }) => draft ?? [])) : [];
    const rolled = await Promise.all(files.map((file) => this.rolledFile(file, tags)));
    const others: AuditChange[] = [];
    // It comes first: cut off in between, nothing rolls out, and nothing goes past the rings of another rollout.
    for (const lower of this.superseded)
      others.push(...(await move(writer, target, lower, supersede(lower.record, key))));
    const details = { key, version: start.version, parameters: rolled.map(toNamedFile) };
    const entry = entryOf(target, 'rollout_started', details, null);
    const publishTags = tags.length === 0 ? undefined : async () => parameters?.moveTags(tags);
    const record = (entries: readonly AuditChange[]) => this.record(entries, parameters, tags);
    const { ref } = this;
    if (ref?.status === 'Draft') {
      const begin = (tag: string) => this.starting(rolled, { tag, publishedBy: target.principal.username });
      const rollout = { entry, begin, files: publishTags };
      const author = new VersionAuthor(this.tools, target, writer);
      const { message } = start;
      await author.publish(ref.version, async () => [], {
        ...{ rollout, others, record },
        ...(message !== undefined && { message }),
      });
      return;
    }
    const started = this.starting(rolled, ref && { tag: ref.oid, publishedBy: await this.publisherOf(ref) });
    writer.plan(entry);
    const by = { author: authorOf(target), at: target.actor.at };
    const { oid } = await writer.moveRollout(key, { ...started, ...by, expected: null });
    await publishTags?.();
    await record([...others, withCommit(entry, oid)]);
  }

  private starting(
    parameters: readonly RolledFile[],
    published: { tag: string; publishedBy: string } | null,
  ): Pick<RolloutMove, 'record' | 'message'> {
    const { start, key } = this;
    const of = published ?? { tag: null, publishedBy: null };
    return {
      record: start.begin({ key, version: start.version, parameters, ...of }),
      message: {
        ...{ what: 'Started', from: null, reason: start.message ?? '' },
        ...{ cause: null, counts: NO_COUNTS },
      },
    };
  }

  /** The first refusal decides. */
  private async judgeFiles(parameters: LockedRepository): Promise<JudgedFile[]> {
    const { rollouts } = this.writer.index.of(ONLY_SERIES);
    const judged: JudgedFile[] = [];
    for (const [at, file] of this.start.files.entries())
      judged.push(
        await atFile(at, async () => {
          const { scope, version } = file;
          const series = seriesOf({ scopeType: scope.scopeTypeName, value: scope.scopeValue });
          const index = parameters.index.of(series);
          const offered = index.published.filter((each) => file.isOwn(each));
          const ref = requireRollableFile(rollouts, { ref: index.get(version), offered, file: scope });
          if (ref.status === 'Published') return { file, ref, draft: null };
          await refuseBlocked(ref, file.rules);
          return { file, ref, draft: this.publishing(file, series) };
        }),
      );
    return judged;
  }

  private publishing({ scope, version, nodeId }: FileToRoll, series: string) {
    const { target, start } = this;
    const { principal, actor, resource } = target;
    const tagger = { name: principal.username, email: principal.email };
    const { scopeTypeName: scopeType, scopeValue } = scope;
    const entry: PlannedEntry = {
      ...{ actor, resourceId: resource.id, action: 'parameters.version_published', replaces: null },
      details: { scopeValue, scopeType, version },
    };
    return {
      series,
      version,
      publishing: {
        ...{ tagger, at: actor.at, message: start.message, nodeId },
        changeSet: actor.changeSetId,
      },
      entry,
    };
  }

  private async rolledFile({ file, ref }: JudgedFile, tags: readonly WrittenTag[]): Promise<RolledFile> {
    const { scope, version } = file;
    const { store } = this.tools;
    const made = tags.find((tag) => tag.series === ref.series);
    const details = await store.parameters.details(this.target.resource.name, ref);
    const publishedBy = made ? this.target.principal.username : details.publishedBy;
    const { scopeTypeId, scopeTypeName, scopeValueId, scopeValue } = scope;
    return {
      scopeType: { id: scopeTypeId, name: scopeTypeName },
      scopeValue:
        scopeValueId === null || scopeValue === null ? null : { id: scopeValueId, value: scopeValue },
      ...{ version, tag: made?.oid ?? ref.oid, isPassthrough: details.isPassthrough },
      publishedBy: publishedBy ?? 'unknown',
    };
  }

  private async publisherOf(ref: VersionRef): Promise<string> {
    const { kind, resource } = this.target;
    const { publishedBy } = await this.tools.store.details({ kind, name: resource.name }, ref);
    return publishedBy ?? 'unknown';
  }

  private record(
    entries: readonly AuditChange[],
    parameters: LockedRepository | null,
    tags: readonly WrittenTag[],
  ): Promise<void> {
    const { target, writer } = this;
    const changed: ChangedRepository[] = [{ owner: target, writer, entries }];
    const published = tags.map(({ entry, move }) => withCommit(entry, move.peeled));
    if (parameters && tags.length > 0)
      changed.push({
        owner: { kind: 'parameters', resource: target.resource },
        writer: parameters,
        entries: published,
      });
    return recordAll(this.tools.database, changed, target.actor);
  }
}

interface JudgedFile {
  file: FileToRoll;
  ref: VersionRef;
  /** Null where it is published already. */
  draft: ReturnType<Start['publishing']> | null;
}

/** Runs work for one of the files, whose place stands in the errors. */
export async function atFile<T>(at: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw behind(error, `/parameters/${at}`);
  }
}

/** A file of a rollout, as answers and entries name it. */
export function toNamedFile({ scopeType, scopeValue, version }: RolledFile) {
  return { scopeTypeName: scopeType.name, scopeValue: scopeValue?.value ?? null, version };
}

/**
 * Moves a rollout.
 * @param next makes the transition from the record as it is; null where nothing is to be done
 * @throws HawserError not_found without such a rollout; conflict `versions_changed`, `state_changed`; what `next` throws
 */
export function moveRollout(
  { database, store }: Tools,
  target: RolloutTarget,
  key: string,
  next: (current: RolloutRef) => Awaitable<Transition | null>,
): Promise<RolloutRef> {
  const { actor } = target;
  return underLock({ database, store }, target, async (writer) => {
    const rollout = requireRollout(writer, key);
    const changes = await move(writer, target, rollout, await next(rollout));
    if (changes.length > 0) await recordChanges(database, target, { writer, actor }, changes);
    return requireRollout(writer, key);
  });
}

/**
 * Moves a rollout while the lock is held.
 * @returns the audit entries that are to be written
 */
export async function move(
  writer: LockedRepository,
  target: RolloutTarget,
  { oid: expected, record: before }: RolloutRef,
  transition: Transition | null,
): Promise<AuditChange[]> {
  if (transition === null) return [];
  const { record, what, from, to, reason, cause } = transition;
  const event = rolloutEvent(before, record);
  const { key, version } = before;
  const details = { key, version, what, from, to, reason: tidyReason(reason), event };
  const entry = entryOf(target, 'rollout_moved', details, expected);
  writer.plan(entry);
  // Those of the step that was open, also where another one has opened.
  const counts = record.steps[before.step]?.counts ?? NO_COUNTS;
  const message = { what, from, reason, cause, counts };
  const by = { author: authorOf(target), at: target.actor.at };
  const { oid } = await writer.moveRollout(key, { record, message, ...by, expected });
  return [withCommit(entry, oid)];
}

function requireRollout(writer: LockedRepository, key: string): RolloutRef {
  const rollout = findRollout(writer.index.of(ONLY_SERIES), key);
  if (rollout === undefined) throw notFound('There is no such rollout.');
  return rollout;
}

function authorOf({ principal }: RolloutTarget): Person {
  return principal === null ? SERVER : { name: principal.username, email: principal.email };
}

/** A backup reads version and commit of these entries (`operations/backup/recorded-versions.ts`). */
function entryOf(
  { kind, resource: { id: resourceId }, actor }: RolloutTarget,
  what: 'rollout_started' | 'rollout_moved',
  details: Record<string, unknown>,
  replaces: string | null,
): PlannedEntry {
  return { actor, resourceId, action: `${AUDITED[kind]}.${what}`, details, replaces };
}
