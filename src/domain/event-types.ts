/** The events that others are told of: their types, what each is about, and the globs by which they are chosen. */

import type { AuditAction } from './audit-actions.ts';

import type { RolloutRecord, RolloutState } from './rollout.ts';

type Details = Readonly<Record<string, unknown>>;
type SubjectOf = (details: Details, resourceId: string | null) => string;

const configuration: SubjectOf = ({ name }) => `configurations/${name}`;
const composite: SubjectOf = ({ name }) => `composite-configurations/${name}`;
const node: SubjectOf = (_details, id) => `nodes/${id}`;

/** The entries of the audit trail that others are told of too. The type of the event is the action. */
const AUDITED_EVENTS = {
  'configuration.created': configuration,
  'configuration.deleted': configuration,
  'configuration.version_published': configuration,
  'configuration.version_withdrawn': configuration,
  'configuration.version_offered_again': configuration,
  'composite.created': composite,
  'composite.deleted': composite,
  'composite.version_published': composite,
  'composite.version_withdrawn': composite,
  'composite.version_offered_again': composite,
  'node.registered': node,
  'node.deleted': node,
} as const satisfies Partial<Record<AuditAction, SubjectOf>>;

const ROLLOUT_EVENTS = [
  ...['rollout.started', 'rollout.step_opened', 'rollout.approved', 'rollout.paused', 'rollout.resumed'],
  ...['rollout.halted', 'rollout.reverted', 'rollout.completed', 'rollout.superseded'],
] as const;

type RolloutEventType = (typeof ROLLOUT_EVENTS)[number];

/** A rollout is about its configuration or composite. */
export type EventType = keyof typeof AUDITED_EVENTS | 'node.status_changed' | RolloutEventType;

/** The entries about rollouts. The member `event` of their details has the type of the event; a start has none. */
const ROLLOUT_ENTRIES: Partial<Record<AuditAction, SubjectOf>> = {
  'configuration.rollout_started': configuration,
  'configuration.rollout_moved': configuration,
  'composite.rollout_started': composite,
  'composite.rollout_moved': composite,
};

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
  ...Object.keys(AUDITED_EVENTS),
  'node.status_changed',
  ...ROLLOUT_EVENTS,
];

/** What the event of an entry in the audit trail is about; null where others are told nothing of such entries. */
export function subjectOf(
  action: AuditAction,
  details: Details,
  resourceId: string | null,
): { type: EventType; subject: string } | null {
  const ofRollout = ROLLOUT_ENTRIES[action];
  if (ofRollout) {
    const { event = 'rollout.started' } = details;
    return { type: event as RolloutEventType, subject: ofRollout(details, resourceId) };
  }
  if (!isAuditedEvent(action)) return null;
  return { type: action, subject: AUDITED_EVENTS[action](details, resourceId) };
}

const isAuditedEvent = (action: AuditAction): action is AuditAction & keyof typeof AUDITED_EVENTS =>
  action in AUDITED_EVENTS;

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
