/** Makes, edits and discards change sets. A set holds names of drafts and no content, and changes nothing by itself. */

import type { ChangeSetState } from '../db/change-set-tables.ts';
import {
  type ChangeSetRow,
  deleteApprovals,
  findChangeSet,
  insertChangeSet,
  listApprovals,
  nextChangeSetId,
  updateChangeSet,
} from '../db/change-sets.ts';
import type { Db } from '../db/database.ts';
import { isOutcomeUnknown } from '../db/errors.ts';
import { forbidden, type HawserError } from '../lib/errors.ts';
import { type Actor, recordAudit } from '../security/audit.ts';
import { grantedResource } from '../security/authorize.ts';
import type { Caller } from '../security/caller.ts';
import type { UserPrincipal } from '../security/principal.ts';
import type { HeldHistory } from '../versions/change-history.ts';
import type { FileContent } from '../versions/store.ts';
import { DeedReader, formerOf, type KeptDeeds, keptOf, noSet, stateBlocker } from './change-sets.ts';
import { type Change, ofShownChange, type ShownChange, toShownChange } from './changes.ts';
import { permissionOf } from './deed-targets.ts';
import { FormerState } from './former-state.ts';
import { tryChanges } from './make-preview.ts';
import type { Resources } from './named-changes.ts';
import {
  type DraftTools,
  requireMayWrite,
  requireOwnDrafts,
  takeBackDrafts,
  writeDrafts,
} from './set-drafts.ts';
import { approvalFiles } from './set-protections.ts';

/** What a set is to say. */
export interface WantedSet {
  title: string;
  description: string | null;
  deeds: readonly Change[];
}

type Tools = DraftTools;

/** The set that one takes back, and what stays as it is because it was changed again since. */
export interface TakingBack {
  revertOf: number;
  former: FormerState;
  changedSince: readonly string[];
}

/**
 * Makes a set. What it proposes is judged as a preview is; `SetParameters` becomes a draft.
 * @throws HawserError as `judgeChanges`, with paths behind `/deeds/<index>`; what saving a draft throws; conflict `draft_exists`
 */
export async function proposeSet(
  tools: Tools,
  caller: Caller,
  wanted: WantedSet,
  back: TakingBack | null = null,
): Promise<ChangeSetRow> {
  const { principal, actor } = caller;
  return withDrafts(tools, caller, { ...wanted, former: back?.former ?? FormerState.NONE }, async (kept) => {
    const id = await nextChangeSetId(tools.database.write);
    const { title, description } = wanted;
    const row: ChangeSetRow = {
      ...{ id, title, description, state: 'Open', ...columnsOf(kept) },
      ...{ created_by: principal.username, user_id: principal.userId, created_at: actor.at },
      ...{ authors: JSON.stringify([principal.userId]), tip: '', row_version: 1 },
      ...{
        apply_at: null,
        apply_as: null,
        applied_at: null,
        applied_by: null,
        override: null,
        failure: null,
      },
      ...{ revert_of: back?.revertOf ?? null, reverted_by: null, preview_id: null, preview_digest: null },
      undo: back && JSON.stringify({ changedSince: back.changedSince }),
      ...{ protection: null, pending_moves: null },
    };
    return tools.store.changes.alone(async (story) => {
      const tip = await tellState(story, caller, row);
      await story.note((note) =>
        tools.database.write.transaction().execute(async (trx) => {
          await note(trx);
          await insertChangeSet(trx, { ...row, tip });
          await recordChange(trx, actor, 'created', row);
        }),
      );
      return { ...row, tip };
    });
  });
}

/**
 * Gives a set other deeds. That ends its approvals and its schedule, and who edits becomes an author.
 * @throws HawserError as `requireEditable`, and as `proposeSet`
 */
export async function editSet(
  tools: Tools,
  caller: Caller,
  id: number,
  wanted: WantedSet,
): Promise<ChangeSetRow> {
  const { title, description } = wanted;
  const known = await requireEditable(tools.database.read, caller.principal, id);
  const former = await formerOf(tools.database.read, known);
  return withDrafts(tools, caller, { ...wanted, former }, (kept) =>
    changeSet(tools, caller, {
      what: 'updated',
      find: () => requireEditable(tools.database.read, caller.principal, id),
      change(row) {
        const authors = new Set([...(JSON.parse(row.authors) as string[]), caller.principal.userId]);
        return { title, description, ...columnsOf(kept), ...OPEN, authors: JSON.stringify([...authors]) };
      },
    }),
  );
}

/** Discards a set, for good. Drafts that it names stay. @throws HawserError as `requireEditable` */
export async function discardSet(tools: Tools, caller: Caller, id: number): Promise<void> {
  const find = () => requireEditable(tools.database.read, caller.principal, id);
  await find();
  await changeSet(tools, caller, {
    ...{ what: 'discarded', find },
    change: () => ({ ...OPEN, state: 'Discarded' }),
  });
}

/** What a set is that may be edited. */
export const OPEN = { state: 'Open' as ChangeSetState, apply_at: null, apply_as: null };

const columnsOf = ({ deeds, named }: KeptDeeds) => ({
  deeds: JSON.stringify(deeds),
  named: JSON.stringify(named),
});

type What = 'created' | 'updated' | 'scheduled' | 'failed' | 'discarded';

interface SetChange {
  what: What;
  /** Reads the row once more, under the lock. @throws HawserError where it may not be changed so */
  find(): Promise<ChangeSetRow>;
  change(row: ChangeSetRow): Partial<ChangeSetRow>;
  /** What the entry in the audit trail says beside the rest. */
  details?: Record<string, unknown>;
  /** Whether the approvals of the set stay. By default they end. */
  keepsApprovals?: boolean;
}

/** Changes a set, with the next commit of its branch. */
export function changeSet(
  { database, store }: Pick<Tools, 'database' | 'store'>,
  caller: Teller & Pick<Caller, 'requireCurrent'>,
  { what, find, change, details, keepsApprovals = false }: SetChange,
): Promise<ChangeSetRow> {
  return store.changes.alone(async (story) => {
    await caller.requireCurrent?.();
    const before = await find();
    const { id } = before;
    const changed = { ...before, ...change(before) };
    const approvals = keepsApprovals ? await listApprovals(database.read, [id]) : [];
    const tip = await tellState(story, caller, changed, approvalFiles(approvals));
    let after: ChangeSetRow | undefined;
    await story.note((note) =>
      database.write.transaction().execute(async (trx) => {
        await note(trx);
        after = await updateChangeSet(trx, before, { ...change(before), tip });
        if (after === undefined) throw noSet();
        if (!keepsApprovals) await deleteApprovals(trx, id);
        await recordChange(trx, caller.actor, what, changed, details);
      }),
    );
    return after ?? { ...changed, tip };
  });
}

/**
 * The set, for one of its authors, and for who holds Manage on all that it names.
 * @throws HawserError not_found for who sees nothing of it; forbidden for others; conflict `not_possible` for one in a final
 *   state
 */
export async function requireEditable(db: Db, principal: UserPrincipal, id: number): Promise<ChangeSetRow> {
  const row = await findChangeSet(db, id);
  if (row === undefined) throw noSet();
  const kept = keptOf(row);
  if (!(await DeedReader.of(db, principal)).seesAny(kept)) throw noSet();
  const authors: string[] = JSON.parse(row.authors);
  if (!authors.includes(principal.userId)) await requireManage(db, principal, kept);
  const final = stateBlocker(row);
  if (final) throw final;
  return row;
}

const NOT_YOURS = 'Only an author of the change set may do this, and who holds Manage on all that it names';

/** Of a deed that names no configuration or composite, Manage is the permission that the deed needs. */
async function requireManage(db: Db, principal: UserPrincipal, { deeds, named }: KeptDeeds): Promise<void> {
  const { permissions } = principal;
  for (const [at, deed] of deeds.entries()) {
    const permission = permissionOf(ofShownChange(deed));
    if (permission !== null && !permissions.has(permission)) throw forbidden(NOT_YOURS);
    for (const { on, id } of named[at] ?? [])
      await grantedResource(db, principal, on, 'Manage', { id }).catch((error: HawserError) => {
        throw error.kind === 'forbidden' || error.kind === 'not_found' ? forbidden(NOT_YOURS) : error;
      });
  }
}

/** Judges all deeds before the first draft is written, and takes the drafts back where `keep` fails. */
async function withDrafts<T>(
  tools: Tools,
  { principal, actor }: Caller,
  { deeds, former }: WantedSet & { former: FormerState },
  keep: (kept: KeptDeeds) => Promise<T>,
): Promise<T> {
  const admit = (resources: Resources) => requireMayWrite(tools, principal, deeds, resources);
  const tried = await tryChanges(tools, principal, deeds, { member: 'deeds', admit, former });
  await requireOwnDrafts(tools, principal, tried);
  const drafts = await writeDrafts(tools, { principal, actor }, tried);
  try {
    const kept = deeds.map((deed, at) => toShownChange(drafts.publishing.get(at) ?? deed));
    return await keep({ deeds: kept, named: tried.ofEach });
  } catch (error) {
    // A set that may be there needs its drafts.
    if (!isOutcomeUnknown(error)) await takeBackDrafts(tools, drafts);
    throw error;
  }
}

/** The person who makes a commit on the branch of a set, and who acts. */
export interface Teller {
  principal: Pick<UserPrincipal, 'username' | 'email'>;
  actor: Actor;
}

/** Writes the state of a set on top of its branch, in the caller's name. @returns the commit */
export function tellState(
  story: HeldHistory,
  { principal: { username: name, email }, actor: { at } }: Teller,
  row: ChangeSetRow,
  approvals: readonly FileContent[] = [],
): Promise<string> {
  const { id, title: subject, description } = row;
  return story.commitState(id, {
    ...{ person: { name, email }, at, subject, ...(description !== null && { body: description }) },
    files: [...filesOf(row), ...approvals],
  });
}

/** The files of the branch of a set, without those of its approvals. */
export function filesOf(row: ChangeSetRow): FileContent[] {
  return [{ path: 'change.json', content: Buffer.from(printChange(row)) }];
}

/** The file that tells of a set: names, versions and reasons, with sorted members. */
function printChange({ id, title, description, state, deeds, revert_of }: ChangeSetRow): string {
  const told = {
    id,
    title,
    description,
    state,
    deeds: JSON.parse(deeds) as ShownChange[],
    revertOf: revert_of,
  };
  return `${JSON.stringify(sorted(told), null, 2)}\n`;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, sorted(member)] as const);
  return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)));
}

async function recordChange(
  trx: Db,
  actor: Actor,
  what: What,
  { id, title, deeds }: ChangeSetRow,
  more: Record<string, unknown> = {},
): Promise<void> {
  const details = { id, title, deeds: (JSON.parse(deeds) as ShownChange[]).length, ...more };
  await recordAudit(trx, actor, { action: `change_set.${what}`, resourceId: String(id), details });
}
