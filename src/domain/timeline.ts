/** The timeline of a node: the kinds of its entries, and what each entry says in a sentence. */

import type { AuditAction } from './audit-actions.ts';

export const TIMELINE_KINDS = [
  ...(['Status', 'LcmStatus', 'Assignment', 'Tag', 'Settings', 'Certificate'] as const),
  ...(['Offered', 'Running', 'Report'] as const),
] as const;
export type TimelineKind = (typeof TIMELINE_KINDS)[number];

/** The entries of the audit trail that the timeline of their node shows. */
export const DEEDS_ON_NODES: Partial<Record<AuditAction, TimelineKind>> = {
  'node.configuration_assigned': 'Assignment',
  'node.configuration_unassigned': 'Assignment',
  'node.tagged': 'Tag',
  'node.untagged': 'Tag',
  'node.lcm_config_changed': 'Settings',
  'node.expected': 'Certificate',
  'node.registered': 'Certificate',
  'node.reregistered': 'Certificate',
  'node.certificate_announced': 'Certificate',
  'node.certificate_rotated': 'Certificate',
  'node.certificate_awaited': 'Certificate',
  'node.certificate_bound': 'Certificate',
};

/** What a node is offered or runs, as far as its names are known. */
export interface Had {
  checksum: string;
  configurationName: string | null;
  version: string | null;
}

const nameOf = ({ configurationName, version, checksum }: Had): string =>
  configurationName === null ? `what has the checksum ${checksum}` : `${configurationName} ${version}`;

export function offeredSentence(fqdn: string, before: Had | null, after: Had | null): string {
  if (after === null) return `${fqdn} is offered nothing any more`;
  if (before === null) return `${fqdn} is offered ${nameOf(after)}`;
  const isSame = before.configurationName === after.configurationName && before.version === after.version;
  if (isSame) return `${fqdn} is offered other content of ${nameOf(after)}, such as other parameters`;
  return `${fqdn} is offered ${nameOf(after)} in place of ${nameOf(before)}`;
}

export function runningSentence(fqdn: string, after: Had): string {
  return `${fqdn} has ${nameOf(after)}`;
}

export const statusSentence = (fqdn: string, status: string): string => `${fqdn} became ${status}`;
export const lcmSentence = (fqdn: string, status: string): string =>
  `The agent on ${fqdn} said that it is ${status}`;

export function reportSentence(
  fqdn: string,
  {
    operation,
    inDesiredState,
    hadErrors,
  }: { operation: string; inDesiredState: boolean | null; hadErrors: boolean },
): string {
  const state =
    inDesiredState === null
      ? 'says nothing of the desired state'
      : `says that it is ${inDesiredState ? '' : 'not '}in its desired state`;
  return `A ${operation} on ${fqdn} ${hadErrors ? 'had errors' : state}`;
}

/** What a change of an offer looks like, and what is known of the deeds before it. */
export interface OfferChange {
  before: Had | null;
  after: Had | null;
  /** Tells whether the node gets parameters of this scope, or got them once. */
  hasScope(scopeType: string, value: string | null): boolean;
}

type Details = Readonly<Record<string, unknown>>;
type Fits = (details: Details, change: OfferChange, isOwn: boolean) => boolean;

const isVersion = (details: Details, had: Had | null) => details['version'] === had?.version;
/** A composite changes with the versions of its children, of which the details of the entry tell nothing here. */
const gives: Fits = (details, { after }, isOwn) => !isOwn || isVersion(details, after);
const takes: Fits = (details, { before }, isOwn) => !isOwn || isVersion(details, before);
const either: Fits = (...given) => gives(...given) || takes(...given);
const always: Fits = () => true;
const isSameVersion = ({ before, after }: OfferChange) =>
  before?.configurationName === after?.configurationName && before?.version === after?.version;
const withinVersion: Fits = (_details, change) => isSameVersion(change);
const ofScope: Fits = (details, change) =>
  isSameVersion(change) &&
  change.hasScope(
    String(details['scopeType']),
    typeof details['scopeValue'] === 'string' ? details['scopeValue'] : null,
  );

/** Parameter files that roll out change what nodes get of the version that they have. */
const ofRollout =
  (fits: Fits): Fits =>
  (details, change, isOwn) =>
    fits(details, change, isOwn) || (hasFiles(details) && isSameVersion(change));
const hasFiles = ({ version, parameters }: Details) =>
  version === null || (Array.isArray(parameters) && parameters.length > 0);

/** The deeds that change what nodes are offered, and which changes each may have caused. */
const CAUSES: Partial<Record<AuditAction, Fits>> = {
  'node.configuration_assigned': always,
  'node.configuration_unassigned': always,
  // A tag may also open a rollout, which `findCause` takes for the last resort.
  'node.tagged': withinVersion,
  'node.untagged': withinVersion,
  'configuration.version_published': gives,
  'configuration.version_withdrawn': takes,
  'configuration.version_deleted': takes,
  'configuration.version_offered_again': gives,
  'configuration.rollout_started': ofRollout(gives),
  'configuration.rollout_moved': ofRollout(either),
  'configuration.updated': withinVersion,
  'configuration.deleted': always,
  'composite.version_published': gives,
  'composite.version_withdrawn': takes,
  'composite.version_deleted': takes,
  'composite.version_offered_again': gives,
  'composite.rollout_started': gives,
  'composite.rollout_moved': either,
  'composite.deleted': always,
  'parameters.version_published': ofScope,
  'parameters.version_deleted': ofScope,
  'parameters.version_withdrawn': ofScope,
  'parameters.version_offered_again': ofScope,
  'scope_type.reordered': withinVersion,
  'scope_type.enabled': withinVersion,
  'scope_type.disabled': withinVersion,
  'scope_type.updated': withinVersion,
  'scope_type.deleted': withinVersion,
  'scope_value.updated': withinVersion,
  'scope_value.deleted': withinVersion,
};

export const CAUSING_ACTIONS: readonly string[] = Object.keys(CAUSES);

/** Whether an entry of the audit trail may have caused a change. @param isOwn it is about what the node is offered as a whole */
export function mayCause(action: string, details: Details, change: OfferChange, isOwn: boolean): boolean {
  return CAUSES[action as AuditAction]?.(details, change, isOwn) ?? false;
}
