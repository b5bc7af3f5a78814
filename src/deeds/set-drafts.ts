/** The drafts of a change set: content that is proposed is stored as a draft, as a PUT of the file stores it. */

import { listOpenDeeds } from '../db/change-sets.ts';
import type { Db } from '../db/database.ts';
import { conflict, HawserError } from '../lib/errors.ts';
import { groupBy } from '../lib/group-by.ts';
import { paced } from '../lib/pace.ts';
import type { Caller } from '../security/caller.ts';
import type { UserPrincipal } from '../security/principal.ts';
import { authorVersions } from '../versions/author.ts';
import { seriesOf } from '../versions/parameter-files.ts';
import type { ParameterScope } from '../versions/store.ts';
import type { VersionRef } from '../versions/types.ts';
import { type Change, type ChangeOf, ofShownChange, partsOf, type ShownChange } from './changes.ts';
import { refusalAt } from './judge-changes.ts';
import type { TriedChanges, TryingTools } from './make-preview.ts';
import { keyOf, type Resources } from './named-changes.ts';
import { FileChecks, type ParameterTools } from './parameter-checks.ts';
import { contentTypeNamed, newContent, type ReadContent, readText } from './parameter-content.ts';
import { requireScopeType, scopeNamed } from './parameter-scopes.ts';
import {
  checkFile,
  createFiles,
  type FileName,
  type FileTarget,
  type NewFile,
  requireFile,
  requireSealing,
  saveFile,
} from './put-parameters.ts';

export type DraftTools = TryingTools & ParameterTools;

type Proposed = ChangeOf<'SetParameters'>;

/** A draft that was made or changed, and what it was before. */
interface WrittenDraft {
  target: FileTarget;
  name: FileName;
  series: string;
  commit: string;
  /** Null for a draft that is new. */
  before: { content: ReadContent | null } | null;
}

export interface WrittenDrafts {
  written: readonly WrittenDraft[];
  /** What the deeds have become, by their places. */
  publishing: ReadonlyMap<number, ChangeOf<'PublishParameters'>>;
}

/**
 * Refuses content for files that the caller may not write. It is asked before anything is judged.
 * @throws HawserError forbidden
 */
export async function requireMayWrite(
  { database }: Pick<DraftTools, 'database'>,
  principal: UserPrincipal,
  changes: readonly Change[],
  resources: Resources,
): Promise<void> {
  for await (const change of paced(changes)) {
    if (change.kind !== 'SetParameters') continue;
    const asked = { resource: resourceOf(resources, change), principal };
    await requireFile({ database }, asked, fileOf(change), 'Modify').catch((error) => {
      // What else is wrong is told when the deed is judged.
      if (!(error instanceof HawserError) || error.kind === 'forbidden') throw error;
    });
  }
}

/** Refuses content for drafts that are another person's, before any draft is written. @throws HawserError conflict `draft_exists` */
export async function requireOwnDrafts(
  tools: DraftTools,
  principal: UserPrincipal,
  { changes, resources }: TriedChanges,
): Promise<void> {
  const { read } = tools.database;
  for await (const [at, change] of paced(changes.entries())) {
    if (change.kind !== 'SetParameters') continue;
    const { name } = resourceOf(resources, change);
    const type = await requireScopeType(read, { name: change.scopeTypeName });
    const series = seriesOf(await scopeNamed(read, type, change.scopeValue));
    const draft = (await tools.store.parameters.index(name)).of(series).get(change.version);
    if (draft) await inPlace(at, () => refuseForeign(tools, principal, name, draft));
  }
}

async function refuseForeign(
  { store }: DraftTools,
  { username }: UserPrincipal,
  configurationName: string,
  draft: VersionRef,
): Promise<void> {
  const { createdBy } = await store.parameters.details(configurationName, draft);
  const repository = { kind: 'parameters', name: configurationName } as const;
  // A draft that came by push was made by who pushed it, whatever its commit claims.
  const isOwn =
    (draft.pushed?.pusher.name ?? (await store.peopleOf(repository, draft.oid)).committer) === username;
  if (createdBy === username && isOwn) return;
  const message =
    'There is a draft of this version that somebody else has made or changed; name it with PublishParameters';
  throw conflict('draft_exists', message);
}

/** One of the deeds, with its place. */
interface Placed {
  at: number;
  change: Proposed;
}

/**
 * Writes the drafts. All that are new of one configuration are made at once, and those that are there are given other content one
 * after the other. Where one cannot be written, those before it are taken back.
 */
export async function writeDrafts(
  tools: DraftTools,
  { principal, actor }: Pick<Caller, 'principal' | 'actor'>,
  { changes, resources }: TriedChanges,
): Promise<WrittenDrafts> {
  const written: WrittenDraft[] = [];
  const publishing = new Map<number, ChangeOf<'PublishParameters'>>();
  const proposed = [...changes.entries()].flatMap(([at, change]): Placed[] =>
    change.kind === 'SetParameters' ? [{ at, change }] : [],
  );
  const note = ({ at, change }: Placed, { scopeType: scopeTypeName, value: scopeValue }: ParameterScope) => {
    const { configurationName, version } = change;
    publishing.set(at, {
      ...{ kind: 'PublishParameters', configurationName, scopeTypeName, scopeValue, version },
    });
  };
  try {
    for (const group of groupBy(proposed, ({ change }) => resourceOf(resources, change).name).values()) {
      const resource = resourceOf(resources, (group[0] as Placed).change);
      const target = { kind: 'parameters', resource, principal, actor } as const;
      const { made, others } = await createDrafts(tools, target, group);
      for (const { one, scope, draft } of made) {
        written.push(draft);
        note(one, scope);
      }
      for (const one of others) {
        const { draft, scope } = await inPlace(one.at, () => replaceDraft(tools, target, one.change));
        if (draft) written.push(draft);
        note(one, scope);
      }
    }
  } catch (error) {
    await takeBackDrafts(tools, { written, publishing });
    throw error;
  }
  return { written, publishing };
}

/** Makes the drafts that are not there yet, all or none. @returns those, and the deeds whose drafts are there */
function createDrafts(tools: DraftTools, target: FileTarget, group: readonly Placed[]) {
  const { resource, principal } = target;
  return authorVersions(tools, target, async (author) => {
    const checks = await FileChecks.of(tools, resource, principal.userId);
    const others: Placed[] = [];
    const lacking: (NewFile & { one: Placed })[] = [];
    for await (const one of paced(group))
      await inPlace(one.at, async () => {
        const file = fileOf(one.change);
        const { scope } = await requireFile(tools, target, file, 'Modify');
        if (author.findDraft(file.version, seriesOf(scope))) return void others.push(one);
        const content = await contentIn(tools, principal, one.change);
        const checked = await checkFile(tools, { ...target, checks }, { ...file, status: 'Draft' }, content);
        lacking.push({ ...checked, version: file.version, one });
      });
    await requireSealing(
      tools,
      lacking.map(({ incoming }) => incoming),
    );
    const written = await createFiles(tools, target, author, lacking, {
      blame: ({ one }, work) => inPlace(one.at, work),
    });
    const made = written.map(({ scope, series, made: { commit } }, place) => {
      const { one } = lacking[place] as (typeof lacking)[number];
      const draft: WrittenDraft = { target, name: fileOf(one.change), series, commit, before: null };
      return { one, scope, draft };
    });
    return { made, others };
  });
}

async function replaceDraft(tools: DraftTools, target: FileTarget, change: Proposed) {
  const { principal, resource } = target;
  const name = fileOf(change);
  const content = await contentIn(tools, principal, change);
  const replaced: Pick<WrittenDraft, 'before'> = { before: null };
  const saved = await saveFile(tools, target, name, {
    content,
    async replacing(draft) {
      await refuseForeign(tools, principal, resource.name, draft);
      const { contentType } = await tools.store.parameters.details(resource.name, draft);
      const bytes = await tools.store.parameters.content(resource.name, draft);
      replaced.before = { content: bytes && newContent(bytes, contentType ?? 'yaml') };
    },
  });
  const { scope, details, isNew } = saved;
  const draft = { target, name, series: seriesOf(scope), commit: details.commit, ...replaced };
  return { scope, draft: isNew || replaced.before !== null ? draft : null };
}

const contentIn = (
  { documents }: Pick<DraftTools, 'documents'>,
  { userId: caller }: UserPrincipal,
  { content, contentType }: Proposed,
): Promise<ReadContent> =>
  readText({ documents, caller }, content, contentTypeNamed(contentType ?? '') ?? 'yaml');

/**
 * Makes the drafts what they were. One that somebody has changed meanwhile stays as it is, and so does one that cannot be
 * written: no node gets a draft.
 */
export async function takeBackDrafts(tools: DraftTools, { written }: WrittenDrafts): Promise<void> {
  for (const draft of written.toReversed()) await takeBack(tools, draft).catch(() => undefined);
}

async function takeBack(tools: DraftTools, draft: WrittenDraft): Promise<void> {
  const { target, name, series, commit, before } = draft;
  if (before !== null) {
    const replacing = async (found: VersionRef) => {
      if (found.commit !== commit)
        throw conflict('draft_changed', 'Somebody has changed the draft meanwhile');
    };
    await saveFile(tools, target, name, { content: before.content, replacing });
  } else
    await authorVersions(tools, target, async (author) => {
      if (author.index(series).get(name.version)?.commit === commit)
        await author.deleteDraft(name.version, series);
    });
}

const fileOf = ({ scopeTypeName, scopeValue, version }: Proposed): FileName => ({
  ...{ type: { name: scopeTypeName }, scopeValue, version },
});

function resourceOf(resources: TriedChanges['resources'], { configurationName }: Proposed) {
  const resource = resources.get(keyOf('parameters', configurationName));
  if (resource === undefined) throw new Error('a change names what was not looked for');
  return { ...resource, level: 'Modify' as const };
}

async function inPlace<T>(at: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw refusalAt(`/deeds/${at}`, error);
  }
}

/** The drafts of parameter files that sets name which may still be applied. */
export async function readProposedDrafts(
  db: Db,
): Promise<(configurationName: string, series: string) => ReadonlySet<string>> {
  const drafts = new Map<string, Set<string>>();
  // Scopes are named without regard to case.
  const keyOfSeries = (name: string, series: string) => `${name} ${series.toLowerCase()}`;
  for (const deeds of await listOpenDeeds(db))
    for (const change of (JSON.parse(deeds) as ShownChange[]).map(ofShownChange).flatMap(partsOf)) {
      if (change.kind !== 'PublishParameters') continue;
      const { configurationName, scopeTypeName: scopeType, scopeValue, version } = change;
      const key = keyOfSeries(configurationName, seriesOf({ scopeType, value: scopeValue ?? null }));
      drafts.set(key, (drafts.get(key) ?? new Set<string>()).add(version));
    }
  return (name, series) => drafts.get(keyOfSeries(name, series)) ?? NONE;
}

const NONE: ReadonlySet<string> = new Set();
