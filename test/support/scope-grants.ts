/** A configuration `web` with files for Default, dev and prod, where prod is restricted to who keeps it. */

import { expect } from 'chai';
import type { Permission } from '../../src/domain/permissions.ts';
import type { Client } from './client.ts';
import { MAIN } from './configurations.ts';
import { type Hawser, publishConfiguration } from './hawser.ts';
import { configurationId, saveParameters } from './parameter-files.ts';
import { makeUser, type Person } from './people.ts';
import { ok } from './replies.ts';
import { createScopeType, createScopeValue } from './scopes.ts';

export const WEB = '/api/v1/configurations/web';
export const PERMISSIONS = `${WEB}/parameters/permissions`;
/** It is in the file of prod alone. */
export const SECRET = 'what-prod-alone-has';

export interface Field {
  configurationId: string;
  type: string;
  dev: string;
  prod: string;
  /** Reads the configuration, and may modify dev. */
  team: Person;
  /** Reads the configuration, and manages prod. */
  keeper: Person;
}

export interface Given {
  scopeTypeId?: string | null;
  scopeValueId?: string | null;
  restricted?: boolean | null;
}

/** What a body says to grant a level to somebody. */
export const granting = ({ userId }: { userId: string }, level: string, given: Given = {}) => ({
  ...{ principalType: 'User', principalId: userId, level, ...given },
});

export function grantTo(by: Client, to: { userId: string }, level: string, given: Given = {}): Promise<void> {
  return ok(204, by.put(PERMISSIONS, granting(to, level, given)));
}

export const revoking = ({ userId }: { userId: string }, { scopeTypeId, scopeValueId }: Given = {}) => {
  const ids = scopeTypeId
    ? `?scopeTypeId=${scopeTypeId}${scopeValueId ? `&scopeValueId=${scopeValueId}` : ''}`
    : '';
  return `${PERMISSIONS}/User/${userId}${ids}`;
};

let people = 0;

/** Somebody who reads `web`, and the nodes. */
export function member(hawser: Hawser, more: readonly Permission[] = []): Promise<Person> {
  people += 1;
  return makeUser(hawser, {
    username: `member-${people}`,
    permissions: ['nodes.read', ...more],
    grants: [{ on: 'configuration', name: 'web', level: 'Read' }],
  });
}

/** @param restricted false leaves prod open */
export async function makeField(hawser: Hawser, { restricted = true } = {}): Promise<Field> {
  const { admin } = hawser;
  const schema = '$schema: x\nparameters: {note: {type: string}}\nresources: []\n';
  await publishConfiguration(admin, 'web', { '1.0.0': { [MAIN]: schema } });
  const type = await createScopeType(hawser, 'Environment');
  const dev = await createScopeValue(hawser, type, 'dev');
  const prod = await createScopeValue(hawser, type, 'prod');
  const of = (value: string) => ({ configuration: 'web', scopeType: 'Environment', value });
  await saveParameters(hawser, { configuration: 'web', content: 'parameters: {note: default}\n' });
  await saveParameters(hawser, { ...of('dev'), content: 'parameters: {note: dev}\n' });
  await saveParameters(hawser, { ...of('prod'), content: `parameters: {note: ${SECRET}}\n` });
  const [team, keeper] = [
    await member(hawser, ['nodes.write', 'nodes.assign-configuration']),
    await member(hawser),
  ];
  await grantTo(admin, team, 'Modify', { scopeTypeId: type, scopeValueId: dev });
  await grantTo(admin, keeper, 'Manage', {
    ...{ scopeTypeId: type, scopeValueId: prod },
    ...(restricted && { restricted }),
  });
  return { configurationId: await configurationId(admin, 'web'), type, dev, prod, team, keeper };
}

/** The scopes whose files the list names, each once. */
export async function listed(client: Client): Promise<string[]> {
  const files: { scopeTypeName: string; scopeValue: string | null }[] = await ok(
    200,
    client.get(`${WEB}/parameter-files?take=1000`),
  );
  expect(files).to.be.an('array');
  return [...new Set(files.map(({ scopeTypeName, scopeValue }) => scopeValue ?? scopeTypeName))].sort();
}
