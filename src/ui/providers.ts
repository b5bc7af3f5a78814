/** The identity providers by which people sign in here. */

import { useResource } from './resource.ts';
import type { Provider } from './types.ts';

/** In place of a provider's name: a session by password, or a membership of this server's own. */
export const LOCAL = 'Local';

/** Empty until they are known, and where there are none. They change only with the server's file of them. */
export function useProviders(): readonly Provider[] {
  return useResource<Provider[]>('/auth/providers', { poll: false }).data ?? [];
}

/** What people call the provider. One that the server's file does not have any more is called by its name. */
export function labelOf(providers: readonly Provider[], name: string): string {
  return providers.find((provider) => provider.name === name)?.label ?? name;
}
