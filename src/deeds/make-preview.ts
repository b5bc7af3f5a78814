/** Tries changes in a caller's name, and has a preview made of what they propose. */

import { setTimeout as sleep } from 'node:timers/promises';
import { freezeBlocker } from '../db/freeze.ts';
import { type Clock, SECOND } from '../lib/clock.ts';
import { notFound } from '../lib/errors.ts';
import type { Proposal } from '../resolve/proposal.ts';
import type { UserPrincipal } from '../security/principal.ts';
import { readableResources } from '../security/rights.ts';
import type { Change } from './changes.ts';
import type { FormerState } from './former-state.ts';
import { judgeChanges, requireWatched } from './judge-changes.ts';
import { type Named, notFoundIfGone, type Resources, requireNamed } from './named-changes.ts';
import { findPreview, type PreviewRow } from './preview-rows.ts';
import type { PreviewRuns } from './preview-runs.ts';
import { VisiblePart } from './preview-visible.ts';
import {
  type FoundInVersion,
  type PreviewWarning,
  Proposing,
  type ProposingTools,
} from './propose-changes.ts';

/** A preview that is made within this time is answered as it is then. */
const PATIENCE = 2 * SECOND;

export interface TryingTools extends ProposingTools {
  clock: Clock;
}

export interface PreviewMakers extends TryingTools {
  runs: PreviewRuns;
}

/** Changes that could be carried out, one after the other, at the moment when they were tried. */
export interface TriedChanges {
  changes: readonly Change[];
  /** What they name, together and one by one. */
  named: Named[];
  ofEach: Named[][];
  resources: Resources;
  /** What they propose together. */
  proposal: Proposal;
  findings: readonly FoundInVersion[];
  warnings: readonly PreviewWarning[];
}

/** A preview, and what a reader sees of it. */
export interface SeenPreview {
  row: PreviewRow;
  visible: VisiblePart;
}

/** How changes are tried. */
export interface Trying {
  /** The member of the body that lists the changes, for the paths of errors. */
  member: 'changes' | 'deeds';
  /** Refuses a caller, by what the changes name, before any is judged. */
  admit?(resources: Resources): Promise<void>;
  /** What was before the set that the changes take back. */
  former?: FormerState;
}

/**
 * @throws HawserError not_found for what the changes name and the caller may not read; as `judgeChanges`
 */
export async function tryChanges(
  tools: TryingTools,
  principal: UserPrincipal,
  changes: readonly Change[],
  { member, admit, former }: Trying,
): Promise<TriedChanges> {
  const { read } = tools.database;
  const { named, ofEach, resources } = await requireNamed(read, principal, changes);
  await admit?.(resources);
  const frozen = await freezeBlocker(read, tools.clock.now());
  const proposing = new Proposing(tools, { principal, resources, frozen, ...(former && { former }) });
  const proposal = await notFoundIfGone(read, named, () => judgeChanges(proposing, changes, member));
  const { findings, warnings } = proposing;
  return { changes, named, ofEach, resources, proposal, findings, warnings };
}

/**
 * Waits a little for the preview, which may still be Running then.
 * @param nodeIds narrow it to these nodes; null for all
 * @throws HawserError conflict `not_found` for one that is no node; rate_limited while too many wait
 */
export async function makePreview(
  { database: { read }, runs, clock }: PreviewMakers,
  principal: UserPrincipal,
  { changes, named, proposal, findings, warnings }: TriedChanges,
  nodeIds: readonly string[] | null = null,
): Promise<SeenPreview> {
  if (nodeIds !== null) await requireWatched(read, nodeIds);
  const input = { proposal, readable: await readableResources(read, principal), nodeIds };
  const found = { findings, warnings };
  const { id, made } = await runs.begin({ userId: principal.userId, changes, named, found, input });
  await within(PATIENCE, made);
  const row = await findPreview(read, id, clock.now());
  if (row === undefined) throw noPreview();
  return { row, visible: await VisiblePart.of(read, principal, row) };
}

export const noPreview = () => notFound('No such preview');

async function within(milliseconds: number, work: Promise<void>): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  await Promise.race([work, sleep(milliseconds, undefined, { signal, ref: false }).catch(() => undefined)]);
  over.abort();
}
