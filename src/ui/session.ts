/** Who uses the console, and what this user may do. */

import { computed, signal } from '@preact/signals';
import { send } from './client.ts';
import { withQuery } from './links.ts';
import { LOCAL } from './providers.ts';
import { leaveAfter } from './sign-in.ts';
import type { Me } from './types.ts';

/** Null until the server has answered. */
export const me = signal<Me | null>(null);

const permissions = computed(() => new Set<string>(me.value?.permissions ?? []));

/** Says whether the user has this permission. Grants on single configurations are in their own `access`. */
export function can(permission: string): boolean {
  return permissions.value.has(permission);
}

/** Ends the session and leads to the sign-in page, which knows the way out of the provider too. */
export async function signOut(): Promise<void> {
  const by = me.value?.authProvider ?? LOCAL;
  const address = withQuery('/login', { signedOut: by === LOCAL ? null : by });
  await leaveAfter(() => send('POST', '/auth/logout'), address);
}
