/**
 * Ends at the start what the end of a process cut off while a change set was being applied, where repositories are folders. A set
 * whose merge is on `main` is applied; nothing of any other is left.
 */

import { type ChangeSetRow, listPendingSets, updateChangeSet } from '../db/change-sets.ts';
import { PERMISSION_NAMES } from '../domain/permissions.ts';
import type { Caller } from '../security/caller.ts';
import type { UserPrincipal } from '../security/principal.ts';
import { branchOf } from '../versions/change-history.ts';
import { type CarryingOutTools, carryOut, type JudgedStep } from './carry-out-changes.ts';
import { Application, type Applying, type PendingStep } from './change-set-step.ts';
import { formerOf, keptOf } from './change-sets.ts';
import { ofShownChange } from './changes.ts';

/** Runs before anything is served. @throws HawserError where a set that is applied cannot be ended */
export async function finishChangeSets(tools: CarryingOutTools): Promise<void> {
  const { database, store, log } = tools;
  // In PostgreSQL all of a set is one transaction.
  if (database.repositories !== null) return;
  for (const row of await listPendingSets(database.read)) {
    const pending: PendingStep = JSON.parse(row.pending_moves ?? '');
    const isApplied = await store.changes.isOnMain(pending.merge);
    const isRecorded = row.state === 'Applied';
    // What was renamed may have reached the disk before the rows did. Of a set that is not on `main` nothing was: what its refs
    // are now, others have made of them since.
    if (isApplied) await store.endStep(pending.effects, isRecorded);
    if (isApplied && !isRecorded) await carryOutAgain(tools, row, pending);
    else await clear(tools, row);
    if (isApplied) log.warn({ changeSet: row.id }, 'completed a change set after a crash');
  }
}

async function clear({ database }: CarryingOutTools, row: ChangeSetRow): Promise<void> {
  await database.write.transaction().execute((trx) => updateChangeSet(trx, row, { pending_moves: null }));
}

/** All is as it was before the set, so the same deeds make the same objects and rows. Its story is told already. */
async function carryOutAgain(
  tools: CarryingOutTools,
  row: ChangeSetRow,
  { merge, actor, person, nodes, judged }: PendingStep,
): Promise<void> {
  const changes = keptOf(row).deeds.map(ofShownChange);
  const set = { changes, former: await formerOf(tools.database.read, row), files: [] };
  const caller = { principal: withAllRights(person), actor };
  const { override = null, protection = null } = judged ?? {};
  const require = async () => async () => protection ?? '[]';
  const application = new Again(tools, caller, { row, nodes, override, require, merge, ...set });
  await carryOut(tools, caller, { ...set, frame: application });
  await application.end();
}

class Again extends Application {
  private readonly merge: string;

  constructor(tools: CarryingOutTools, caller: Caller, applying: Applying & Pick<PendingStep, 'merge'>) {
    super(tools, caller, applying);
    this.merge = applying.merge;
  }

  override async commit(step: JudgedStep, make: Parameters<Application['commit']>[1]): Promise<void> {
    await this.readAfter(step);
    await this.tools.store.changes.alone(async (story) => {
      const { id } = this.row;
      const branch = await story.mergedBy(this.merge);
      this.commits.branch = branch;
      // The start has moved the branch back to where its row says that it is.
      await make(story.others([{ name: branchOf(id), from: story.tip(id), to: branch, peeled: null }]));
    });
  }
}

/** The rights were asked for before the set was applied. */
function withAllRights(person: PendingStep['person']): UserPrincipal {
  const permissions = new Set(PERMISSION_NAMES);
  return {
    ...{ kind: 'user', ...person, accountType: 'User', authMethod: 'Session', credentialId: '' },
    ...{ scopes: null, credentialEndsAt: null, permissions, ownPermissions: permissions },
    ...{ requirePasswordChange: false, authProvider: 'Local', renewedSession: null },
  };
}
