/** Checks repositories with stock git. */

import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { partsOf } from './acts/act.ts';
import type { Model } from './model.ts';

const run = promisify(execFile);

/**
 * Checks each repository in a folder: it must be intact, and its refs must be those of the existing versions.
 * @returns how many there are
 */
export async function checkFoldersWithGit(model: Model, reposDir: string): Promise<number> {
  const folders = ['configurations', 'composites', 'parameters'].flatMap((kind) =>
    readdirSync(join(reposDir, kind)).map((name) => ({ kind, name: name.replace(/\.git$/, '') })),
  );
  for (const { kind, name } of folders)
    await checkRepository(model, { kind, name, folder: join(reposDir, kind, `${name}.git`) });
  const changes = join(reposDir, 'changes/changes.git');
  if (existsSync(changes)) await checkRepository(model, { kind: 'changes', name: '', folder: changes });
  return folders.length;
}

/** Checks one repository, or a mirror of it, with stock git. */
export async function checkRepository(
  model: Model,
  { kind, name, folder }: { kind: string; name: string; folder: string },
): Promise<void> {
  // Rejects with git's output if the repository is damaged.
  await git(folder, 'fsck', '--strict', '--no-dangling', '--no-progress');
  if (kind === 'changes') return checkChanges(model, folder);
  const refs = (await git(folder, 'for-each-ref', '--format=%(refname) %(objecttype)')).trim().split('\n');
  const found = refs.filter((ref) => /^refs\/(?:tags|heads\/draft)\//.test(ref)).sort();
  expect(found, folder).to.deep.equal(refsOf(model, kind, name).sort());
  // A branch whose version did not come to be published may be left over, and counts for nothing.
  if (kind === 'configurations')
    for (const key of model.keys(`rollouts/${name}/`))
      expect(refs, folder).to.include(`refs/heads/rollout/${partsOf(key)[1]} commit`);
  const stable = found.some(
    (ref) => /^refs\/tags\/v[^-]+$/.test(ref) && !found.includes(ref.replace('/tags/', '/tags/withdrawn/')),
  );
  if (kind !== 'parameters') expect(refs.includes('refs/heads/main commit'), folder).to.equal(stable);
}

/** Each change set has its branch, and `main` begins with a commit and has one merge for each set that is applied. */
async function checkChanges(model: Model, folder: string): Promise<void> {
  const keys = model.keys('change-sets/');
  const branches = (
    await git(folder, 'for-each-ref', '--format=%(refname:short)', 'refs/heads/change')
  ).trim();
  const expected = keys.map((key) => `change/${model.ids.get(key)}`);
  expect(branches === '' ? [] : branches.split('\n').sort(), folder).to.deep.equal(expected.sort());
  const applied = keys.filter((key) => model.state(key).state === 'Applied').length;
  const merges = await git(folder, 'rev-list', '--first-parent', '--count', 'main');
  expect(Number(merges), `${folder}: main`).to.equal(1 + applied);
}

/** The refs that the acknowledged versions must have. */
function refsOf(model: Model, kind: string, name: string): string[] {
  const start = { configurations: 'versions', composites: 'composite-versions' }[kind] ?? kind;
  return model.keys(`${start}/${name}/`).flatMap((key) => {
    const [, ...rest] = partsOf(key);
    const version = rest.pop();
    const scope = rest.filter((part) => part !== '-').map((part) => `${part}/`);
    const { status, withdrawn = null } = model.state(key);
    if (status === 'Draft') return `refs/heads/draft/${scope.join('')}${version} commit`;
    const tag = `refs/tags/${scope.join('')}v${version} tag`;
    return withdrawn === null ? tag : [tag, `refs/tags/withdrawn/${scope.join('')}v${version} tag`];
  });
}

export async function git(folder: string, ...args: string[]): Promise<string> {
  const env = {
    PATH: process.env['PATH'] ?? '',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    HOME: '/nonexistent',
  };
  return (await run('git', ['-C', folder, ...args], { env })).stdout;
}
