/** Says in a sentence what an entry of the audit trail means. */

import { ACCOUNT_SENTENCES, type ActionOn } from './account-summary.ts';
import { AUDIT_ACTIONS, type AuditAction } from './audit-actions.ts';

/** The kinds of resources whose entries are shown to whoever may read the resource. */
export const ACTIVITY_TYPES = ['Node', 'Configuration', 'Parameters', 'CompositeConfiguration'] as const;
export type ActivityType = (typeof ACTIVITY_TYPES)[number];

type ActivityAction = Exclude<
  ActionOn<ActivityType>,
  // It is about no node, and it says who was refused.
  'node.registration_refused'
>;

/** The details of an entry. Old entries may lack some. */
type Details = Readonly<Record<string, unknown>>;
type Sentence = (name: string, details: Details) => string;

const said = (value: unknown, otherwise: string): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : otherwise;

const versionOf = (details: Details) => said(details['version'], 'of unknown number');
const version: (end: string) => Sentence = (end) => (name, details) =>
  `Version ${versionOf(details)} of ${name} ${end}`;
const draft: (end: string) => Sentence = (end) => (name, details) =>
  `Draft ${versionOf(details)} of ${name} ${end}`;
const rolloutMoved: Sentence = (name, details) =>
  `Rollout of version ${versionOf(details)} of ${name}: ${said(details['what'], 'changed')}`;
const whole: (end: string) => Sentence = (end) => (name) => `${name} ${end}`;

const path = (details: Details) => said(details['path'], 'A file');
const tag = (details: Details) => `${said(details['scopeType'], 'tag')} ${said(details['scopeValue'], '')}`;
const child = (details: Details) => said(details['childConfigurationName'], 'A child');

/** Holders are not named, because only those who manage the resource may know them. */
const given: Sentence = (name, details) =>
  `A ${said(details['principalType'], 'user').toLowerCase()} was given ${said(details['level'], 'a level')} on ${name}`;
const taken: Sentence = (name, details) =>
  `A ${said(details['principalType'], 'user').toLowerCase()} lost ${said(details['before'], 'a level')} on ${name}`;

/** `Environment/production 1.2.0`, or `Default 1.2.0`. */
const file = (details: Details) => {
  const value = said(details['scopeValue'], '');
  const scope = `${said(details['scopeType'], 'A scope')}${value === '' ? '' : `/${value}`}`;
  return `${scope} ${versionOf(details)}`;
};
const parameters: (end: string) => Sentence = (end) => (name, details) =>
  `The parameters ${file(details)} of ${name} were ${end}`;
const ofParameters: (sentence: Sentence) => Sentence = (sentence) => (name, details) =>
  sentence(`the parameters of ${name}`, details);

function assigned(name: string, details: Details): string {
  const { version: exact, majorVersion, prereleaseChannel } = details;
  const limits = [
    ...(typeof exact === 'string' ? [`exactly ${exact}`] : []),
    ...(typeof majorVersion === 'number' ? [`major version ${majorVersion}`] : []),
    ...(typeof prereleaseChannel === 'string' ? [`prereleases from ${prereleaseChannel}`] : []),
  ];
  const limit = limits.length === 0 ? '' : ` (${limits.join(', ')})`;
  return `${said(details['configurationName'], 'A configuration')}${limit} was assigned to ${name}`;
}

const SENTENCES: Record<ActivityAction, Sentence> = {
  'node.registered': whole('was registered'),
  'node.reregistered': whole('was registered again'),
  'node.deleted': whole('was deleted'),
  'node.certificate_announced': whole('announced its next certificate'),
  'node.certificate_rotated': whole('uses its new certificate'),
  'node.certificate_awaited': whole('had replaced its certificate at the server that it comes from'),
  'node.certificate_bound': whole('called for the first time since it came from another server'),
  'node.lcm_config_changed': (name) => `The settings of the agent on ${name} were changed`,
  'node.configuration_assigned': assigned,
  'node.configuration_unassigned': (name, details) =>
    `${said(details['configurationName'], 'The configuration')} was taken from ${name}`,
  'node.tagged': (name, details) => `${name} was tagged with ${tag(details)}`,
  'node.untagged': (name, details) => `The tag ${tag(details)} was taken from ${name}`,
  'configuration.created': whole('was created'),
  'configuration.adopted': whole('was found among the repositories'),
  'configuration.updated': (name) => `The description or the flags of ${name} were changed`,
  'configuration.deleted': whole('was deleted'),
  'configuration.settings_changed': (name) => `The settings of ${name} were changed`,
  'configuration.retention_changed': (name) => `The retention of ${name} was changed`,
  'configuration.version_created': draft('was made'),
  'configuration.version_replaced': (name, details) =>
    `The files of draft ${versionOf(details)} of ${name} were replaced`,
  'configuration.file_saved': (name, details) =>
    `${path(details)} was saved in draft ${versionOf(details)} of ${name}`,
  'configuration.file_deleted': (name, details) =>
    `${path(details)} was deleted from draft ${versionOf(details)} of ${name}`,
  'configuration.version_published': version('was published'),
  'configuration.version_deleted': version('was deleted'),
  'configuration.version_withdrawn': version('was withdrawn'),
  'configuration.version_offered_again': version('is offered again'),
  'configuration.rollout_started': version('began to roll out'),
  'configuration.rollout_moved': rolloutMoved,
  'configuration.granted': given,
  'configuration.grant_revoked': taken,
  'parameters.version_saved': parameters('saved as a draft'),
  'parameters.version_published': parameters('published'),
  'parameters.version_deleted': parameters('deleted'),
  'parameters.schema_uploaded': (name, details) =>
    `A schema of the parameters of ${name} ${versionOf(details)} was uploaded`,
  'parameters.granted': ofParameters(given),
  'parameters.grant_revoked': ofParameters(taken),
  'composite.created': whole('was created'),
  'composite.adopted': whole('was found among the repositories'),
  'composite.deleted': whole('was deleted'),
  'composite.version_created': draft('was made'),
  'composite.version_published': version('was published'),
  'composite.version_deleted': version('was deleted'),
  'composite.version_withdrawn': version('was withdrawn'),
  'composite.version_offered_again': version('is offered again'),
  'composite.rollout_started': version('began to roll out'),
  'composite.rollout_moved': rolloutMoved,
  'composite.child_added': (name, details) =>
    `${child(details)} was added to draft ${versionOf(details)} of ${name}`,
  'composite.child_changed': (name, details) =>
    `${child(details)} was changed in draft ${versionOf(details)} of ${name}`,
  'composite.child_removed': (name, details) =>
    `${child(details)} was removed from draft ${versionOf(details)} of ${name}`,
  'composite.granted': given,
  'composite.grant_revoked': taken,
};

const UNNAMED: Record<ActivityType, string> = {
  Node: 'a deleted node',
  Configuration: 'a deleted configuration',
  Parameters: 'a deleted configuration',
  CompositeConfiguration: 'a deleted composite configuration',
};

/**
 * The sentence has no addresses, no secrets, and nothing of the details beyond names, versions, paths and levels.
 * @param name of the resource; null where nothing knows it any more
 */
export function summarize(action: string, name: string | null, details: Details): string {
  const type = AUDIT_ACTIONS[action as AuditAction] as ActivityType;
  const sentence = SENTENCES[action as ActivityAction] as Sentence | undefined;
  const ofAccount = ACCOUNT_SENTENCES[action as keyof typeof ACCOUNT_SENTENCES] as string | undefined;
  const text =
    sentence?.(name ?? UNNAMED[type], details) ??
    ofAccount?.replace('NAME', () => name ?? 'somebody or something that is gone') ??
    action;
  // A name stays as it is written.
  return name === null ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}
