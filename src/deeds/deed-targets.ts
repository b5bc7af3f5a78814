/** What each deed of a change set is done to, and the right that it needs. */

import type { Db } from '../db/database.ts';
import type { GrantKind, GrantLevel, Permission } from '../domain/permissions.ts';
import type { RepositoryRef } from '../git/types.ts';
import type { GrantedResource } from '../security/access.ts';
import { grantedPart, grantedResource } from '../security/authorize.ts';
import { requirePermission, type UserPrincipal } from '../security/principal.ts';
import type { GitStore } from '../versions/store.ts';
import { PERMISSION_OF } from './bulk.ts';
import type { Change } from './changes.ts';
import type { FormerState } from './former-state.ts';

/** What a deed is done to: a configuration, a composite, or the parameters of a configuration. */
export type Targeted = { on: GrantKind; resource: GrantedResource } | null;

/** The level that a deed on a version needs. @param former lets who may publish take back what a set has published */
export function levelOf(change: Change, former: FormerState): GrantLevel {
  const takesBack = /^(?:Withdraw|Restore)/.test(change.kind);
  if (!takesBack) return 'Modify';
  return change.kind.startsWith('Withdraw') && former.isPublished(change) ? 'Modify' : 'Manage';
}

/**
 * Finds what a deed is done to, and checks what its route checks before it.
 * @throws HawserError forbidden; not_found for what the caller may not read
 */
export async function targetOf(
  db: Db,
  principal: UserPrincipal,
  change: Change,
  former: FormerState,
): Promise<Targeted> {
  const granted = async (on: 'configuration' | 'composite', level: GrantLevel, name: string) => {
    return { on, resource: await grantedResource(db, principal, on, level, { name }) };
  };
  const permission = permissionOf(change);
  if (permission !== null) requirePermission(principal, permission);
  switch (change.kind) {
    case 'PublishConfiguration':
    case 'SetServerManaged':
      return granted('configuration', 'Modify', change.configurationName);
    case 'PublishComposite':
      return granted('composite', 'Modify', change.compositeName);
    case 'Withdraw':
    case 'Restore':
      return typeof change.compositeName === 'string'
        ? granted('composite', levelOf(change, former), change.compositeName)
        : granted('configuration', levelOf(change, former), change.configurationName ?? '');
    case 'StartRollout': {
      const { configurationName, compositeName, version, parameters } = change;
      if (typeof compositeName === 'string') return granted('composite', 'Modify', compositeName);
      const name = configurationName ?? '';
      if ((parameters?.length ?? 0) > 0)
        await grantedPart(db, principal, { level: 'Modify', part: 'any' }, { name });
      return granted('configuration', typeof version === 'string' ? 'Modify' : 'Read', name);
    }
    case 'PublishParameters':
    case 'SetParameters':
    case 'WithdrawParameters':
    case 'RestoreParameters': {
      const name = { name: change.configurationName };
      const level = levelOf(change, former);
      return { on: 'parameters', resource: await grantedPart(db, principal, { level, part: 'any' }, name) };
    }
    case 'SetSettings':
      return granted('configuration', 'Manage', change.configurationName);
    case 'SetProtection': {
      const { configurationName, compositeName } = change.on;
      if (typeof configurationName === 'string') return granted('configuration', 'Manage', configurationName);
      if (typeof compositeName === 'string') return granted('composite', 'Manage', compositeName);
    }
  }
  return null;
}

/** What a deed needs that names no configuration and no composite, or needs beside those; null for nothing. */
export function permissionOf(change: Change): Permission | null {
  switch (change.kind) {
    case 'ReorderScopeTypes':
    case 'EnableScopeType':
    case 'DisableScopeType':
      return 'scopes.admin-override';
    case 'StartRollout':
      return 'rollouts.manage';
    case 'SetProtection':
      return typeof change.on.scopeValueId === 'string' ? 'scopes.admin-override' : null;
    case 'Assign':
    case 'Unassign':
    case 'Tag':
    case 'Untag':
    case 'SetTags':
    case 'SetLcmConfig':
      return PERMISSION_OF[change.kind];
    default:
      return null;
  }
}

/** The repositories that a deed writes to. A rollout of the configuration decides for its parameter files too. */
export async function repositoriesOf(
  store: Pick<GitStore, 'has'>,
  change: Change,
  target: Targeted,
): Promise<RepositoryRef[]> {
  if (target === null) return [];
  const { name } = target.resource;
  if (target.on === 'composite') return [{ kind: 'composites', name }];
  const [configuration, parameters] = [
    { kind: 'configurations', name } as const,
    { kind: 'parameters', name } as const,
  ];
  // Who starts a rollout holds both, where both are there.
  const isBoth =
    target.on === 'parameters' || (change.kind === 'StartRollout' && (await store.has(parameters)));
  return isBoth ? [configuration, parameters] : [configuration];
}
