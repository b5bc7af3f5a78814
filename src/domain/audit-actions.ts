/**
 * What may be done, by what it is done to: the actions that the audit trail records, the sentence that people read, and
 * whether others are told of it by an event. Whether a freeze refuses it depends on the request, so routes say that.
 */

/** What an action means. */
export interface Meaning<T extends string = string> {
  /** The type of the resource. */
  on: T;
  /** The sentence, in which each word in braces stands for something of the entry (`activity-summary.ts`). */
  says: string;
  /** Absent where there is no event of it. By itself the event has the type of the action. */
  told?: 'byItself' | 'byRollout';
}

type Said = string | Omit<Meaning, 'on'>;

const told = (says: string): Said => ({ says, told: 'byItself' });
const toldOfRollout = (says: string): Said => ({ says, told: 'byRollout' });

function on<T extends string, A extends string>(type: T, sentences: Record<A, Said>): Record<A, Meaning<T>> {
  const meanings = Object.entries<Said>(sentences).map(([action, said]) => [
    action,
    { on: type, ...(typeof said === 'string' ? { says: said } : said) },
  ]);
  return Object.fromEntries(meanings) as Record<A, Meaning<T>>;
}

export const AUDIT_ACTIONS = {
  ...on('User', {
    'session.created': '{name} signed in',
    'session.refused': 'A sign-in as {name} was refused',
    'session.ended': '{name} signed out',
    'password.changed': '{name} chose another password',
    'password.reset': 'The password of {name} was reset',
    'user.created': 'The user {name} was created',
    'user.updated': 'The user {name} was changed',
    'user.deleted': 'The user {name} was deleted',
    'user.unlocked': 'The user {name} was unlocked',
    'user.roles_changed': 'The roles of {name} were changed',
    'identity.linked': '{name} was linked to an identity of a provider',
    'identity.removed': '{name} lost an identity of a provider',
    'federation.created': 'Jobs of a provider may act as {name}',
    'federation.deleted': 'Jobs of a provider may act as {name} no longer',
    'token.exchange_refused': 'A token of a job was refused',
  }),
  ...on('Token', {
    'token.created': 'The token {name} was made',
    'token.revoked': 'The token {name} was revoked',
  }),
  ...on('Group', {
    'group.created': 'The group {name} was created',
    'group.updated': 'The group {name} was changed',
    'group.deleted': 'The group {name} was deleted',
    'group.members_changed': 'The members of {name} were changed',
    'group.roles_changed': 'The roles of {name} were changed',
  }),
  ...on('ExternalMapping', {
    'external_mapping.created': 'The group of a provider {name} was mapped',
    'external_mapping.deleted': 'The group of a provider {name} is mapped no longer',
  }),
  ...on('Role', {
    'role.created': 'The role {name} was created',
    'role.updated': 'The role {name} was changed',
    'role.deleted': 'The role {name} was deleted',
  }),
  ...on('RegistrationKey', {
    'registration_key.created': 'A registration key was made',
    'registration_key.updated': 'A registration key was changed',
    'registration_key.revoked': 'A registration key was revoked',
  }),
  ...on('ScopeType', {
    'scope_type.created': 'The scope type {name} was created',
    'scope_type.updated': 'The scope type {name} was changed',
    'scope_type.deleted': 'The scope type {name} was deleted',
    'scope_type.reordered': 'The scope types were put into another order',
    'scope_type.values_reordered': 'The values of the scope type {name} were put into another order',
    'scope_type.enabled': 'The scope type {name} was enabled',
    'scope_type.disabled': 'The scope type {name} was disabled',
  }),
  ...on('ScopeValue', {
    'scope_value.created': 'The scope value {name} was created',
    'scope_value.updated': 'The scope value {name} was changed',
    'scope_value.deleted': 'The scope value {name} was deleted',
  }),
  ...on('Configuration', {
    'configuration.created': told('{name} was created'),
    'configuration.adopted': '{name} was found among the repositories',
    'configuration.updated': 'The description or the flags of {name} were changed',
    'configuration.deleted': told('{name} was deleted'),
    'configuration.settings_changed': 'The settings of {name} were changed',
    'configuration.retention_changed': 'The retention of {name} was changed',
    'configuration.version_created': 'Draft {version} of {name} was made',
    'configuration.version_replaced': 'The files of draft {version} of {name} were replaced',
    'configuration.file_saved': '{path} was saved in draft {version} of {name}',
    'configuration.file_deleted': '{path} was deleted from draft {version} of {name}',
    'configuration.version_published': told('Version {version} of {name} was published'),
    'configuration.version_deleted': 'Version {version} of {name} was deleted',
    'configuration.version_withdrawn': told('Version {version} of {name} was withdrawn'),
    'configuration.version_offered_again': told('Version {version} of {name} is offered again'),
    'configuration.rollout_started': toldOfRollout('{Rolled} of {name} began to roll out'),
    'configuration.rollout_moved': toldOfRollout('Rollout of {rolled} of {name}: {move}'),
    'configuration.granted': 'A {holder} was given {level} on {name}',
    'configuration.grant_revoked': 'A {holder} lost {lostLevel} on {name}',
    'secret.revealed': told('A secret of {name} was seen in the clear'),
  }),
  ...on('Parameters', {
    'parameters.version_saved': 'The parameters {file} of {name} were saved as a draft',
    'parameters.version_published': told('The parameters {file} of {name} were published'),
    'parameters.version_deleted': 'The parameters {file} of {name} were deleted',
    'parameters.version_withdrawn': told('The parameters {file} of {name} were withdrawn'),
    'parameters.version_offered_again': told('The parameters {file} of {name} are offered again'),
    'parameters.schema_uploaded': 'A schema of the parameters of {name} {version} was uploaded',
    'parameters.granted': 'A {holder} was given {level} on the parameters of {name}',
    'parameters.grant_revoked': 'A {holder} lost {lostLevel} on the parameters of {name}',
  }),
  ...on('CompositeConfiguration', {
    'composite.created': told('{name} was created'),
    'composite.adopted': '{name} was found among the repositories',
    'composite.deleted': told('{name} was deleted'),
    'composite.settings_changed': 'The settings of {name} were changed',
    'composite.version_created': 'Draft {version} of {name} was made',
    'composite.version_published': told('Version {version} of {name} was published'),
    'composite.version_deleted': 'Version {version} of {name} was deleted',
    'composite.version_withdrawn': told('Version {version} of {name} was withdrawn'),
    'composite.version_offered_again': told('Version {version} of {name} is offered again'),
    'composite.rollout_started': toldOfRollout('Version {version} of {name} began to roll out'),
    'composite.rollout_moved': toldOfRollout('Rollout of version {version} of {name}: {move}'),
    'composite.child_added': '{child} was added to draft {version} of {name}',
    'composite.child_changed': '{child} was changed in draft {version} of {name}',
    'composite.child_removed': '{child} was removed from draft {version} of {name}',
    'composite.granted': 'A {holder} was given {level} on {name}',
    'composite.grant_revoked': 'A {holder} lost {lostLevel} on {name}',
  }),
  ...on('Node', {
    'node.expected': '{name} is expected',
    'node.registered': told('{name} was registered'),
    'node.reregistered': '{name} was registered again',
    'node.registration_refused': 'The registration of a node was refused',
    'node.deleted': told('{name} was deleted'),
    'node.certificate_announced': '{name} announced its next certificate',
    'node.certificate_rotated': '{name} uses its new certificate',
    'node.certificate_awaited': '{name} had replaced its certificate at the server that it comes from',
    'node.certificate_bound': '{name} called for the first time since it came from another server',
    'node.lcm_config_changed': 'The settings of the agent on {name} were changed',
    'node.configuration_assigned': '{assignment} was assigned to {name}',
    'node.configuration_unassigned': '{configuration} was taken from {name}',
    'node.tagged': '{name} was tagged with {tag}',
    'node.untagged': 'The tag {tag} was taken from {name}',
  }),
  ...on('ChangeSet', {
    'change_set.created': told('The change set {id}, {title}, was proposed'),
    'change_set.updated': told('The change set {id}, {title}, was edited'),
    'change_set.approved': told('The change set {id}, {title}, was approved'),
    'change_set.approval_taken_back': 'An approval of the change set {id}, {title}, was taken back',
    'change_set.overridden': told('The change set {id}, {title}, was applied past its approvals'),
    'change_set.scheduled': told('The change set {id}, {title}, is to be applied at {applyAt}'),
    'change_set.failed': told('The change set {id}, {title}, could not be applied at its time'),
    'change_set.applied': told('The change set {id}, {title}, was applied'),
    'change_set.discarded': told('The change set {id}, {title}, was discarded'),
  }),
  ...on('Webhook', {
    'webhook.created': 'A webhook was created',
    'webhook.updated': 'A webhook was changed',
    'webhook.deleted': 'A webhook was deleted',
    'webhook.redelivered': 'An event was sent to a webhook again',
  }),
  ...on('Settings', {
    'settings.changed': 'The settings of the server were changed',
    'secrets.key_named': 'Secrets are encrypted by another key',
    'freeze.set': 'A freeze was set',
    'freeze.changed': 'The freeze was changed',
    'freeze.ended': 'The freeze was ended',
  }),
  ...on('Retention', {
    'retention.run': 'A cleanup was run',
  }),
  ...on('Audit', {
    'audit.pruned': 'Old entries of the audit trail were deleted',
  }),
};

export type AuditAction = keyof typeof AUDIT_ACTIONS;

/** The meaning of an action, unless it is one of another release. */
export function meaningOf(action: string): Meaning | undefined {
  return Object.hasOwn(AUDIT_ACTIONS, action) ? AUDIT_ACTIONS[action as AuditAction] : undefined;
}

/** The names under which the server itself acts. */
export const SYSTEM_NAMES = { server: 'hawser', importer: 'import-opendsc' } as const;
