/** What `npm run demo -- --stay` does after the story: a living fleet, and how to look at it. */

import { makeUncheckedClient } from '../../test/support/client.ts';
import { letLive } from '../console/living.ts';
import { type Site, seedSite } from '../console/seed.ts';
import { nextSignal } from '../support/cleanup.ts';
import type { TemporaryServer } from '../support/temporary-server.ts';
import type { Tell } from './telling.ts';

const NODES = 60;

/**
 * Makes the fleet, says where the console is, and keeps both until Ctrl-C or SIGTERM.
 * @param letSignalsBe takes the handlers away that would end this process at once
 */
export async function stay(server: TemporaryServer, tell: Tell, letSignalsBe: () => void): Promise<void> {
  const site = await tell(`${NODES} more nodes register, pull and report, and go on doing so`, async () => {
    const result = await seedSite(server.target, server.password, { nodes: NODES });
    return { result, proof: [`for example ${result.machines[0]?.plan.fqdn}`] };
  });
  await tell('The console answers', async () => {
    const client = makeUncheckedClient(server.target);
    const { status } = await client.get('/ui/');
    client.close();
    if (status !== 200) throw new Error(`expected: 200 and not ${status}; "npm run build" makes the console`);
    return { result: undefined, proof: [`200: ${server.url}/ui/`] };
  });
  const end = letLive(site.machines);
  letSignalsBe();
  const signal = nextSignal();
  console.log(invitation(server, site));
  await signal;
  await end();
  site.close();
}

function invitation({ url, password, dataDir }: TemporaryServer, { users }: Site): string {
  return `
The server stays, with its data and its nodes. Look at it:
    console    ${url}/ui/
    user name  admin
    password   ${password}
    authority  ${dataDir}/tls/ca.crt (your browser asks whether it should trust the server)
A user who may only look: ${users.viewer.username}, password ${users.viewer.password}
Ctrl-C stops the server and removes all that it has stored.`;
}
