/** What a backup takes of a repository: its refs and the few files that describe it, and its objects in packs. */

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { AtomicFs } from './atomic-fs.ts';
import { damagedRepository, unlessAbsent } from './disk-errors.ts';
import { type GitCommand, GitProcess } from './git-process.ts';
import { readShallow } from './history.ts';
import { listRefs, type RefList } from './ref-list.ts';
import { BROKEN_OID } from './ref-reader.ts';
import type { PackedRef } from './refs.ts';
import { readSettings } from './repository-layout.ts';

/** All of a repository but its objects, read at one moment. */
export interface RepositoryState extends Readonly<RefList> {
  /** Stays the same as long as it is the same repository. Another repository of the same name has another. */
  identity: string;
  /** The id in its settings, or in those of the repository that it belongs to; null when it was not made here. */
  id: string | null;
  /** The bytes of the files that describe it, each byte as one character (latin1). */
  files: Record<'HEAD' | 'config' | 'description', string>;
  /** The commits at which history ends. */
  shallow: ReadonlySet<string>;
}

/**
 * @param owner the folder of the repository whose settings hold the id: for parameters that of their configuration
 * @returns null when the repository is absent, or was removed or replaced meanwhile
 * @throws HawserError `repository_damaged` for a folder that is no repository, or a broken ref
 */
export async function readRepositoryState(
  fs: AtomicFs,
  gitdir: string,
  owner = gitdir,
): Promise<RepositoryState | null> {
  const before = await identify(fs, gitdir, owner);
  if (before === null) return null;
  const [head, config, description] = await Promise.all(
    ['HEAD', 'config', 'description'].map(async (name) => {
      const content = await unlessAbsent(fs.readFile(join(gitdir, name)), null);
      return content?.toString('latin1');
    }),
  );
  const list = await listRefs(fs, gitdir);
  const shallow = await readShallow(fs, gitdir);
  const after = await identify(fs, gitdir, owner);
  if (after?.identity !== before.identity) return null;
  if (head === undefined || config === undefined) throw damagedRepository();
  for (const [name, oid] of list.refs) if (oid === BROKEN_OID) throw damagedRepository(new Error(name));
  return { ...before, files: { HEAD: head, config, description: description ?? '' }, ...list, shallow };
}

async function identify(
  fs: AtomicFs,
  gitdir: string,
  owner: string,
): Promise<Pick<RepositoryState, 'identity' | 'id'> | null> {
  const stats = fs.lstatNow(gitdir);
  if (!stats?.isDirectory()) return null;
  const settings = await readSettings(fs, owner).catch(() => null);
  const id = settings?.id ?? null;
  return { identity: `${id} ${stats.dev}:${stats.ino}`, id };
}

export interface PackSource {
  gitdir: string;
  /** The folders in which git is looked for, like `PATH`. */
  searchPath: string;
}

/**
 * Has stock git pack everything that the `wanted` objects lead to and the `known` ones do not, while a `git gc` may run.
 * Git fails when one object is missing or broken, so a pack that it makes is complete. The repository is not changed.
 * @param folder receives `pack-<hash>.pack` and `pack-<hash>.idx`
 * @returns the hash; null when there is nothing to pack
 * @throws HawserError `repository_damaged`, also when the repository is removed meanwhile
 */
export async function packReachable(
  source: PackSource,
  folder: string,
  wanted: Iterable<string>,
  known: Iterable<string>,
): Promise<string | null> {
  const input = [...wanted, '--not', ...known];
  // This runs beside the server and must be cheap, so git keeps the deltas that exist and looks for no others.
  const options = ['--revs', '--non-empty', '--delta-base-offset', '--window=0', '-q'];
  // A pack that a power cut takes is made anew, so it need not be flushed.
  const settings = ['-c', 'core.fsync=none'];
  const args = [...settings, `--git-dir=${source.gitdir}`, 'pack-objects', ...options, join(folder, 'pack')];
  // Otherwise git would begin the pack inside the repository, and could not move it to another disk.
  const objects = join(folder, 'objects');
  await mkdir(objects, { recursive: true });
  const env = {
    GIT_OBJECT_DIRECTORY: objects,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: quotePath(join(source.gitdir, 'objects')),
  };
  const output = await runGit({ searchPath: source.searchPath, args, env }, input);
  return output.trim() || null;
}

/** The refs with what each leads to in the end. @throws HawserError `repository_damaged` */
export async function peelRefs(source: PackSource, refs: ReadonlyMap<string, string>): Promise<PackedRef[]> {
  if (refs.size === 0) return [];
  const asked = [...refs.values()].map((oid) => `${oid}^{}`);
  const args = [`--git-dir=${source.gitdir}`, 'cat-file', '--batch-check=%(objectname)'];
  const output = await runGit({ searchPath: source.searchPath, args }, asked);
  const answers = output.split('\n');
  return [...refs].map(([name, oid], at) => {
    const peeled = answers[at] ?? '';
    if (!/^[0-9a-f]{40}$/.test(peeled)) throw damagedRepository(new Error(`${name}: ${peeled}`));
    return { name, oid, peeled: peeled === oid ? null : peeled };
  });
}

/** @throws HawserError `repository_damaged`, with what git says as its cause */
export async function runGit(command: GitCommand, lines: readonly string[]): Promise<string> {
  const process = new GitProcess(command);
  process.stdin.end(lines.map((line) => `${line}\n`).join(''));
  const output = await text(process.stdout);
  const { code, error, stderr } = await process.ended;
  if (error) throw error;
  if (code !== 0) throw damagedRepository(new Error(stderr.trim() || `git ended with code ${code}`));
  return output;
}

/** Quotes a path for a variable that holds a list of paths with colons between them. */
function quotePath(path: string): string {
  return `"${path.replace(/["\\]/g, '\\$&')}"`;
}
