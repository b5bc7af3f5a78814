/**
 * Ends at the start what the end of a process cut off while a change set was being applied, where repositories are folders. A set
 * whose merge is on `main` is applied; nothing of any other is left.
 */

import { type ChangeSetRow, listPendingSets, updateChangeSet } from '../db/change-sets.ts';
import { PERMISSION_NAMES } from '../domain/permissions.ts';
import type { UserPrincipal } from '../security/principal.ts';
import { type CarryingOutTools, carryOut, type JudgedStep } from './carry-out-changes.ts';
import { Application, type Applying, type PendingStep } from './change-set-step.ts';

/** What is read of a row, so that the set can be carried out again. */
type ReadSet = (row: ChangeSetRow) => Promise<Pick<Applying, 'changes' | 'former' | 'files'>>;

/** Runs before anything is served. @throws HawserError where a set that is applied cannot be ended */
export async function finishChangeSets(tools: CarryingOutTools, read: ReadSet): Promise<void> {
  const { database, store, log } = tools;
  for (const row of await listPendingSets(database.read)) {
    const pending: PendingStep = JSON.parse(row.pending_moves ?? '');
    const isApplied = await store.changes.isOnMain(pending.merge);
    const isRecorded = row.state === 'Applied';
    // What was renamed may have reached the disk before the rows did.
    if (isApplied || !isRecorded) await store.endStep(pending.effects, isApplied && isRecorded);
    if (isApplied && !isRecorded) await carryOutAgain(tools, row, pending, await read(row));
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
  { actor, person, nodes }: PendingStep,
  set: Awaited<ReturnType<ReadSet>>,
): Promise<void> {
  const caller = { principal: withAllRights(person), actor };
  const require = async () => undefined;
  const application = new Again(tools, caller, { row, nodes, require, ...set });
  await carryOut(tools, caller, { ...set, frame: application });
  await application.end();
}

class Again extends Application {
  override async commit(step: JudgedStep, make: Parameters<Application['commit']>[1]): Promise<void> {
    await this.readAfter(step);
    await this.tools.store.changes.alone(async (story) => {
      const tip = story.tip(this.row.id);
      if (tip !== null) this.commits.branch = tip;
      await make(story.others([]));
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
