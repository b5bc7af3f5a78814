/** Parameters of the configuration `web`, as tests write and read them. */

import { join } from 'node:path';
import type { GitStore, ParameterScope, ParameterWrite } from '../../../src/git/store.ts';
import { ALICE, AT, BOB, onStore, runGit, type Workbench } from './support.ts';

export const WEB_PARAMETERS = 'web';
export const DEFAULT: ParameterScope = { scopeType: 'Default', value: null };
export const PROD: ParameterScope = { scopeType: 'Environment', value: 'prod' };
export const TEST: ParameterScope = { scopeType: 'Environment', value: 'test' };

/** As `onStore`, at work in the repository of the parameters. */
export function onParameters(
  work: (bench: Workbench) => Promise<void>,
  options: Parameters<typeof onStore>[1] = {},
): Promise<void> {
  return onStore(async (bench) => {
    const gitdir = join(bench.root, 'parameters', 'web.git');
    await work({ ...bench, gitdir, git: (...args) => runGit(gitdir, ...args) });
  }, options);
}

export function portOf(port: number): string {
  return `parameters:\n  port: ${port}\n`;
}

/** Null text: the scope is skipped on purpose. */
export function writeFile(
  store: GitStore,
  scope: ParameterScope,
  version: string,
  text: string | null = portOf(80),
  { author = ALICE, at = AT, type = 'yaml' as 'yaml' | 'json' } = {},
): Promise<ParameterWrite> {
  const content = text === null ? null : { type, bytes: Buffer.from(text) };
  return store.parameters.exclusive(WEB_PARAMETERS, (parameters) =>
    parameters.writeDraft(scope, { version, content, author, at }),
  );
}

export async function publishFile(
  store: GitStore,
  scope: ParameterScope,
  version: string,
  at = AT,
): Promise<void> {
  await store.parameters.exclusive(WEB_PARAMETERS, (parameters) =>
    parameters.publish(scope, version, BOB, at),
  );
}

/** A draft, published at once. */
export async function release(
  store: GitStore,
  scope: ParameterScope,
  version: string,
  text: string | null = portOf(80),
  options: Parameters<typeof writeFile>[4] = {},
): Promise<void> {
  await writeFile(store, scope, version, text, options);
  await publishFile(store, scope, version, options.at ?? AT);
}

export async function filesOf(store: GitStore, scope: ParameterScope): Promise<string[]> {
  const index = await store.parameters.index(WEB_PARAMETERS);
  return index.versions(scope).map(({ version, status }) => `${version} ${status}`);
}

export async function textOf(
  store: GitStore,
  scope: ParameterScope,
  version: string,
): Promise<string | null> {
  const ref = (await store.parameters.index(WEB_PARAMETERS)).get(scope, version);
  if (!ref) return null;
  return (await store.parameters.content(WEB_PARAMETERS, ref))?.toString() ?? null;
}
