/** Why a rollout stands where it stands, by its history. */

import type { RolloutCause, RolloutState } from './rollout.ts';

/** What an entry of the history says. */
interface Entry {
  actorName: string;
  from: RolloutState | null;
  to: RolloutState;
  reason: string;
  cause: RolloutCause | null;
}

/** The reason of a halt that withdrawing the version makes. */
export const VERSION_WITHDRAWN = 'The version is withdrawn.';

/** Null unless it is halted, paused or superseded. */
export function causeOf(
  state: RolloutState,
  history: readonly Entry[],
): { reason: RolloutCause; summary: string } | null {
  if (state === 'Running' || state === 'Completed') return null;
  // A rollout that had halted may have been reverted since.
  const entry = history.findLast(({ from, to }) => to === state && from !== state);
  if (entry === undefined) return null;
  const reason = entry.cause ?? unsaidCause(state, entry);
  return { reason, summary: summaryOf(reason, entry) };
}

/** Commits of earlier releases do not say it, and nor do those that somebody makes with git. */
function unsaidCause(state: RolloutState, { actorName, reason }: Entry): RolloutCause {
  if (state === 'Superseded') return 'Superseded';
  if (reason === VERSION_WITHDRAWN) return 'Withdrawn';
  if (actorName !== 'Hawser') return 'Person';
  return state === 'Halted' ? 'Regressions' : 'Deadline';
}

function summaryOf(cause: RolloutCause, { actorName, to, reason }: Entry): string {
  if (cause === 'Withdrawn')
    return `${actorName} has withdrawn ${reason === VERSION_WITHDRAWN ? 'the version' : 'a parameter file of it'}.`;
  if (cause !== 'Person') return reason;
  return `${actorName} has ${to.toLowerCase()} it${reason === '' ? '.' : `: ${reason}`}`;
}
