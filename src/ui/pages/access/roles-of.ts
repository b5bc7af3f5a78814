/** Roles to choose from, and what the roles of a user come to. */

import type { Choosable } from '../../components/choose.tsx';
import { type Resource, useResource } from '../../resource.ts';
import { can } from '../../session.ts';
import type { HeldRole, Role } from '../../types.ts';

/** All roles; null where the user may not see them. */
export function useRoles(): Resource<Role[]> | null {
  const isAllowed = can('roles.manage');
  const roles = useResource<Role[]>(isAllowed ? '/roles?take=1000' : null);
  return isAllowed ? roles : null;
}

/** Roles to choose from. A role with a permission that the user does not hold cannot be given, but taken away. */
export function roleItems(roles: readonly Role[], held: ReadonlySet<string>): Choosable[] {
  return roles.map(({ id, name, description, permissions }) => {
    const beyond = permissions.find((permission) => !can(permission));
    const reason = beyond === undefined || held.has(id) ? null : `You do not hold ${beyond}`;
    return { value: id, label: name, hint: description, reason };
  });
}

/** Without the list of all roles, only those that are held can be taken away. */
export function heldItems(held: readonly HeldRole[]): Choosable[] {
  return held.map(({ id, name }) => ({ value: id, label: name }));
}
