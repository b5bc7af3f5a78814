/** Configurations whose secrets were stored in the clear, and the change sets that encrypt them. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { newKeyLine, secretKey } from '../../src/lib/sealed-text.ts';
import { SETS, setOf } from './change-sets.ts';
import type { Client, Reply } from './client.ts';
import { MAIN } from './configurations.ts';
import { type Hawser, publishConfiguration } from './hawser.ts';
import { configurationId, saveParameters } from './parameter-files.ts';
import { uploadSchema } from './parameter-schemas.ts';
import { ok } from './replies.ts';
import { DEFAULT_ID } from './scopes.ts';

/** What stands in the clear. */
export const CANARY = 'Canary-in-the-clear';
export const IN_PROD = { scopeType: 'Environment', value: 'prod' };

const TYPES = { pw: 'secureString', creds: 'secureObject', port: 'int', list: 'array' };
const DECLARED = Object.fromEntries(Object.entries(TYPES).map(([name, type]) => [name, { type }]));

export interface ShownSet {
  id: number;
  digest: string;
  description: string | null;
  deeds: { kind: string; scopeValue: string | null; version: string }[];
}

/** What a set publishes, such as `prod 1.0.1`. */
export function versionsIn({ deeds }: ShownSet): string[] {
  for (const { kind } of deeds) expect(kind).to.equal('PublishParameters');
  return deeds.map(({ scopeValue, version }) => `${scopeValue ?? 'Default'} ${version}`);
}

export const proposeAnew = (
  client: Client,
  what: 'seal' | 'rekey',
  configurationName?: string,
): Promise<Reply> =>
  client.post(`${SETS}/${what}`, configurationName === undefined ? {} : { configurationName });

export class OldSecrets {
  private readonly hawser: Hawser;
  private names = 0;

  constructor(hawser: Hawser) {
    this.hawser = hawser;
  }

  /** A configuration, whose parameters are called secure only once `declare` is called. */
  async prepare(): Promise<{ name: string; declare(): Promise<void> }> {
    const { admin } = this.hawser;
    this.names += 1;
    const name = `shop-${this.names}`;
    await publishConfiguration(admin, name, { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
    return {
      name,
      declare: async () => void (await ok(200, uploadSchema(admin, name, '1.0.0', DECLARED))),
    };
  }

  save(configuration: string, content: string, more: object = {}): Promise<void> {
    return saveParameters(this.hawser, { configuration, content, ...more });
  }

  apply({ id, digest }: ShownSet): Promise<Reply['json']> {
    return ok(200, this.hawser.admin.post(`${setOf({ id })}/apply`, { digest }));
  }

  async contentOf(name: string, version: string, { type = DEFAULT_ID, value = '' } = {}): Promise<string> {
    const { admin } = this.hawser;
    const path = `/api/v1/parameters/${type}/${await configurationId(admin, name)}/versions/${version}`;
    return (await ok(200, admin.get(`${path}${value === '' ? '' : `?scopeValue=${value}`}`))).content;
  }

  /** Puts a new key before the others. @returns its id */
  async rotate(): Promise<string> {
    const line = newKeyLine();
    await this.writeKeys((former) => `${line}\n${former}`);
    return secretKey(Buffer.from(line, 'base64')).id;
  }

  /** Changes the key file, and has the server read it. */
  async writeKeys(change: (former: string) => string): Promise<void> {
    const file = join(this.hawser.dataDir, 'secrets.key');
    writeFileSync(file, change(readFileSync(file, 'utf8')));
    expect(await this.hawser.server.reloadTls()).to.deep.equal([]);
  }
}
