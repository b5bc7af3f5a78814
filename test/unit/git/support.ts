/** A store in a folder of its own, and stock git to look at what it made. */

import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { GitFolders } from '../../../src/git/types.ts';
import { HawserError } from '../../../src/lib/errors.ts';
import { newId } from '../../../src/lib/ids.ts';
import { createLog, type Log } from '../../../src/lib/log.ts';
import {
  type DraftInput,
  type FileContent,
  GitStore,
  type GitStoreOptions,
  type Person,
  type RepositoryRef,
  type RepositorySettings,
} from '../../../src/versions/store.ts';
import { eventually } from '../../support/eventually.ts';

export const AT = Date.parse('2026-11-20T09:08:00.123Z');
export const ALICE: Person = { name: 'Alice', email: 'alice@example.org' };
export const BOB: Person = { name: 'Bob', email: 'bob@example.org' };
export const WEB: RepositoryRef = { kind: 'configurations', name: 'web' };

/** A repository beside the others, in which stock git makes a draft to see when the watch comes by. */
const CANARY: RepositoryRef = { kind: 'configurations', name: 'canary' };

export const EMPTY_COMPOSITE = '{"entryPoint": "main.dsc.yaml", "children": []}';

export interface Workbench {
  root: string;
  store: GitStore;
  /** The names of repositories that onRefsMoved was called for, other than that of `untilLooked`. */
  moved: string[];
  gitdir: string;
  git(...args: string[]): string;
  /** A further process, as far as memory goes: the same folder, nothing loaded. */
  reopen(): Promise<GitStore>;
  /** Waits until the watch has looked at all repositories, and has passed on what it found. */
  untilLooked(): Promise<void>;
}

export function makeStore(root: string, moved: string[], options: Partial<GitStoreOptions> = {}): GitStore {
  return new GitStore({
    root,
    log: createLog('silent'),
    cacheBytes: 32 * 1024 * 1024,
    onRefsMoved: async (ref) => {
      if (ref.name !== CANARY.name) moved.push(ref.name);
    },
    ...options,
  });
}

/**
 * Runs `work` on a new store and cleans up behind it.
 * @param isWatched false where a test counts steps of the disk, of which the watch would take some
 */
export async function onStore(
  work: (bench: Workbench) => Promise<void>,
  options: Partial<GitStoreOptions> = {},
  isWatched = true,
): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'hawser-git-'));
  const moved: string[] = [];
  const stores: GitStore[] = [];
  const open = async () => {
    const store = makeStore(root, moved, options);
    stores.push(store);
    await store.prepare();
    if (isWatched) store.open();
    return store;
  };
  const gitdir = join(root, 'configurations', 'web.git');
  const git = (...args: string[]) => runGit(gitdir, ...args);
  try {
    const store = await open();
    const untilLooked = () => untilCanaryIsSeen(store, root);
    await work({ root, store, moved, gitdir, git, reopen: open, untilLooked });
  } finally {
    for (const store of stores) await store.close();
    await rm(root, { recursive: true, force: true });
  }
}

/**
 * A round of the watch goes through all repositories, so one that has come to the canary has begun to look at the others. It
 * comes to them again only after that, so in the second round it has passed on what it found in the first one.
 */
async function untilCanaryIsSeen(store: GitStore, root: string): Promise<void> {
  if (!(await store.has(CANARY))) await store.create(CANARY, settingsOf(), draftOf('1.0.0'));
  const gitdir = join(root, CANARY.kind, `${CANARY.name}.git`);
  for (let round = 0; round < 2; round += 1) {
    const version = `1.${(await store.versions(CANARY)).versions.length}.0`;
    runGit(gitdir, 'update-ref', `refs/heads/draft/${version}`, 'draft/1.0.0');
    await until(async () => (await store.versions(CANARY)).get(version) !== undefined);
  }
}

export function runGit(folder: string, ...args: string[]): string {
  return pipeGit(folder, '', ...args);
}

/** As `runGit`, with text on its standard input. */
export function pipeGit(folder: string, input: string | Buffer, ...args: string[]): string {
  const env = {
    ...process.env,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_AUTHOR_NAME: 'Carol',
    GIT_AUTHOR_EMAIL: 'carol@example.org',
    GIT_COMMITTER_NAME: 'Carol',
    GIT_COMMITTER_EMAIL: 'carol@example.org',
  };
  return execFileSync('git', ['-C', folder, ...args], { env, input, encoding: 'utf8', stdio: 'pipe' }).trim();
}

export function settingsOf(description: string | null = null): RepositorySettings {
  const facts = { id: newId(), createdBy: newId(), useServerManagedParameters: true, createdAt: AT };
  return { ...facts, description, entryPoint: null };
}

/** A log whose lines of warnings and errors can be read. */
export function listeningLog(): { log: Log; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const log = createLog('warn', { write: (line) => lines.push(JSON.parse(line)) });
  return { log, lines };
}

export function file(path: string, text: string): FileContent {
  return { path, content: Buffer.from(text) };
}

export function draftOf(
  version: string,
  files: FileContent[] = [file('main.dsc.yaml', `v${version}\n`)],
): DraftInput {
  return { version, entryPoint: 'main.dsc.yaml', files, author: ALICE, at: AT };
}

export async function makeWeb(store: GitStore, version = '1.0.0', files?: FileContent[]): Promise<void> {
  await store.create(WEB, settingsOf(), draftOf(version, files));
}

export async function publish(store: GitStore, version: string, at = AT): Promise<void> {
  await store.exclusive(WEB, async (repository) => {
    await repository.publish('', version, { tagger: BOB, at });
  });
}

/** A repository whose version 1.0.0 is published. */
export async function makePublishedWeb(store: GitStore): Promise<void> {
  await makeWeb(store);
  await publish(store, '1.0.0');
}

export async function addVersion(store: GitStore, version: string, files?: FileContent[]): Promise<void> {
  await store.exclusive(WEB, (repository) => repository.writeDraft('', draftOf(version, files)));
}

export async function replace(store: GitStore, version: string, files: FileContent[]): Promise<void> {
  const change = { entryPoint: 'main.dsc.yaml', files, committer: BOB, at: AT + 60_000 };
  await store.exclusive(WEB, (repository) => repository.replaceDraft('', version, change));
}

/** The code of the HawserError that the work fails with. */
export async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (error instanceof HawserError) return error.code;
    throw error;
  }
  return 'no error';
}

/** Waits until the condition holds. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  await eventually(async () => expect(await condition()).to.equal(true));
}

export async function summary(store: GitStore): Promise<string[]> {
  const { versions } = await store.versions(WEB);
  return versions.map(({ version, status }) => `${version} ${status}`);
}

/** Folders that hold the repositories themselves. */
export const NO_CACHE: GitFolders = {
  materialise: async () => undefined,
  distrust: async () => undefined,
  scratch: async () => '',
};
