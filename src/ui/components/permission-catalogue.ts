/** The permissions that roles hold and tokens name, as checkboxes and tables show them. */

import { type Resource, useResource } from '../resource.ts';
import { can } from '../session.ts';
import type { KnownPermission } from '../types.ts';
import type { Choosable } from './choose.tsx';

/** All permissions with their descriptions. They change only with the server's program. */
export function useCatalogue(): Resource<KnownPermission[]> {
  return useResource<KnownPermission[]>('/permissions?take=1000', { poll: false });
}

/** The scopes by which a token uses its owner's grants, with the permission above all grants of that kind. */
const GRANT_SCOPES = [
  {
    name: 'configurations.grants',
    description: 'Use the grants on configurations',
    override: 'configurations.admin-override',
  },
  {
    name: 'composite-configurations.grants',
    description: 'Use the grants on composite configurations',
    override: 'composite-configurations.admin-override',
  },
  {
    name: 'parameters.grants',
    description: 'Use the grants on parameters',
    override: 'parameters.admin-override',
  },
];

const groupOf = (name: string) => name.slice(0, name.indexOf('.'));

/** Those that a role may get. What the user does not hold cannot be given. */
export function permissionItems(catalogue: readonly KnownPermission[]): Choosable[] {
  return catalogue.map(({ name, description }) => ({
    value: name,
    label: name,
    hint: description,
    group: groupOf(name),
    reason: can(name) ? null : 'You do not hold it, so you cannot give it',
  }));
}

/** Those that a token may name. @param isOwn false for a service account, whose token can do no more than its maker */
export function scopeItems(catalogue: readonly KnownPermission[], isOwn: boolean): Choosable[] {
  const permissions = catalogue.map(({ name, description }) => ({ name, description, needs: name }));
  const grants = GRANT_SCOPES.map(({ override, ...scope }) => ({ ...scope, needs: override }));
  const lacks = (needs: string) => `You do not hold ${needs}`;
  const items = [...permissions, ...grants].map(({ name, description, needs }) => ({
    value: name,
    label: name,
    group: groupOf(name),
    hint: isOwn && name === needs && !can(name) ? `${description}. No effect until you hold it` : description,
    reason: isOwn || can(needs) ? null : lacks(needs),
  }));
  const order = [...new Set(items.map(({ group }) => group))];
  return items.sort((a, b) => order.indexOf(a.group) - order.indexOf(b.group));
}
