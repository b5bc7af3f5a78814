/** Publishes schemas of parameters through the API. */

import { expect } from 'chai';
import type { Client, Reply } from './client.ts';
import { addVersion, CONFIGURATIONS, create, MAIN, publish } from './configurations.ts';
import { ok } from './replies.ts';

export const schemaOf = (name: string) => `${CONFIGURATIONS}/${name}/parameters`;

const SCHEMA = 'https://aka.ms/dsc/schemas/v3/bundled/config/document.json';

/** A document with this `parameters` block. A text is used as it is. */
export function documentOf(parameters: object | string): string {
  return typeof parameters === 'string' ? parameters : JSON.stringify({ parameters });
}

/** The files of a version whose entry point has this `parameters` block. A text is what stands in it beside the rest. */
export function filesOf(parameters: object | string): { files: Record<string, string> } {
  if (typeof parameters !== 'string')
    return { files: { [MAIN]: JSON.stringify({ $schema: SCHEMA, parameters, resources: [] }) } };
  const rest = parameters.startsWith('$schema') ? '' : '$schema: x\nresources: []\n';
  return { files: { [MAIN]: rest + parameters } };
}

export function uploadSchema(
  client: Client,
  name: string,
  version: string,
  parameters: object | string,
): Promise<Reply> {
  const part = { name: 'parametersFile', filename: 'schema.yaml', content: documentOf(parameters) };
  return client.call('PUT', schemaOf(name), { form: { fields: { version }, part } });
}

/** Makes the versions one after the other and publishes each. The first one makes the configuration. */
export async function publishBlocks(
  client: Client,
  name: string,
  blocks: Record<string, object | string>,
): Promise<void> {
  let isFirst = true;
  for (const [version, block] of Object.entries(blocks)) {
    const made = isFirst ? create : addVersion;
    await ok(201, made(client, name, { version }, filesOf(block)));
    await ok(200, publish(client, name, version));
    isFirst = false;
  }
}

/** Makes a draft with this block and tries to publish it. */
export async function tryPublish(
  client: Client,
  name: string,
  version: string,
  block: object | string,
): Promise<Reply> {
  await ok(201, addVersion(client, name, { version }, filesOf(block)));
  return publish(client, name, version);
}

/** The result of validating a document. */
export async function validated(
  client: Client,
  name: string,
  values: object | string,
  query = '',
): Promise<{ isValid: boolean; errors: { path: string; message: string; code: string }[] }> {
  const call = { headers: { 'Content-Type': 'application/yaml' }, body: documentOf(values) };
  const verdict = await ok(200, client.call('POST', `${schemaOf(name)}/validate${query}`, call));
  expect(verdict.isValid).to.equal(verdict.errors.length === 0);
  return verdict;
}
