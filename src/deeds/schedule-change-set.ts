/** Applies change sets at a time. What is checked when one is scheduled is checked again then, with the rights of then. */

import { type ChangeSetRow, findChangeSet, listDueSets } from '../db/change-sets.ts';
import { freezeLook } from '../db/freeze.ts';
import { DAY, MINUTE, SECOND, toTimestamp } from '../lib/clock.ts';
import { conflict, HawserError, internal, invalidField } from '../lib/errors.ts';
import { type RepeatedWork, repeat } from '../lib/repeated-work.ts';
import { systemActor } from '../security/audit.ts';
import type { Caller } from '../security/caller.ts';
import type { Identifier } from '../security/identify.ts';
import {
  type ApplyingTools,
  type AskedApplication,
  applySet,
  requireApplicable,
} from './apply-change-set.ts';
import { changedMeanwhile } from './change-set-step.ts';
import { changeSet, OPEN, requireEditable } from './propose-change-set.ts';

export const LONGEST_DAYS = 30;

/** Who has scheduled a set, and what of it they had seen, as the row keeps it. */
interface Scheduled {
  userId: string;
  username: string;
  email: string;
  /** Null for a session. */
  tokenId: string | null;
  asked: AskedApplication;
}

/**
 * Has a set applied at a time, if it could be applied now. A schedule that it has already is replaced.
 * @param applyAt epoch milliseconds
 * @throws HawserError invalid for a time that is over, or too far away; as `requireApplicable`
 */
export async function scheduleSet(
  tools: ApplyingTools,
  caller: Caller,
  id: number,
  { applyAt, ...asked }: AskedApplication & { applyAt: number },
): Promise<ChangeSetRow> {
  const { principal, actor } = caller;
  if (applyAt <= actor.at) throw invalidField('/applyAt', 'The time must lie in the future', 'not_in_future');
  if (applyAt > actor.at + LONGEST_DAYS * DAY)
    throw invalidField('/applyAt', `The time must lie at most ${LONGEST_DAYS} days ahead`, 'too_far_ahead');
  const { row } = await requireApplicable(tools, caller, id, asked);
  const { userId, username, email } = principal;
  const scheduled: Scheduled = { userId, username, email, tokenId: actor.tokenId, asked };
  return changeSet(tools, caller, {
    what: 'scheduled',
    find: () => requireSame(tools, row),
    change: () => ({ state: 'Scheduled', apply_at: applyAt, apply_as: JSON.stringify(scheduled) }),
    details: { applyAt: toTimestamp(applyAt) },
    keepsApprovals: true,
  });
}

/**
 * Ends the schedule of a set, which is open again; its approvals stay.
 * @throws HawserError as `requireEditable`; conflict `not_possible` where it is not scheduled
 */
export async function unscheduleSet(tools: ApplyingTools, caller: Caller, id: number): Promise<void> {
  const find = async () => {
    const row = await requireEditable(tools.database.read, caller.principal, id);
    if (row.state !== 'Scheduled')
      throw conflict('not_possible', `The change set is ${row.state}, not Scheduled`);
    return row;
  };
  await find();
  await changeSet(tools, caller, {
    ...{ what: 'updated', find, keepsApprovals: true },
    change: () => OPEN,
    details: { state: 'Open' },
  });
}

/** @throws HawserError conflict `not_possible` where somebody has changed it since */
async function requireSame(
  { database }: Pick<ApplyingTools, 'database'>,
  { id, tip }: ChangeSetRow,
): Promise<ChangeSetRow> {
  const row = await findChangeSet(database.read, id);
  // Whatever is done with a set is a commit of its branch.
  if (row?.tip !== tip) throw changedMeanwhile();
  return row;
}

/** So often the leader looks for sets whose time has come. */
const INTERVAL = 5 * SECOND;
/** For so long it is tried again where the server cannot apply one, such as while its disk is full. */
const PATIENCE = 10 * MINUTE;

export type ScheduleTools = ApplyingTools & { identifier: Identifier };

/** Applies the sets whose time has come: at once those whose time came while nobody led. */
export function startChangeSets(tools: ScheduleTools): RepeatedWork {
  const { database, clock, log } = tools;
  /** When each set was tried first, in epoch milliseconds, of those that the server could not apply. */
  const tried = new Map<number, number>();
  return repeat(
    INTERVAL,
    async (signal) => {
      for (const row of await listDueSets(database.read, clock.now())) {
        if (signal.aborted) return;
        try {
          await applyNow(tools, row);
        } catch (error) {
          const now = clock.now();
          const first = tried.get(row.id) ?? now;
          if (isTransient(error) && now - first < PATIENCE) {
            tried.set(row.id, first);
            log.warn(
              { err: error, changeSet: row.id },
              'a change set could not be applied at its time; trying again',
            );
            continue;
          }
          await fail(tools, row, error);
        }
        tried.delete(row.id);
      }
    },
    (error) => log.error({ err: error }, 'the change sets whose time has come could not be applied'),
  );
}

async function applyNow(tools: ScheduleTools, row: ChangeSetRow): Promise<void> {
  const { identifier, clock } = tools;
  const { asked, ...by }: Scheduled = JSON.parse(row.apply_as ?? '');
  const at = clock.now();
  const principal = await identifier.later(by, at);
  const { userId: id, username: name } = principal;
  const requireUnfrozen = freezeLook(() => clock.now());
  const request = { tokenId: by.tokenId, address: null, requestId: null };
  const caller: Caller = { principal, actor: { type: 'User', id, name, ...request, at, requireUnfrozen } };
  await applySet(tools, caller, row.id, asked, row);
}

/** What is about the server, and not about the set. */
const OF_THE_SERVER: ReadonlySet<string> = new Set([
  'rate_limited',
  'internal',
  'unavailable',
  'storage_full',
]);

const isTransient = (error: unknown) => !(error instanceof HawserError) || OF_THE_SERVER.has(error.kind);

/** What stopped a scheduled set, as the row keeps it. */
export interface KeptFailure {
  code: string;
  message: string;
  /** The place of the deed that could not be carried out; null of the whole set. */
  deed: number | null;
}

/** Nothing of the set was done. One that was edited or called off meanwhile is not failed. */
async function fail(tools: ScheduleTools, row: ChangeSetRow, error: unknown): Promise<void> {
  const { username, email }: Scheduled = JSON.parse(row.apply_as ?? '');
  const failure = failureOf(error);
  const { code, message } = failure;
  const teller = { principal: { username, email }, actor: systemActor(tools.clock.now()) };
  try {
    await changeSet(tools, teller, {
      what: 'failed',
      find: () => requireSame(tools, row),
      change: () => ({ state: 'Failed', failure: JSON.stringify(failure), apply_as: null }),
      details: { code, message },
      keepsApprovals: true,
    });
  } catch (refused) {
    if (!(refused instanceof HawserError && refused.code === 'not_possible')) throw refused;
    return;
  }
  tools.log.warn({ err: error, changeSet: row.id }, 'a scheduled change set could not be applied');
}

function failureOf(error: unknown): KeptFailure {
  const untold = internal('internal_error', 'The server could not apply it; its log says why');
  const { code, message, data } = error instanceof HawserError ? error : untold;
  const [first] = (data['errors'] ?? []) as readonly { path: string }[];
  const place = /^\/deeds\/(\d+)/.exec(first?.path ?? '')?.[1];
  return { code, message, deed: place === undefined ? null : Number(place) };
}
