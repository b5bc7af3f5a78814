/** Applies a change set, once all is looked at that may stand in its way: in the order in which the contract names it. */

import { readFeedPlace } from '../db/change-feed.ts';
import { type ChangeSetRow, listApprovals } from '../db/change-sets.ts';
import type { Db } from '../db/database.ts';
import { listProtected, type ProtectedKind } from '../db/protections.ts';
import { GRANT_RULES, type Permission } from '../domain/permissions.ts';
import { conflict, HawserError, notFound } from '../lib/errors.ts';
import { paced } from '../lib/pace.ts';
import type { Caller } from '../security/caller.ts';
import { requirePermission, type UserPrincipal } from '../security/principal.ts';
import { readableResources } from '../security/rights.ts';
import type { CarryingOutTools } from './carry-out-changes.ts';
import { type Applying, applyStep, changedMeanwhile } from './change-set-step.ts';
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

/** What is asked for, once all is looked at that may stand in its way. */
interface Ready extends Pick<Applying, 'row' | 'changes' | 'former' | 'nodes' | 'override'> {
  approvals: SeenSet['approvals'];
  /** The place of the feed before the nodes were counted. */
  countedAt: string;
}

/** So often the nodes are counted where others change what nodes get at the same time. */
const COUNTS = 3;

/**
 * @param scheduled the row by which it was scheduled; it must be the same one still
 * @returns the row of the set as it is now
 * @throws HawserError as `requireApplicable`. Nothing is changed then
 */
export async function applySet(
  tools: ApplyingTools,
  caller: Caller,
  id: number,
  asked: AskedApplication,
  scheduled?: ChangeSetRow,
): Promise<ChangeSetRow> {
  const moved = conflict('effect_changed', 'Others change what nodes get at this moment; try again');
  for (let count = 1; ; count += 1) {
    const { approvals, countedAt, ...ready } = await requireApplicable(tools, caller, id, asked);
    if (scheduled !== undefined && ready.row.tip !== scheduled.tip) throw changedMeanwhile();
    const applied: ChangeSetRow = { ...ready.row, state: 'Applied' };
    try {
      return await applyStep(tools, caller, {
        ...{ ...ready, files: [...filesOf(applied), ...approvalFiles(approvals)] },
        async require() {
          const now = await requireSet(tools, caller.principal, id);
          if (now.digest !== asked.digest) throw digestChanged();
          // Counting takes seconds, in which somebody may have protected more of what it changes.
          if (ready.override !== null) requireOverriding(caller.principal, now);
          return async (trx) => {
            // Without a number that the caller expects, it does not matter.
            if (typeof asked.expectedChanged === 'number' && (await readFeedPlace(trx)) !== countedAt)
              throw moved;
            await requireSameProtections(trx, now.protections);
            const present = (await listApprovals(trx, [id])).filter(({ digest }) => digest === asked.digest);
            const protection = await withMissing(trx, id, now.covers, present);
            const lacking = approvalBlocker(protection);
            if (lacking && ready.override === null) throw lacking;
            return JSON.stringify(protection);
          };
        },
      });
    } catch (error) {
      if (error !== moved || count === COUNTS) throw error;
    }
  }
}

/**
 * Looks at all that may stand in the way of applying a set now, in the order in which the contract names it.
 * @throws HawserError not_found or forbidden for what the caller may not do; conflict `not_possible` in a final state;
 *   `precondition_failed` where the digest is another one; locked `frozen`; conflict with the code of the first blocker; conflict
 *   `approvals_missing`, and `effect_changed`
 */
export async function requireApplicable(
  tools: ApplyingTools,
  caller: Caller,
  id: number,
  { digest, expectedChanged, override }: AskedApplication,
): Promise<Ready> {
  const { read } = tools.database;
  const { principal, actor } = caller;
  const set = await requireSet(tools, principal, id);
  const { row, kept, seen, digest: present } = set;
  const final = stateBlocker(row);
  if (final) throw final;
  if (seen.includes(false)) throw notFound('You may not read all that the change set names');
  const changes = kept.deeds.map(ofShownChange);
  const former = await formerOf(read, row);
  for await (const change of paced(changes)) await targetOf(read, principal, change, former);
  if (typeof override === 'string') requireOverriding(principal, set);
  if (present !== digest) throw digestChanged();
  await actor.requireUnfrozen?.(read);
  const { blockers, proposal } = await judgeSet(tools, principal, kept, former);
  const [blocker] = blockers;
  if (blocker) throw blockedAt(blocker);
  const missing = approvalBlocker(set.protection);
  if (missing && typeof override !== 'string') throw missing;
  const countedAt = await readFeedPlace(read);
  const nodes = await countChanged(tools, principal, { changes, kept, proposal });
  if (typeof expectedChanged === 'number' && nodes !== expectedChanged)
    throw conflict('effect_changed', `It would change ${nodes} nodes now, and not ${expectedChanged}`);
  const reason = missing && typeof override === 'string' ? override : null;
  const passed = reason === null ? null : JSON.stringify({ by: principal.username, at: actor.at, reason });
  return { row, changes, former, nodes, override: passed, approvals: set.approvals, countedAt };
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
