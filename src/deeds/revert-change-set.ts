/** Takes a change set back: by a new one, which proposes what undoes it. */

import type { ChangeSetRow } from '../db/change-sets.ts';
import { conflict } from '../lib/errors.ts';
import type { Caller } from '../security/caller.ts';
import { type KeptUndo, noSet, requireSet } from './change-sets.ts';
import { readRowState, readVersionStates } from './change-state.ts';
import { ofShownChange } from './changes.ts';
import { FormerState } from './former-state.ts';
import { proposeSet } from './propose-change-set.ts';
import type { DraftTools } from './set-drafts.ts';
import { undoChanges } from './undo-changes.ts';

const MAX_TITLE = 200;

/**
 * @returns the row of the new set
 * @throws HawserError not_found, also for who may not read all of it; conflict `not_possible` for one that is not applied, and
 *   `nothing_to_revert`; as `proposeSet`
 */
export async function revertSet(tools: DraftTools, caller: Caller, id: number): Promise<ChangeSetRow> {
  const { database, store } = tools;
  const { row, kept, seen } = await requireSet(tools, caller.principal, id);
  if (seen.includes(false)) throw noSet();
  if (row.state !== 'Applied')
    throw conflict(
      'not_possible',
      `The change set is ${row.state}; only one that is applied can be taken back`,
    );
  const changes = kept.deeds.map(ofShownChange);
  const { before, after }: KeptUndo = JSON.parse(row.undo ?? '{}');
  const now = {
    rows: await readRowState(database.read, changes),
    versions: await readVersionStates(database.read, store, changes),
  };
  if (before === undefined || after === undefined)
    throw conflict('nothing_to_revert', 'Nothing is known of what was there before the change set');
  const { deeds, changedSince } = undoChanges({ id, changes, before, after, now });
  if (deeds.length === 0)
    throw conflict(
      'nothing_to_revert',
      'All that the change set changed was changed again since, or is as before',
    );
  const title = `Take back: ${row.title}`.slice(0, MAX_TITLE);
  const former = new FormerState(changes, before);
  return proposeSet(
    tools,
    caller,
    { title, description: null, deeds },
    { revertOf: id, former, changedSince },
  );
}
