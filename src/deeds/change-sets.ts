/** Change sets as they are read: what is kept of one, who sees which of its deeds, and what stands in its way. */

import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { SetSight } from '../db/activity.ts';
import {
  type ChangeSetApprovalRow,
  type ChangeSetRow,
  findChangeSet,
  listApprovals,
  listChangeSets,
  rememberPreview,
} from '../db/change-sets.ts';
import type { Db } from '../db/database.ts';
import { engineOf } from '../db/engine-of.ts';
import type { RepositoryRef } from '../git/types.ts';
import { conflict, HawserError, notFound } from '../lib/errors.ts';
import { paced } from '../lib/pace.ts';
import type { Threads } from '../lib/threads.ts';
import type { FleetTasks } from '../resolve/fleet-tasks.ts';
import type { Proposal } from '../resolve/proposal.ts';
import type { UserPrincipal } from '../security/principal.ts';
import { readableResources, scopeReaderOf } from '../security/rights.ts';
import { seriesOf } from '../versions/parameter-files.ts';
import type { GitStore } from '../versions/store.ts';
import type { VersionRef } from '../versions/types.ts';
import { type ChangeState, versionOf } from './change-state.ts';
import { type Change, ofShownChange, partsOf, type ShownChange } from './changes.ts';
import { FormerState } from './former-state.ts';
import { REFUSALS } from './judge-changes.ts';
import {
  makePreview,
  type PreviewMakers,
  type SeenPreview,
  type TryingTools,
  tryChanges,
} from './make-preview.ts';
import { keyOf, type Named, type Resources } from './named-changes.ts';
import { requireScopeType, scopeNamed } from './parameter-scopes.ts';
import { findPreview } from './preview-rows.ts';
import { VisiblePart } from './preview-visible.ts';
import { Proposing } from './propose-changes.ts';
import { Protections } from './protection.ts';
import { coverOfSet, type SetCover, type ShownProtection, withMissing } from './set-protections.ts';

export interface ReadingTools extends PreviewMakers {
  /** The threads for questions, whose callers wait for no preview. */
  questions: Threads<FleetTasks>;
}

/** The deeds of a set as they are kept, and what each of them names. */
export interface KeptDeeds {
  deeds: readonly ShownChange[];
  named: readonly (readonly Named[])[];
}

export function keptOf(row: Pick<ChangeSetRow, 'deeds' | 'named'>): KeptDeeds {
  return { deeds: JSON.parse(row.deeds), named: JSON.parse(row.named) };
}

export const noSet = () => notFound('No such change set');

/** Deeds on nodes, of which only who may read nodes is told. */
const ON_NODES: ReadonlySet<Change['kind']> = new Set([
  ...(['Assign', 'Unassign', 'Tag', 'Untag', 'SetTags', 'SetLcmConfig'] as const),
]);

/** Tells which deeds a caller may see, with this token and now. */
export class DeedReader {
  private readonly mayReadNodes: boolean;
  private readonly isReadable: (named: Named) => boolean;

  private constructor(mayReadNodes: boolean, isReadable: (named: Named) => boolean) {
    this.mayReadNodes = mayReadNodes;
    this.isReadable = isReadable;
  }

  static async of(db: Db, principal: UserPrincipal): Promise<DeedReader> {
    const readable = await readableResources(db, principal);
    const isReadableScope = scopeReaderOf(readable);
    return new DeedReader(principal.permissions.has('nodes.read'), ({ on, id, scope }) =>
      scope === undefined ? readable[on] === 'all' || readable[on].includes(id) : isReadableScope(scope),
    );
  }

  /** Of each deed whether the caller may see it. */
  seen({ deeds, named }: KeptDeeds): boolean[] {
    return deeds.map(
      ({ kind }, at) =>
        (this.mayReadNodes || !ON_NODES.has(kind)) && (named[at] ?? []).every(this.isReadable),
    );
  }

  /** Whether the caller may see a configuration or composite; null is what everybody may see. */
  reads(resource: Pick<Named, 'on' | 'id'> | null): boolean {
    return resource === null || this.isReadable({ ...resource, name: '' });
  }

  /** Whether the caller may see any of them. */
  readonly seesAny = (kept: KeptDeeds): boolean => this.seen(kept).includes(true);
}

/** Tells which sets the caller may see something of, by their ids as the audit trail has them. */
export function sightOfSets(db: Db, principal: UserPrincipal): SetSight {
  let reader: Promise<DeedReader> | undefined;
  return async (ids) => {
    const numbers = ids.map(Number).filter(Number.isSafeInteger);
    if (numbers.length === 0) return new Set();
    reader ??= DeedReader.of(db, principal);
    const { seesAny } = await reader;
    const sets = await listChangeSets(db, { ids: numbers });
    return new Set(sets.filter((set) => seesAny(keptOf(set))).map(({ id }) => String(id)));
  };
}

/**
 * The SHA-256 of the deeds as they are kept and of the tip of every draft that they name. What was published of a draft since
 * counts as its tip, and so does a version that is withdrawn or restored: a scope of another name is another file.
 */
export async function digestOf(
  { database, store }: Pick<TryingTools, 'database' | 'store'>,
  { deeds, named }: KeptDeeds,
): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(deeds));
  for await (const [at, deed] of paced(deeds.entries())) {
    for (const part of partsOf(ofShownChange(deed))) {
      const version = await versionNamed({ read: database.read, store }, part, named[at] ?? []);
      if (version !== undefined) hash.update(`\n${at} ${version && tipOf(version)}`);
    }
  }
  return hash.digest('hex');
}

/** What stands for a draft, and for what was published of it. A tag that was pushed to publish it counts, before and after. */
function tipOf({ ref: { status, commit, oid, pushed }, scopeTypeId }: NamedDraft): string {
  const tag = status === 'Draft' ? pushed?.tag : pushed && oid;
  return [commit, tag, scopeTypeId].filter(Boolean).join(' ');
}

/** A draft, or what was published of it since. */
export interface NamedDraft {
  repository: RepositoryRef;
  ref: VersionRef;
  /** The id of the configuration or composite. */
  resourceId: string;
  /** Of a parameter file. One of another type may have the same commit. */
  scopeTypeId?: string;
}

/** The version that a deed names; null where it is gone, undefined for a deed that names none. */
export async function versionNamed(
  { read, store }: { read: Db; store: GitStore },
  change: Change,
  [named]: readonly Named[],
): Promise<NamedDraft | null | undefined> {
  const meant = versionOf(change);
  if (meant === null) return undefined;
  const { version, file } = meant;
  const name = file === undefined ? meant.repository.name : (named?.name ?? meant.repository.name);
  const repository = { kind: meant.repository.kind, name };
  const [resourceId, type] = [named?.id ?? '', file && { name: file.scopeTypeName }];
  try {
    if (type === undefined) {
      const ref = (await store.versions(repository)).get(version);
      return ref === undefined ? null : { repository, ref, resourceId };
    }
    const row = await requireScopeType(read, type);
    const series = seriesOf(await scopeNamed(read, row, file?.scopeValue));
    const ref = (await store.parameters.index(name)).of(series).get(version);
    return ref === undefined ? null : { repository, ref, resourceId, scopeTypeId: row.id };
  } catch (error) {
    // What it names may be gone by now.
    if (error instanceof HawserError && (REFUSALS.has(error.kind) || error.code === 'repository_missing'))
      return null;
    throw error;
  }
}

/** What a set that was applied has changed; of one that takes another back, before that, what was changed again since. */
export interface KeptUndo {
  before?: ChangeState;
  after?: ChangeState;
  changedSince?: readonly string[];
}

/** What was before the set that this one takes back. */
export async function formerOf(db: Db, { revert_of }: Pick<ChangeSetRow, 'revert_of'>): Promise<FormerState> {
  const row = revert_of === null ? undefined : await findChangeSet(db, revert_of);
  if (row === undefined) return FormerState.NONE;
  const { before }: KeptUndo = JSON.parse(row.undo ?? '{}');
  return new FormerState(keptOf(row).deeds.map(ofShownChange), before ?? null);
}

function changedSince({ undo }: Pick<ChangeSetRow, 'undo'>): readonly string[] {
  const { changedSince: sentences = [] }: KeptUndo = JSON.parse(undo ?? '{}');
  return sentences;
}

/** Something that is said of a set, or of one of its deeds. */
export interface SaidOfDeed {
  code: string;
  message: string;
  /** The place of the deed, from 0; null where it is of the whole set. */
  deed: number | null;
}

/**
 * Judges the deeds of a set in their order. One that cannot be carried out is left out for those behind it.
 * @returns what stands in the way, in the order in which applying it would be refused, and what the others propose
 */
export async function judgeSet(
  tools: TryingTools,
  principal: UserPrincipal,
  { deeds, named }: KeptDeeds,
  former: FormerState,
): Promise<{ blockers: SaidOfDeed[]; proposal: Proposal }> {
  const { read } = tools.database;
  const gone = await goneOf(read, named.flat());
  const resources: Map<string, Named> = new Map();
  for (const each of named.flat()) if (!gone.has(idOf(each))) noteResource(resources, each);
  const proposing = new Proposing(tools, {
    principal,
    resources: resources as Resources,
    frozen: null,
    former,
  });
  const blockers: SaidOfDeed[] = [];
  for await (const [deed, shown] of paced(deeds.entries())) {
    const block = ({ code, message }: Pick<HawserError, 'code' | 'message'>) =>
      blockers.push({ code, message, deed });
    const lost = named[deed]?.find((each) => gone.has(idOf(each)));
    if (lost !== undefined) {
      block(notFound(`${lost.name} has been deleted`));
      continue;
    }
    const warned = proposing.warnings.length;
    try {
      await proposing.take(ofShownChange(shown), '');
    } catch (error) {
      if (!(error instanceof HawserError) || !REFUSALS.has(error.kind)) throw error;
      block(error);
    }
    for (const warning of proposing.warnings.slice(warned)) block(warning);
  }
  return { blockers, proposal: proposing.proposal };
}

/** Whoever names a configuration may mean its parameters. */
function noteResource(resources: Map<string, Named>, { on, id, name }: Named): void {
  resources.set(keyOf(on, name), { on, id, name });
  if (on === 'configuration') resources.set(keyOf('parameters', name), { on: 'parameters', id, name });
}

const idOf = ({ on, id }: Named) => `${on === 'composite' ? 'composites' : 'configurations'} ${id}`;

/** What is gone of these, as `idOf` gives it. Another one of the same name is another one. */
async function goneOf(db: Db, named: readonly Named[]): Promise<ReadonlySet<string>> {
  const gone = new Set(named.map(idOf));
  for (const table of ['configurations', 'composites'] as const) {
    const ids = named.flatMap(({ on, id }) =>
      (on === 'composite') === (table === 'composites') ? [id] : [],
    );
    const isNamed = engineOf(db).isOneOf('id', [...new Set(ids)]);
    for (const { id } of await db.selectFrom(table).select('id').where(isNamed).execute())
      gone.delete(`${table} ${id}`);
  }
  return gone;
}

/** Why a set of this state can no longer be changed or applied; null where it can. */
export function stateBlocker({ state }: Pick<ChangeSetRow, 'state'>): HawserError | null {
  if (state === 'Open' || state === 'Scheduled') return null;
  return conflict('not_possible', `The change set is ${state}, which is final`);
}

/** A set, and what a reader sees of it. */
export interface SeenSet {
  row: ChangeSetRow;
  kept: KeptDeeds;
  /** Of each deed whether the reader sees it. */
  seen: readonly boolean[];
  digest: string;
  approvals: readonly ChangeSetApprovalRow[];
  /** The last preview of this digest. */
  previewId: string | null;
  /** All protections of the moment. */
  protections: Protections;
  /** What protects it now; nothing of a set in a final state. */
  covers: readonly SetCover[];
  /** The same with the approvals that are missing; of an applied set, as it was then. */
  protection: readonly (ShownProtection & { isSeen: boolean })[];
}

/** What is said of applying a set. */
export interface SetCheck {
  blockers: readonly SaidOfDeed[];
  findings: readonly SaidOfDeed[];
}

/** The set, for who may see something of it. @throws HawserError not_found */
export async function requireSet(
  tools: Pick<TryingTools, 'database' | 'store'>,
  principal: UserPrincipal,
  id: number,
): Promise<SeenSet> {
  const { read } = tools.database;
  const row = await findChangeSet(read, id);
  const reader = await DeedReader.of(read, principal);
  if (row === undefined || !reader.seesAny(keptOf(row))) throw noSet();
  const protections = await Protections.of(tools);
  return seenBy(tools, { reader, protections }, row, await listApprovals(read, [id]));
}

/** What a reader sees of a set. */
export async function seenBy(
  tools: Pick<TryingTools, 'database' | 'store'>,
  { reader, protections }: { reader: DeedReader; protections: Protections },
  row: ChangeSetRow,
  approvals: readonly ChangeSetApprovalRow[],
): Promise<SeenSet> {
  const kept = keptOf(row);
  const seen = reader.seen(kept);
  const digest = await digestOf(tools, kept);
  const previewId = row.preview_digest === digest ? row.preview_id : null;
  const covers = stateBlocker(row) ? [] : await coverOfSet(protections, kept.deeds.map(ofShownChange));
  const present = approvals.filter((each) => each.digest === digest);
  const shown: ShownProtection[] =
    row.protection === null
      ? await withMissing(tools.database.read, row.id, covers, present)
      : JSON.parse(row.protection);
  const protection = shown.map((each) => {
    return { ...each, isSeen: each.deeds.some((at) => seen[at]) && reader.reads(each.resource) };
  });
  return { row, kept, seen, digest, approvals, previewId, protections, covers, protection };
}

/** What a set lacks that is not approved by enough people; null where nothing is missing. */
export function approvalBlocker(protection: readonly Pick<ShownProtection, 'missing'>[]): HawserError | null {
  if (protection.every(({ missing }) => missing === 0)) return null;
  const message = 'Approvals are missing: `protection` says how many, and for what';
  return conflict('approvals_missing', message);
}

export const digestChanged = () =>
  new HawserError(
    'precondition_failed',
    'precondition_failed',
    'The change set, or a draft that it names, is another one than you have seen; look at it again',
  );

/** What stands in the way of applying a set at the moment, and what it warns of. */
export async function checkSet(
  tools: ReadingTools,
  principal: UserPrincipal,
  { row, kept, previewId, protection }: SeenSet,
): Promise<SetCheck> {
  const final = stateBlocker(row);
  if (final) return { blockers: [{ code: final.code, message: final.message, deed: null }], findings: [] };
  const { blockers } = await judgeSet(tools, principal, kept, await formerOf(tools.database.read, row));
  const missing = approvalBlocker(protection);
  if (missing) blockers.push({ code: missing.code, message: missing.message, deed: null });
  const since = changedSince(row).map((message) => ({ code: 'changed_since', message, deed: null }));
  return { blockers, findings: [...(await findingsOf(tools, principal, previewId)), ...since] };
}

/**
 * Has a preview made of exactly what a set proposes, which the set remembers.
 * @throws HawserError not_found for who may not read all that it names; conflict `not_possible` in a final state; as
 *   `tryChanges` and `makePreview`
 */
export async function previewSet(
  tools: PreviewMakers,
  principal: UserPrincipal,
  id: number,
): Promise<SeenPreview> {
  const { row, kept, seen, digest } = await requireSet(tools, principal, id);
  if (seen.includes(false)) throw notFound('You may not read all that the change set names');
  const final = stateBlocker(row);
  if (final) throw final;
  const former = await formerOf(tools.database.read, row);
  const tried = await tryChanges(tools, principal, kept.deeds.map(ofShownChange), {
    member: 'deeds',
    former,
  });
  const made = await makePreview(tools, principal, tried);
  await rememberPreview(tools.database.write, id, { id: made.row.id, digest });
  return made;
}

/** Whether a preview that is made, and does not change any more, has new problems for this reader. */
const withProblems = new LRUCache<string, boolean>({ max: 1_000 });
/** What a set warns of; no request is refused with it. */
const NEW_PROBLEMS = 'new_problems';
/** So many groups are read at once. */
const GROUPS_AT_ONCE = 500;

/** What a preview of the set warns of, once it is made. */
async function findingsOf(
  { database: { read }, clock, questions }: ReadingTools,
  principal: UserPrincipal,
  previewId: string | null,
): Promise<SaidOfDeed[]> {
  const row = previewId === null ? undefined : await findPreview(read, previewId, clock.now());
  if (row?.state !== 'Done') return [];
  const { flags: visible, groupCount } = await VisiblePart.of(read, principal, row);
  const key = `${row.id} ${visible.map(Number).join('')}`;
  let isFound = withProblems.get(key);
  for (let skip = 0; isFound === undefined; skip += GROUPS_AT_ONCE) {
    const asked = { id: row.id, visible, take: GROUPS_AT_ONCE, skip };
    const groups = await questions.run(principal.userId, 'previewGroups', asked);
    if (groups.some(({ newProblems }) => newProblems.length > 0)) isFound = true;
    else if (skip + GROUPS_AT_ONCE >= groupCount) isFound = false;
  }
  if (isFound !== undefined) withProblems.set(key, isFound);
  if (!isFound) return [];
  const message = 'Nodes get parameter problems that they have not now; the preview names them';
  return [{ code: NEW_PROBLEMS, message, deed: null }];
}
