/** Who uses the console, and what this user may do. */

import { computed, signal } from '@preact/signals';
import { send } from './client.ts';
import type { Me } from './types.ts';

/** Null until the server has answered. */
export const me = signal<Me | null>(null);

const permissions = computed(() => new Set<string>(me.value?.permissions ?? []));

/** Says whether the user has this permission. Grants on single configurations are in their own `access`. */
export function can(permission: string): boolean {
  return permissions.value.has(permission);
}

/** Ends the session and leads to the sign-in page. */
export async function signOut(): Promise<void> {
  await send('POST', '/auth/logout');
  location.assign('/login');
}
