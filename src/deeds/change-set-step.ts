/**
 * Applies a change set: all of its deeds as one step. The move of `main` in `changes.git` is the commit point. In PostgreSQL it is one
 * transaction with all else. In folders it is flushed first, with nothing else running in this process until the transaction of the
 * rows is committed and all other refs are renamed. What a crash leaves in between, `finish-change-sets.ts` ends at the next start.
 */

import { type ChangeSetRow, updateChangeSet } from '../db/change-sets.ts';
import type { Db } from '../db/database.ts';
import { MAIN } from '../git/ref-reader.ts';
import type { FileContent } from '../git/types.ts';
import { conflict } from '../lib/errors.ts';
import { type Actor, recordAudit } from '../security/audit.ts';
import type { Caller } from '../security/caller.ts';
import type { UserPrincipal } from '../security/principal.ts';
import { branchOf, type HeldHistory } from '../versions/change-history.ts';
import type { StepEffect } from '../versions/ref-step.ts';
import type { GitStore } from '../versions/store.ts';
import { type CarryingOutTools, carryOut, type JudgedStep, type StepFrame } from './carry-out-changes.ts';
import { type ChangeState, readRowState, readVersionStates } from './change-state.ts';
import { type Change, partsOf } from './changes.ts';
import type { FormerState } from './former-state.ts';

/** A set that is about to be applied. */
export interface Applying {
  row: ChangeSetRow;
  changes: readonly Change[];
  /** What was before the set that this one takes back. */
  former: FormerState;
  /** The files of its branch. */
  files: readonly FileContent[];
  /** How many nodes get something else by it. */
  nodes: number;
  /** JSON of who passes approvals that are missing, when and why, as the row keeps it; null for nobody. */
  override: string | null;
  /**
   * Looks once more, under all locks, whether it may be applied.
   * @returns looks for the last time, in the transaction, and gives JSON of what protects it, which the row keeps
   * @throws HawserError
   */
  require(): Promise<(trx: Db) => Promise<string>>;
}

/** What is to be ended after a crash, as the row keeps it. */
export interface PendingStep {
  /** The commit of `main` that applies the set. */
  merge: string;
  effects: readonly StepEffect[];
  /** Who applied it, from where and when. */
  actor: Actor;
  person: Pick<UserPrincipal, 'userId' | 'username' | 'email'>;
  /** How many nodes get something else by it. */
  nodes: number;
  /** What the row keeps of approvals. Absent in a set of a release that had none. */
  judged?: Pick<ChangeSetRow, 'override' | 'protection'>;
}

/**
 * @returns the row of the set as it is now
 * @throws HawserError as `carryOut`; what `require` throws; conflict `not_possible` where somebody else has changed the set meanwhile
 */
export async function applyStep(
  tools: CarryingOutTools,
  { principal, actor: caller }: Caller,
  applying: Applying,
): Promise<ChangeSetRow> {
  const { row, changes, former } = applying;
  const actor = { ...caller, changeSetId: row.id };
  const application = new Application(tools, { principal, actor }, applying);
  await carryOut(tools, { principal, actor }, { changes, former, frame: application });
  return application.end();
}

export class Application implements StepFrame {
  protected readonly tools: CarryingOutTools;
  protected readonly caller: Caller;
  protected readonly applying: Applying;
  protected row: ChangeSetRow;
  private readonly before: Partial<ChangeState> = {};
  private readonly after: Partial<ChangeState> = {};
  protected commits = { branch: '', merge: '' };
  private requireStill: (trx: Db) => Promise<string> = async () => '[]';

  constructor(tools: CarryingOutTools, caller: Caller, applying: Applying) {
    this.tools = tools;
    this.caller = caller;
    this.applying = applying;
    this.row = applying.row;
  }

  async require(): Promise<void> {
    this.requireStill = await this.applying.require();
    this.before.versions = await this.versionsIn(this.tools.store);
  }

  async commit({ effects, store }: JudgedStep, make: Parameters<StepFrame['commit']>[1]): Promise<void> {
    await this.readAfter({ store });
    await this.tools.store.changes.alone(async (story) => {
      const moves = await this.writeStory(story);
      if (this.tools.database.repositories === null) await this.noteStep(effects);
      await make(story.others(moves));
    });
  }

  async begin(trx: Db): Promise<void> {
    const { actor } = this.caller;
    await actor.requireUnfrozen?.(trx);
    this.before.rows = await readRowState(trx, this.applying.changes);
    const applied = { state: 'Applied', applied_at: actor.at, applied_by: actor.name } as const;
    const judged = { protection: await this.requireStill(trx), override: this.applying.override };
    await this.update(trx, {
      ...applied,
      ...judged,
      tip: this.commits.branch,
      apply_at: null,
      apply_as: null,
    });
  }

  async record(trx: Db): Promise<void> {
    this.after.rows = await readRowState(trx, this.applying.changes);
    await this.update(trx, { undo: JSON.stringify({ before: this.before, after: this.after }) });
    const { id, title, revert_of } = this.row;
    if (revert_of !== null)
      await trx.updateTable('change_sets').set({ reverted_by: id }).where('id', '=', revert_of).execute();
    const { actor } = this.caller;
    const { changes, nodes, override } = this.applying;
    if (override !== null) {
      const { reason } = JSON.parse(override) as { reason: string };
      const details = { id, title, reason };
      await recordAudit(trx, actor, { action: 'change_set.overridden', resourceId: String(id), details });
    }
    const details = { id, title, deeds: changes.length, nodes };
    await recordAudit(trx, actor, { action: 'change_set.applied', resourceId: String(id), details });
  }

  /** Nothing is left to be ended. */
  async end(): Promise<ChangeSetRow> {
    const { id, pending_moves } = this.row;
    if (pending_moves === null) return this.row;
    const { writeUnflushed } = this.tools.database;
    // What was made is on the disk, so it does no harm if this is lost.
    await writeUnflushed
      .updateTable('change_sets')
      .set({ pending_moves: null })
      .where('id', '=', id)
      .execute();
    return { ...this.row, pending_moves: null };
  }

  protected async readAfter({ store }: Pick<JudgedStep, 'store'>): Promise<void> {
    this.after.versions = await this.versionsIn(store);
  }

  private versionsIn(store: Pick<GitStore, 'index'>) {
    return readVersionStates(this.tools.database.read, store, this.applying.changes);
  }

  /** The last commit of the branch, and the merge of it into `main`, to which no ref leads yet. */
  private async writeStory(story: HeldHistory) {
    const { row, files } = this.applying;
    const { principal, actor } = this.caller;
    const person = { name: principal.username, email: principal.email };
    const state = { person, at: actor.at, subject: row.title, files };
    const branch = await story.writeCommit([row.tip], { ...state, body: 'State: Applied' });
    const merge = await story.writeCommit([story.main, branch], { ...state, body: this.told() });
    this.commits = { branch, merge };
    return [
      { name: MAIN, from: story.main, to: merge, peeled: null },
      { name: branchOf(row.id), from: row.tip, to: branch, peeled: null },
    ];
  }

  /** What the merge says below the title: what is touched, how many nodes get something else, and which set it is. */
  private told(): string {
    const { row, changes, nodes } = this.applying;
    const lines = [...new Set(changes.flatMap(linesOf))];
    const count = nodes === 1 ? '1 node gets something else' : `${nodes} nodes get something else`;
    return [...lines, '', count, '', `Change-Set: ${row.id}`].join('\n');
  }

  /** So that the next start can end the step, should this process end in between. */
  private async noteStep(effects: readonly StepEffect[]): Promise<void> {
    const { requireUnfrozen: _look, ...actor } = this.caller.actor;
    const { userId, username, email } = this.caller.principal;
    const person = { userId, username, email };
    const { nodes, override } = this.applying;
    await this.tools.database.write.transaction().execute(async (trx) => {
      const judged = { protection: await this.requireStill(trx), override };
      const pending: PendingStep = { merge: this.commits.merge, effects, actor, person, nodes, judged };
      await this.update(trx, { pending_moves: JSON.stringify(pending) });
    });
  }

  private async update(trx: Db, change: Parameters<typeof updateChangeSet>[2]): Promise<void> {
    const updated = await updateChangeSet(trx, this.row, change);
    if (updated === undefined) throw changedMeanwhile();
    this.row = updated;
  }
}

export const changedMeanwhile = () =>
  conflict('not_possible', 'Somebody else has changed the set at this moment; look at it again');

/** A rollout has a line for each version. */
function linesOf(change: Change): string[] {
  if (change.kind !== 'StartRollout') return [lineOf(change)];
  return partsOf(change).map((part) => lineOf(part).replace(/^\w+/, change.kind));
}

/** A deed in a line. It names nodes by their number alone. */
function lineOf(change: Change): string {
  const { kind } = change;
  if ('nodeIds' in change) {
    const { length } = change.nodeIds;
    const name = change.kind === 'Assign' ? ` ${change.configurationName}` : '';
    return `${kind}${name}: ${length === 1 ? '1 node named' : `${length} nodes named`}`;
  }
  if (change.kind === 'SetServerManaged' || change.kind === 'SetSettings')
    return `${kind} ${change.configurationName}`;
  if (change.kind === 'SetProtection') {
    const { configurationName, compositeName, scopeValueId } = change.on;
    return `${kind} ${configurationName ?? compositeName ?? scopeValueId}`;
  }
  if ('version' in change) {
    const name =
      ('compositeName' in change && change.compositeName) ||
      ('configurationName' in change && change.configurationName);
    const scope =
      'scopeTypeName' in change
        ? ` ${[change.scopeTypeName, change.scopeValue].filter(Boolean).join('/')}`
        : '';
    return `${kind} ${name}${scope} ${change.version}`;
  }
  return kind;
}
