/** A server at which people sign in by either of two providers. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from './client.ts';
import { type Hawser, startHawser } from './hawser.ts';
import { LyingProvider } from './lying-provider.ts';
import { type Cookies, clientWith, signInBy } from './sign-in-flow.ts';
import { settingsWith } from './sign-in-server.ts';

/** Their names in the file. Both name groups in the claim `groups`, and let in anybody. */
export const NAMES = ['corp', 'partner'] as const;
export type Name = (typeof NAMES)[number];

export interface TwoProviders {
  hawser: Hawser;
  providers: Record<Name, LyingProvider>;
  /** @throws Error where this person is not let in */
  signIn(name: Name, person: Record<string, unknown>, cookies?: Cookies): Promise<Client>;
  close(): Promise<void>;
}

export async function startWithTwoProviders(): Promise<TwoProviders> {
  const folder = mkdtempSync(join(tmpdir(), 'hawser-two-'));
  const providers = { corp: await LyingProvider.start(), partner: await LyingProvider.start() };
  const entries = NAMES.map((name) => {
    const { issuer, clientId, clientSecret } = providers[name];
    const clientSecretFile = join(folder, name);
    writeFileSync(clientSecretFile, clientSecret, { mode: 0o600 });
    const client = { issuer, clientId, clientSecretFile };
    return { name, label: `People of ${name}`, ...client, groupsClaim: '/groups', allowedGroups: ['*'] };
  });
  const file = join(folder, 'oidc.json');
  writeFileSync(file, JSON.stringify(entries));
  const hawser = await startHawser(settingsWith(file));
  return {
    hawser,
    providers,
    async signIn(name, person, cookies = new Map()) {
      providers[name].person = { sub: 'nobody', groups: [], ...person };
      const { reply } = await signInBy(hawser, name, { cookies });
      if (reply.status !== 200) throw new Error(`the sign-in was answered ${reply.status} ${reply.text}`);
      return clientWith(hawser, cookies);
    },
    async close() {
      await hawser.close();
      await Promise.all(NAMES.map((name) => providers[name].close()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
