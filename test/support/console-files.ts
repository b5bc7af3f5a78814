/** Finds out what the console of a server is made of. */

import type { Client } from './client.ts';

/** The addresses that the page loads. */
export function loadedBy(page: string): string[] {
  return [...page.matchAll(/"(\/ui\/assets\/[^"]+)"/g)].map((match) => match[1] ?? '');
}

/** Values for the paths of the console's routes. The server must run with a build. */
export async function consoleValues(client: Client): Promise<{ pagePath: string; assetPath: string }> {
  const [address = ''] = loadedBy((await client.get('/ui/')).text);
  return { pagePath: 'nodes', assetPath: address.replace('/ui/assets/', '') };
}
