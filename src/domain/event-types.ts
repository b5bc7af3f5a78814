/** The events that others are told of: their types, what each is about, and the globs by which they are chosen. */

import { AUDIT_ACTIONS, type AuditAction, meaningOf } from './audit-actions.ts';
import type { RolloutRecord, RolloutState } from './rollout.ts';

type Details = Readonly<Record<string, unknown>>;

/** What events are about, by the type of the resource. */
const SUBJECTS: Readonly<Record<string, (details: Details, resourceId: string | null) => string>> = {
  Configuration: ({ name }) => `configurations/${name}`,
  Parameters: ({ name }) => `configurations/${name}`,
  CompositeConfiguration: ({ name }) => `composite-configurations/${name}`,
  Node: (_details, id) => `nodes/${id}`,
  ChangeSet: ({ id }) => `change-sets/${id}`,
};

const ROLLOUT_EVENTS = [
  ...['rollout.started', 'rollout.step_opened', 'rollout.approved', 'rollout.paused', 'rollout.resumed'],
  ...['rollout.halted', 'rollout.reverted', 'rollout.completed', 'rollout.superseded'],
] as const;

type RolloutEventType = (typeof ROLLOUT_EVENTS)[number];

/** Events of the audit trail have the type of the action, those of rollouts one of their own. */
export type EventType = AuditAction | 'node.status_changed' | RolloutEventType;

/** Whatever halts a rollout, and whatever its holders get: who waits for halts must miss none. */
const EVENTS_OF_STATES: Record<RolloutState, RolloutEventType> = {
  Running: 'rollout.resumed',
  Paused: 'rollout.paused',
  Halted: 'rollout.halted',
  Completed: 'rollout.completed',
  Superseded: 'rollout.superseded',
};

/** What others are told of a transition, by the records before and after it. */
export function rolloutEvent(before: RolloutRecord, after: RolloutRecord): RolloutEventType {
  if (after.state !== before.state) return EVENTS_OF_STATES[after.state];
  // What is halted can only be reverted, and what goes on can only open a step or be approved.
  if (after.state === 'Halted') return 'rollout.reverted';
  return after.step === before.step ? 'rollout.approved' : 'rollout.step_opened';
}

export const EVENT_TYPES: readonly string[] = [
  ...Object.keys(AUDIT_ACTIONS).filter((action) => meaningOf(action)?.told === 'byItself'),
  'node.status_changed',
  ...ROLLOUT_EVENTS,
];

/** What the event of an entry in the audit trail is about; null where others are told nothing of such entries. */
export function subjectOf(
  action: AuditAction,
  details: Details,
  resourceId: string | null,
): { type: EventType; subject: string } | null {
  const { on, told } = AUDIT_ACTIONS[action];
  if (told === undefined) return null;
  const subject = SUBJECTS[on]?.(details, resourceId) ?? '';
  if (told === 'byItself') return { type: action, subject };
  // The member `event` of the details has the type of the event; a start has none.
  const { event = 'rollout.started' } = details;
  return { type: event as RolloutEventType, subject };
}

/** At most one star, so that nobody can write a glob that takes long to match. */
const GLOB = /^[a-z_.]*\*?[a-z_.]*$/;

/** Whether the text is a glob that matches the type of some event. A star stands for any characters, dots too. */
export function isEventGlob(text: string): boolean {
  return text.length <= 100 && GLOB.test(text) && EVENT_TYPES.some((type) => matchesGlob(text, type));
}

/** Whether a text is as a glob says, in which each star stands for any characters. The parts are looked for one by one. */
export function matchesGlob(glob: string, text: string): boolean {
  const [start = '', ...parts] = glob.split('*');
  const end = parts.pop();
  if (end === undefined) return text === start;
  let at = start.length;
  for (const part of parts) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return text.startsWith(start) && text.endsWith(end) && text.length >= at + end.length;
}
