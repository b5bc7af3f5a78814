/** What a repository is besides its objects, read at one moment: its refs, and the few files that describe it. */

import { join } from 'node:path';
import type { AtomicFs } from './atomic-fs.ts';
import { damagedRepository, unlessAbsent } from './disk-errors.ts';
import { parsePackedRefs } from './packed-refs.ts';
import { readLoose } from './refs.ts';
import { readSettings } from './repository-layout.ts';
import { readShallow } from './shallow.ts';

export interface RepositoryState {
  /** The same for as long as it is the same repository: another one of the same name has another. */
  identity: string;
  /** The id that its settings name, or those of the repository it belongs to; null of one that was not made here. */
  id: string | null;
  head: Buffer;
  config: Buffer;
  description: Buffer;
  /** Oids by full name, of every ref there is. */
  refs: ReadonlyMap<string, string>;
  /** The commits at which history ends. */
  shallow: ReadonlySet<string>;
}

/** Stands for a ref whose file is broken, see `readLoose`. */
const BROKEN = /^0+$/;

/**
 * @param owner the repository whose settings name the id: its own folder, or that of the configuration of parameters
 * @returns null when the repository is not there, or went or was replaced meanwhile
 * @throws HawserError `repository_damaged` for a folder that is no repository, or a broken ref
 */
export async function readRepositoryState(
  fs: AtomicFs,
  gitdir: string,
  owner = gitdir,
): Promise<RepositoryState | null> {
  const before = await identify(fs, gitdir, owner);
  if (before === null) return null;
  const [head, config, description] = await Promise.all([
    readIfThere(fs, join(gitdir, 'HEAD')),
    readIfThere(fs, join(gitdir, 'config')),
    readIfThere(fs, join(gitdir, 'description')),
  ]);
  const refs = await readRefs(fs, gitdir);
  const shallow = await readShallow(fs, gitdir);
  const after = await identify(fs, gitdir, owner);
  if (after?.identity !== before.identity) return null;
  if (head === null || config === null) throw damagedRepository();
  for (const [name, oid] of refs) if (BROKEN.test(oid)) throw damagedRepository(new Error(name));
  return { ...before, head, config, description: description ?? Buffer.alloc(0), refs, shallow };
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

/** Loose before packed, as in ref-snapshot.ts: what is being packed meanwhile is seen in at least one of them. */
async function readRefs(fs: AtomicFs, gitdir: string): Promise<Map<string, string>> {
  const loose = new Map<string, string>();
  await collectLoose(fs, gitdir, 'refs', loose);
  const packed = await readIfThere(fs, join(gitdir, 'packed-refs'));
  return new Map([...parsePackedRefs(packed?.toString('utf8') ?? ''), ...loose]);
}

async function collectLoose(
  fs: AtomicFs,
  gitdir: string,
  path: string,
  into: Map<string, string>,
): Promise<void> {
  for (const entry of await unlessAbsent(fs.readdir(join(gitdir, path)), [])) {
    if (entry.name.startsWith('.') || entry.name.endsWith('.lock')) continue;
    const name = `${path}/${entry.name}`;
    if (entry.isDirectory()) await collectLoose(fs, gitdir, name, into);
    else {
      const oid = readLoose(fs, gitdir, name);
      if (oid !== null) into.set(name, oid);
    }
  }
}

function readIfThere(fs: AtomicFs, path: string): Promise<Buffer | null> {
  return unlessAbsent(fs.readFile(path), null);
}
