/** Objects of a repository brought into a pack elsewhere by stock git, which knows its way beside a `git gc`. */

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { damagedRepository } from './disk-errors.ts';
import { type GitCommand, GitProcess } from './git-process.ts';
import type { PackedRef } from './packed-refs.ts';

export interface PackSource {
  gitdir: string;
  /** Where git is looked for, like `PATH`. */
  searchPath: string;
}

/**
 * Packs everything that the `wanted` objects lead to, and that the `known` ones do not. Git fails when a single object
 * is missing or broken, so a pack that comes about is complete. Nothing in the repository is touched.
 * @param folder where `pack-<hash>.pack` and `pack-<hash>.idx` are put
 * @returns the hash; null when there is nothing to pack
 * @throws HawserError `repository_damaged`, also when the repository goes meanwhile
 */
export async function packReachable(
  source: PackSource,
  folder: string,
  wanted: Iterable<string>,
  known: Iterable<string>,
): Promise<string | null> {
  const input = [...wanted, '--not', ...known];
  // No deltas are looked for, those that exist are kept: this runs beside the server and is to be cheap.
  const options = ['--revs', '--non-empty', '--delta-base-offset', '--window=0', '-q'];
  // What a power cut takes is begun anew.
  const settings = ['-c', 'core.fsync=none'];
  const args = [...settings, `--git-dir=${source.gitdir}`, 'pack-objects', ...options, join(folder, 'pack')];
  // Else it would begin the pack in the repository, and could not move it from there to another disk.
  const objects = join(folder, 'objects');
  await mkdir(objects, { recursive: true });
  const env = {
    GIT_OBJECT_DIRECTORY: objects,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: quote(join(source.gitdir, 'objects')),
  };
  const output = await run({ searchPath: source.searchPath, args, env }, input);
  return output.trim() || null;
}

/** The refs with what each leads to in the end. @throws HawserError `repository_damaged` */
export async function peelRefs(source: PackSource, refs: ReadonlyMap<string, string>): Promise<PackedRef[]> {
  if (refs.size === 0) return [];
  const asked = [...refs.values()].map((oid) => `${oid}^{}`);
  const args = [`--git-dir=${source.gitdir}`, 'cat-file', '--batch-check=%(objectname)'];
  const output = await run({ searchPath: source.searchPath, args }, asked);
  const answers = output.split('\n');
  return [...refs].map(([name, oid], at) => {
    const peeled = answers[at] ?? '';
    if (!/^[0-9a-f]{40}$/.test(peeled)) throw damagedRepository(new Error(`${name}: ${peeled}`));
    return { name, oid, peeled: peeled === oid ? null : peeled };
  });
}

async function run(command: GitCommand, lines: readonly string[]): Promise<string> {
  const process = new GitProcess(command);
  process.stdin.end(lines.map((line) => `${line}\n`).join(''));
  const output = await text(process.stdout);
  const { code, error, stderr } = await process.ended;
  if (error) throw error;
  if (code !== 0) throw damagedRepository(new Error(stderr.trim() || `git ended with code ${code}`));
  return output;
}

/** The variable is a list of paths with colons between them, of which one in quotes may hold any character. */
function quote(path: string): string {
  return `"${path.replace(/["\\]/g, '\\$&')}"`;
}
