/** Applies a change set, once all is looked at that may stand in its way: in the order in which the contract names it. */

import { type ChangeSetRow, listApprovals } from '../db/change-sets.ts';
import type { Db } from '../db/database.ts';
import { listProtected, type ProtectedKind } from '../db/protections.ts';
import { GRANT_RULES, type Permission } from '../domain/permissions.ts';
import { conflict, HawserError, notFound } from '../lib/errors.ts';
import type { Caller } from '../security/caller.ts';
import { requirePermission, type UserPrincipal } from '../security/principal.ts';
import { readableResources } from '../security/rights.ts';
import type { CarryingOutTools } from './carry-out-changes.ts';
import { applyStep } from './change-set-step.ts';
import {
  approvalBlocker,
  digestChanged,
  formerOf,
  judgeSet,
  type KeptDeeds,
  requireSet,
  type SaidOfDeed,
  type SeenSet,
  stateBlocker,
} from './change-sets.ts';
import { type Change, ofShownChange } from './changes.ts';
import { targetOf } from './deed-targets.ts';
import type { PreviewMakers } from './make-preview.ts';
import { findPreview } from './preview-rows.ts';
import { VisiblePart } from './preview-visible.ts';
import { filesOf } from './propose-change-set.ts';
import type { Protections } from './protection.ts';
import { approvalFiles, withMissing } from './set-protections.ts';

export type ApplyingTools = PreviewMakers & CarryingOutTools;

/** What the caller has seen of the set. */
export interface AskedApplication {
  digest: string;
  /** How many nodes it changes, or leaves without an answer; absent where the caller does not care. */
  expectedChanged?: number | null | undefined;
  /** Why it is applied although approvals are missing; absent where it is not to be. */
  override?: string | null | undefined;
}

/**
 * @returns the row of the set as it is now
 * @throws HawserError not_found or forbidden for what the caller may not do; conflict `not_possible` in a final state;
 *   `precondition_failed` where the digest is another one; locked `frozen`; conflict with the code of the first blocker; conflict
 *   `approvals_missing`, and `effect_changed`. Nothing is changed then
 */
export async function applySet(
  tools: ApplyingTools,
  caller: Caller,
  id: number,
  { digest, expectedChanged, override }: AskedApplication,
): Promise<ChangeSetRow> {
  const { read } = tools.database;
  const { principal, actor } = caller;
  const set = await requireSet(tools, principal, id);
  const { row, kept, seen, digest: present } = set;
  const final = stateBlocker(row);
  if (final) throw final;
  if (seen.includes(false)) throw notFound('You may not read all that the change set names');
  const changes = kept.deeds.map(ofShownChange);
  const former = await formerOf(read, row);
  for (const change of changes) await targetOf(read, principal, change, former);
  if (typeof override === 'string') requireOverriding(principal, set);
  if (present !== digest) throw digestChanged();
  await actor.requireUnfrozen?.(read);
  const { blockers, proposal } = await judgeSet(tools, principal, kept, former);
  const [blocker] = blockers;
  if (blocker) throw blockedAt(blocker);
  const missing = approvalBlocker(set.protection);
  if (missing && typeof override !== 'string') throw missing;
  const nodes = await countChanged(tools, principal, { changes, kept, proposal });
  if (typeof expectedChanged === 'number' && nodes !== expectedChanged)
    throw conflict('effect_changed', `It would change ${nodes} nodes now, and not ${expectedChanged}`);
  const applied: ChangeSetRow = { ...row, state: 'Applied' };
  const reason = missing && typeof override === 'string' ? override : null;
  const passed = reason === null ? null : JSON.stringify({ by: principal.username, at: actor.at, reason });
  return applyStep(tools, caller, {
    ...{ row, changes, former, nodes, files: [...filesOf(applied), ...approvalFiles(set.approvals)] },
    override: passed,
    async require() {
      const now = await requireSet(tools, principal, id);
      if (now.digest !== digest) throw digestChanged();
      return async (trx) => {
        await requireSameProtections(trx, now.protections);
        const present = (await listApprovals(trx, [id])).filter((each) => each.digest === digest);
        const protection = await withMissing(trx, id, now.covers, present);
        const lacking = approvalBlocker(protection);
        if (lacking && passed === null) throw lacking;
        return JSON.stringify(protection);
      };
    },
  });
}

/** Who passes the approvals holds the override of each kind that protects the set. @throws HawserError forbidden */
function requireOverriding(principal: UserPrincipal, { covers }: SeenSet): void {
  for (const { thing } of covers) requirePermission(principal, OVERRIDES[thing.on]);
}

const OVERRIDES = {
  configuration: GRANT_RULES.configuration.override,
  composite: GRANT_RULES.composite.override,
  scopeValue: 'scopes.admin-override',
} as const satisfies Record<ProtectedKind, Permission>;

/** The protections are the same as when it was looked at what they cover. */
async function requireSameProtections(trx: Db, { things }: Protections): Promise<void> {
  if (JSON.stringify(await listProtected(trx)) === JSON.stringify(things)) return;
  const message = 'What protects the change set has changed at this moment; look at it again';
  throw conflict('not_possible', message);
}

function blockedAt(error: SaidOfDeed): HawserError {
  const { code, message, deed } = error;
  const errors = [{ path: deed === null ? '' : `/deeds/${deed}`, message, code }];
  return new HawserError('conflict', error.code, message, { data: { errors } });
}

/** How many nodes get something else by the set, or nothing that can be resolved, as far as the caller may read them. */
async function countChanged(
  { database: { read }, runs, clock }: PreviewMakers,
  principal: UserPrincipal,
  {
    changes,
    kept,
    proposal,
  }: {
    changes: readonly Change[];
    kept: KeptDeeds;
    proposal: Awaited<ReturnType<typeof judgeSet>>['proposal'];
  },
): Promise<number> {
  const input = { proposal, readable: await readableResources(read, principal), nodeIds: null };
  const named = [...new Map(kept.named.flat().map((each) => [JSON.stringify(each), each])).values()];
  const found = { findings: [], warnings: [] };
  const { id, made } = await runs.begin({ userId: principal.userId, changes, named, found, input });
  await made;
  const row = await findPreview(read, id, clock.now());
  if (row?.state !== 'Done')
    throw conflict('effect_changed', row?.error ?? 'What it would change cannot be told now');
  const { changed, unresolvable } = (await VisiblePart.of(read, principal, row)).counts;
  return changed + unresolvable;
}
