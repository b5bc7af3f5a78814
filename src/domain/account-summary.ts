/** What entries of the audit trail mean that are about people, scopes and the server: what only auditors read. */

import type { AUDIT_ACTIONS, AuditAction } from './audit-actions.ts';

/** The actions about one of the types of resources. */
export type ActionOn<T extends string> = {
  [A in AuditAction]: (typeof AUDIT_ACTIONS)[A] extends T ? A : never;
}[AuditAction];

export type AccountType = Exclude<
  (typeof AUDIT_ACTIONS)[AuditAction],
  'Node' | 'Configuration' | 'Parameters' | 'CompositeConfiguration'
>;

/** The sentence, in which `NAME` stands for the name of the resource. */
export const ACCOUNT_SENTENCES: Record<ActionOn<AccountType> | 'node.registration_refused', string> = {
  'session.created': 'NAME signed in',
  'session.refused': 'A sign-in as NAME was refused',
  'session.ended': 'NAME signed out',
  'password.changed': 'NAME chose another password',
  'password.reset': 'The password of NAME was reset',
  'token.created': 'The token NAME was made',
  'token.revoked': 'The token NAME was revoked',
  'user.created': 'The user NAME was created',
  'user.updated': 'The user NAME was changed',
  'user.deleted': 'The user NAME was deleted',
  'user.unlocked': 'The user NAME was unlocked',
  'user.roles_changed': 'The roles of NAME were changed',
  'identity.linked': 'NAME was linked to an identity of a provider',
  'identity.removed': 'NAME lost an identity of a provider',
  'federation.created': 'Jobs of a provider may act as NAME',
  'federation.deleted': 'Jobs of a provider may act as NAME no longer',
  'token.exchange_refused': 'A token of a job was refused',
  'group.created': 'The group NAME was created',
  'group.updated': 'The group NAME was changed',
  'group.deleted': 'The group NAME was deleted',
  'group.members_changed': 'The members of NAME were changed',
  'group.roles_changed': 'The roles of NAME were changed',
  'external_mapping.created': 'The group of a provider NAME was mapped',
  'external_mapping.deleted': 'The group of a provider NAME is mapped no longer',
  'role.created': 'The role NAME was created',
  'role.updated': 'The role NAME was changed',
  'role.deleted': 'The role NAME was deleted',
  'registration_key.created': 'A registration key was made',
  'registration_key.updated': 'A registration key was changed',
  'registration_key.revoked': 'A registration key was revoked',
  'node.registration_refused': 'The registration of a node was refused',
  'scope_type.created': 'The scope type NAME was created',
  'scope_type.updated': 'The scope type NAME was changed',
  'scope_type.deleted': 'The scope type NAME was deleted',
  'scope_type.reordered': 'The scope types were put into another order',
  'scope_type.values_reordered': 'The values of the scope type NAME were put into another order',
  'scope_type.enabled': 'The scope type NAME was enabled',
  'scope_type.disabled': 'The scope type NAME was disabled',
  'scope_value.created': 'The scope value NAME was created',
  'scope_value.updated': 'The scope value NAME was changed',
  'scope_value.deleted': 'The scope value NAME was deleted',
  'webhook.created': 'A webhook was created',
  'webhook.updated': 'A webhook was changed',
  'webhook.deleted': 'A webhook was deleted',
  'webhook.redelivered': 'An event was sent to a webhook again',
  'settings.changed': 'The settings of the server were changed',
  'freeze.set': 'A freeze was set',
  'freeze.changed': 'The freeze was changed',
  'freeze.ended': 'The freeze was ended',
  'retention.run': 'A cleanup was run',
  'audit.pruned': 'Old entries of the audit trail were deleted',
};
