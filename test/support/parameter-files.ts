/** Uploads parameter files through the API, and reads what nodes get from them. */

import { expect } from 'chai';
import type { Client, Reply } from './client.ts';
import { CONFIGURATIONS } from './configurations.ts';
import type { Hawser, NodeUnderTest } from './hawser.ts';
import { ok } from './replies.ts';
import { DEFAULT_ID, SCOPE_TYPES } from './scopes.ts';
import { unzipTexts } from './unzip.ts';

export interface ParametersToSave {
  configuration: string;
  /** The name of the scope type; Default if it is missing. */
  scopeType?: string;
  value?: string;
  /** 1.0.0 if it is missing. */
  version?: string;
  /** The content, which is YAML unless `contentType` says otherwise. Null skips the scope on purpose. */
  content: string | null;
  contentType?: string;
  /** True if it is missing. */
  publish?: boolean;
}

/**
 * Makes a published file of Default.
 * @returns the path parameters that name it
 */
export async function prepareParameters(
  hawser: Hawser,
  configuration: string,
): Promise<Record<string, string>> {
  await saveParameters(hawser, { configuration, content: 'parameters: {}' });
  return {
    configurationId: await configurationId(hawser.admin, configuration),
    major: '1',
    '/api/v1/parameters/{scopeTypeId}': DEFAULT_ID,
  };
}

/** Saves a draft and publishes it, unless `publish` is false. */
export async function saveParameters(hawser: Hawser, wish: ParametersToSave): Promise<void> {
  const { configuration, scopeType = 'Default', value, version = '1.0.0', content, publish = true } = wish;
  const path = await parametersPath(hawser.admin, scopeType, configuration);
  const body = {
    version,
    ...(value === undefined ? {} : { scopeValue: value }),
    ...(content === null ? { isPassthrough: true } : { content }),
    ...(wish.contentType === undefined ? {} : { contentType: wish.contentType }),
  };
  const saved = await hawser.admin.put(path, body);
  expect(saved.status, saved.text).to.be.oneOf([200, 201]);
  if (!publish) return;
  const query = value === undefined ? '' : `?scopeValue=${value}`;
  await ok(200, hawser.admin.put(`${path}/versions/${version}/publish${query}`));
}

async function parametersPath(admin: Client, scopeType: string, configuration: string): Promise<string> {
  const types: { id: string; name: string }[] = await ok(200, admin.get(`${SCOPE_TYPES}?take=1000`));
  const type = types.find(({ name }) => name === scopeType);
  return `/api/v1/parameters/${type?.id}/${await configurationId(admin, configuration)}`;
}

export async function configurationId(admin: Client, configuration: string): Promise<string> {
  return (await ok(200, admin.get(`${CONFIGURATIONS}/${configuration}`))).id;
}

export const configurationPath = ({ nodeId }: { nodeId: string }) => `/api/v1/nodes/${nodeId}/configuration`;

export async function assign(
  hawser: Hawser,
  node: { nodeId: string },
  configurationName: string,
  more: Record<string, unknown> = {},
): Promise<void> {
  await ok(204, hawser.admin.put(configurationPath(node), { configurationName, ...more }));
}

export function poll(node: NodeUnderTest, known?: string): Promise<Reply> {
  const headers = known === undefined ? {} : { 'If-None-Match': `"${known}"` };
  return node.client.get(`${configurationPath(node)}/checksum`, headers);
}

/** Maps paths to texts. */
export async function pullBundle(node: NodeUnderTest): Promise<Record<string, string>> {
  const reply = await node.client.get(`${configurationPath(node)}/bundle`);
  expect(reply.status, reply.text.slice(0, 200)).to.equal(200);
  return unzipTexts(reply.bytes);
}

/** The merged parameters as the node gets them; null if checksum and bundle agree that there are none. */
export async function pullParameters(node: NodeUnderTest): Promise<string | null> {
  const { parametersFile } = await ok(200, poll(node));
  const text = (await pullBundle(node))['parameters.yaml'] ?? null;
  expect(parametersFile).to.equal(text === null ? null : 'parameters.yaml');
  return text;
}
