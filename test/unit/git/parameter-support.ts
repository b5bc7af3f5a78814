/** Parameters of the configuration `web`, as tests write and read them. */

import { join } from 'node:path';
import { contentOf } from '../../../src/versions/parameter-files.ts';
import type { GitStore, RepositoryRef, VersionDetails } from '../../../src/versions/store.ts';
import { ALICE, AT, BOB, onStore, runGit, type Workbench } from './support.ts';

export const WEB_PARAMETERS = 'web';
export const PARAMETERS: RepositoryRef = { kind: 'parameters', name: 'web' };
export const DEFAULT = 'Default';
export const PROD = 'Environment/prod';
export const TEST = 'Environment/test';

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
  series: string,
  version: string,
  text: string | null = portOf(80),
  { author = ALICE, at = AT, type = 'yaml' as 'yaml' | 'json' } = {},
): Promise<VersionDetails> {
  const content = { ...contentOf(series, text === null ? null : { type, bytes: Buffer.from(text) }), at };
  return store.exclusive(PARAMETERS, (parameters) =>
    parameters.index.of(series).get(version)?.status === 'Draft'
      ? parameters.replaceDraft(series, version, { ...content, committer: author })
      : parameters.writeDraft(series, { ...content, version, author }),
  );
}

export async function publishFile(store: GitStore, series: string, version: string, at = AT): Promise<void> {
  await store.exclusive(PARAMETERS, (parameters) => parameters.publish(series, version, { tagger: BOB, at }));
}

/** A draft, published at once. */
export async function release(
  store: GitStore,
  series: string,
  version: string,
  text: string | null = portOf(80),
  options: Parameters<typeof writeFile>[4] = {},
): Promise<void> {
  await writeFile(store, series, version, text, options);
  await publishFile(store, series, version, options.at ?? AT);
}

export async function filesOf(store: GitStore, series: string): Promise<string[]> {
  const index = await store.parameters.index(WEB_PARAMETERS);
  return index.of(series).versions.map(({ version, status }) => `${version} ${status}`);
}

export async function textOf(store: GitStore, series: string, version: string): Promise<string | null> {
  const ref = (await store.parameters.index(WEB_PARAMETERS)).of(series).get(version);
  if (!ref) return null;
  return (await store.parameters.content(WEB_PARAMETERS, ref))?.toString() ?? null;
}

/** Uploads a schema for this version. */
export function putSchema(
  store: GitStore,
  version: string,
  text: string,
  { type = 'yaml' as 'yaml' | 'json', at = AT } = {},
): Promise<VersionDetails> {
  const content = contentOf('schema', { type, bytes: Buffer.from(text) });
  const input = { ...content, version, author: ALICE, at };
  return store.exclusive(PARAMETERS, (parameters) => parameters.putSchema(input));
}
