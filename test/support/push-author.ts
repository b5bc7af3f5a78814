/** An author who pushes with stock git. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import type { GitClient, GitRun } from './git-client.ts';
import { type Hawser, publishConfiguration } from './hawser.ts';

export type PushedFiles = Readonly<Record<string, string | Buffer>>;

export const DRAFT = 'refs/heads/draft';
/** What git says of its user, unless a test says otherwise. */
export const ADA = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org'];

export interface PushAuthor {
  name: string;
  /** The clone. */
  folder: string;
  /** The path of the configuration in the API. */
  api: string;
  git(...args: string[]): Promise<GitRun>;
  /** As `git`, and fails unless git succeeds. Gives what it printed. */
  ok(...args: string[]): Promise<string>;
  commit(files: PushedFiles, message?: string): Promise<string>;
  push(...args: string[]): Promise<GitRun>;
}

let count = 0;

/** Makes a configuration with version 1.0.0, and clones it. */
export async function beginAuthor(
  hawser: Hawser,
  client: GitClient,
  token: string,
  files: PushedFiles = { 'main.dsc.yaml': '$schema: x\nresources: []\n' },
): Promise<PushAuthor> {
  count += 1;
  const name = `pushed-${count}`;
  await publishConfiguration(hawser.admin, name, { '1.0.0': { ...files } });
  return cloneOf(client, name, token);
}

/** @param depth as of `git clone --depth` */
export async function cloneOf(
  client: GitClient,
  name: string,
  token: string,
  ...options: string[]
): Promise<PushAuthor> {
  count += 1;
  const path = `clone-${count}`;
  await succeeds(client.run('clone', '-q', ...options, client.url(`configurations/${name}`, token), path));
  return authorIn(client, name, join(client.folder, path));
}

/** An author of the parameters of a configuration, which need not have any file yet. Nothing is checked out. */
export async function authorOfFiles(client: GitClient, name: string, token: string): Promise<PushAuthor> {
  count += 1;
  const folder = join(client.folder, `files-${count}`);
  await succeeds(client.run('init', '-q', folder));
  const author = authorIn(client, name, folder);
  await author.ok('remote', 'add', 'origin', client.url(`parameters/${name}`, token));
  return author;
}

function authorIn(client: GitClient, name: string, folder: string): PushAuthor {
  const git = (...args: string[]) => client.run('-C', folder, ...ADA, ...args);
  const ok = (...args: string[]) => succeeds(git(...args));
  return {
    ...{ name, folder, git, ok, api: `/api/v1/configurations/${name}` },
    async commit(files, message = 'a change') {
      for (const [file, content] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, file)), { recursive: true });
        writeFileSync(join(folder, file), content);
      }
      await ok('add', '-A');
      await ok('commit', '-q', '--allow-empty', '-m', message);
      return (await ok('rev-parse', 'HEAD')).trim();
    },
    push: (...args) => git('push', 'origin', ...args),
  };
}

async function succeeds(run: Promise<GitRun>): Promise<string> {
  const { code, output } = await run;
  expect(code, output).to.equal(0);
  return output;
}
