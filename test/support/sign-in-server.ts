/** A server at which people sign in by a provider. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from './client.ts';
import { type Hawser, startHawser } from './hawser.ts';
import { LyingProvider } from './lying-provider.ts';
import { type Cookies, clientWith, signInBy } from './sign-in-flow.ts';

export const PUBLIC_URL = 'https://hawser.example.org';
export const PROVIDER = 'corp';
/** With a forge that nobody can reach, whose federations can be made all the same. */
export const FORGE_SETTINGS = { HAWSER_FEDERATION_ISSUERS: 'https://forge.example.org' };

export interface SignInServer {
  hawser: Hawser;
  provider: LyingProvider;
  /** Writes the file of the providers anew, with these members of the only one changed, and loads it. */
  change(members: Record<string, unknown>): Promise<void>;
  /** Signs in somebody, who is in the provider's `person` then. */
  signIn(person?: Record<string, unknown>, cookies?: Cookies): Promise<Client>;
  close(): Promise<void>;
}

/** Writes the file of the providers, with one. @returns its path */
export function writeProviders(
  folder: string,
  { issuer, clientId, clientSecret }: Pick<LyingProvider, 'issuer' | 'clientId' | 'clientSecret'>,
  members: Record<string, unknown> = {},
): string {
  const file = join(folder, 'oidc.json');
  const clientSecretFile = join(folder, 'secret');
  writeFileSync(clientSecretFile, `${clientSecret}\n`, { mode: 0o600 });
  const entry = { name: PROVIDER, label: 'Example Corp', issuer, clientId, clientSecretFile };
  writeFileSync(file, JSON.stringify([{ ...entry, allowedGroups: ['*'], ...members }]));
  return file;
}

/** The settings of a server whose provider is on this machine, without TLS. */
export function settingsWith(file: string): Record<string, string> {
  return { HAWSER_ENV: 'development', HAWSER_PUBLIC_URL: PUBLIC_URL, HAWSER_OIDC_FILE: file };
}

export async function startSignInServer(
  members: Record<string, unknown> = {},
  settings: Record<string, string> = {},
): Promise<SignInServer> {
  const folder = mkdtempSync(join(tmpdir(), 'hawser-sign-in-'));
  const provider = await LyingProvider.start();
  const hawser = await startHawser({
    ...settingsWith(writeProviders(folder, provider, members)),
    ...settings,
  });
  return {
    hawser,
    provider,
    async change(changed) {
      writeProviders(folder, provider, { ...members, ...changed });
      await hawser.server.reloadTls();
    },
    async signIn(person, cookies = new Map()) {
      if (person !== undefined) provider.person = { sub: 'nobody', ...person };
      const { reply } = await signInBy(hawser, PROVIDER, { cookies });
      if (reply.status !== 200) throw new Error(`the sign-in was answered ${reply.status} ${reply.text}`);
      return clientWith(hawser, cookies);
    },
    async close() {
      await hawser.close();
      await provider.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
