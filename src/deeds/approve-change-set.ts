/** Approves change sets, and takes approvals back. Nobody approves what is one's own. */

import {
  type ChangeSetApprovalRow,
  deleteApproval,
  insertApproval,
  updateChangeSet,
} from '../db/change-sets.ts';
import type { Db } from '../db/database.ts';
import type { AuditAction } from '../domain/audit-actions.ts';
import { reaches } from '../domain/permissions.ts';
import { conflict, forbidden, notFound } from '../lib/errors.ts';
import { recordAudit } from '../security/audit.ts';
import type { Caller } from '../security/caller.ts';
import type { UserPrincipal } from '../security/principal.ts';
import { heldLevels } from '../security/rights.ts';
import { changedMeanwhile } from './change-set-step.ts';
import { digestChanged, requireSet, type SeenSet, stateBlocker, versionNamed } from './change-sets.ts';
import { ofShownChange, partsOf } from './changes.ts';
import { permissionOf } from './deed-targets.ts';
import { isMaker } from './draft-makers.ts';
import type { TryingTools } from './make-preview.ts';
import { tellState } from './propose-change-set.ts';
import { approvalFiles, countsFor } from './set-protections.ts';

/**
 * Approves a set as it is. Approving again what one has approved changes nothing.
 * @throws HawserError not_found for who sees nothing of it; conflict `not_possible` in a final state, `same_person` for an author and
 *   for who made or edited a draft in it; forbidden where the approval would count for nothing; `precondition_failed` for another
 *   digest
 */
export async function approveSet(
  tools: TryingTools,
  caller: Caller,
  id: number,
  digest: string,
): Promise<void> {
  const { principal, actor } = caller;
  await changeApprovals(tools, caller, id, async (set) => {
    await requireApprover(tools, principal, set);
    if (set.digest !== digest) throw digestChanged();
    const isThere = (each: ChangeSetApprovalRow) => isBy(principal)(each) && each.digest === digest;
    if (set.approvals.some(isThere)) return null;
    const { userId: user_id, username } = principal;
    const approval = { set_id: id, user_id, username, at: actor.at, digest };
    return {
      approvals: [...set.approvals.filter((each) => !isBy(principal)(each)), approval],
      action: 'change_set.approved',
      save: (trx) => insertApproval(trx, approval),
    };
  });
}

/** @throws HawserError not_found without an approval; conflict `not_possible` in a final state */
export function takeApprovalBack(tools: TryingTools, caller: Caller, id: number): Promise<void> {
  const { principal } = caller;
  return changeApprovals(tools, caller, id, async ({ approvals }) => {
    if (!approvals.some(isBy(principal))) throw notFound('You have not approved the change set');
    return {
      approvals: approvals.filter((each) => !isBy(principal)(each)),
      action: 'change_set.approval_taken_back',
      save: (trx) => deleteApproval(trx, { set_id: id, user_id: principal.userId }),
    };
  });
}

const isBy =
  ({ userId }: UserPrincipal) =>
  ({ user_id }: ChangeSetApprovalRow) =>
    user_id === userId;

interface ApprovalChange {
  approvals: readonly ChangeSetApprovalRow[];
  action: AuditAction;
  save(trx: Db): Promise<void>;
}

/** Changes the approvals of a set, with the next commit of its branch. @param change null leaves them as they are */
async function changeApprovals(
  tools: TryingTools,
  caller: Caller,
  id: number,
  change: (set: SeenSet) => Promise<ApprovalChange | null>,
): Promise<void> {
  const { database, store } = tools;
  const { principal, actor } = caller;
  await requireSet(tools, principal, id);
  await store.changes.alone(async (story) => {
    await caller.requireCurrent?.();
    const set = await requireSet(tools, principal, id);
    const { row } = set;
    const final = stateBlocker(row);
    if (final) throw final;
    const changed = await change(set);
    if (changed === null) return;
    const tip = await tellState(story, caller, row, approvalFiles(changed.approvals));
    await story.note((note) =>
      database.write.transaction().execute(async (trx) => {
        await note(trx);
        // A step that is being applied does not hold the lock of the story until its end.
        if ((await updateChangeSet(trx, row, { tip })) === undefined) throw changedMeanwhile();
        await changed.save(trx);
        const details = { id, title: row.title };
        await recordAudit(trx, actor, { action: changed.action, resourceId: String(id), details });
      }),
    );
  });
}

async function requireApprover(tools: TryingTools, principal: UserPrincipal, set: SeenSet): Promise<void> {
  if (principal.accountType !== 'User') throw forbidden('A service account approves nothing; a person must');
  if (await isOwn(tools, principal, set))
    throw conflict(
      'same_person',
      'You have made or edited the change set, or a draft in it; somebody else must approve it',
    );
  if (!(await wouldCount(tools, principal, set)))
    throw forbidden(
      'Your approval would not count: it needs nodes.read and Modify on what is protected, and where a group is named, to have ' +
        'been in it since before the change set was made',
    );
}

/** Whether an approval of the caller would count for a protection of the set, and is not there yet. */
export async function isApprovable(
  tools: TryingTools,
  principal: UserPrincipal,
  set: SeenSet,
): Promise<boolean> {
  if (stateBlocker(set.row) || principal.accountType !== 'User' || set.covers.length === 0) return false;
  if (set.approvals.some((each) => isBy(principal)(each) && each.digest === set.digest)) return false;
  return (await wouldCount(tools, principal, set)) && !(await isOwn(tools, principal, set));
}

/** Where nothing protects the set, Modify on something that it names is enough. */
async function wouldCount(
  { database: { read } }: Pick<TryingTools, 'database'>,
  principal: UserPrincipal,
  { row, kept: { deeds, named }, covers }: SeenSet,
): Promise<boolean> {
  for (const cover of covers) if (await countsFor(read, principal, row.id, cover)) return true;
  if (covers.length > 0 || !principal.permissions.has('nodes.read')) return false;
  const all = named.flat();
  const levelOn = await heldLevels(
    read,
    principal,
    all.map(({ id }) => id),
  );
  if (all.some(({ on, id }) => reaches(levelOn(on, id), 'Modify'))) return true;
  return deeds.some((deed, at) => {
    const permission = permissionOf(ofShownChange(deed));
    return named[at]?.length === 0 && permission !== null && principal.permissions.has(permission);
  });
}

/** Whether it is the caller's own: of an author, or of who made, edited or pushed a draft that it names. */
async function isOwn(
  { database: { read }, store }: TryingTools,
  principal: UserPrincipal,
  { row, kept: { deeds, named } }: SeenSet,
): Promise<boolean> {
  const authors: string[] = JSON.parse(row.authors);
  if (authors.includes(principal.userId)) return true;
  for (const [at, deed] of deeds.entries()) {
    for (const part of partsOf(ofShownChange(deed))) {
      const draft = await versionNamed({ read, store }, part, named[at] ?? []);
      if (draft?.ref.status === 'Draft' && (await isMaker(read, store, principal, draft))) return true;
    }
  }
  return false;
}
