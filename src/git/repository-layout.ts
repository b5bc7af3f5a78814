/** Where repositories lie, the files of a new one besides objects and refs, and the removal of unfinished files. */

import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { toTimestamp } from '../lib/clock.ts';
import { invalid } from '../lib/errors.ts';
import { isId } from '../lib/ids.ts';
import { type AtomicFs, TEMPORARY_PREFIX } from './atomic-fs.ts';
import { missingRepository, unlessAbsent } from './disk-errors.ts';
import { listLooseRefs, MAIN } from './ref-reader.ts';
import { EARLIER_PACKED } from './refs.ts';
import type { RepositorySettings, StoredRef } from './types.ts';

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const SUFFIX = '.git';
/** The folders of an empty bare repository. Each stands behind the folder that it is in. */
export const REPOSITORY_FOLDERS = [
  'objects',
  'objects/info',
  'objects/pack',
  'refs',
  'refs/heads',
  'refs/heads/draft',
  'refs/tags',
];
/** The beginning of the description that git writes when nobody has described the repository. */
const UNNAMED = 'Unnamed repository;';

/** The folder beside the repositories for what is not finished or to be removed. Each start empties it. */
export const TEMPORARY = '.tmp';

/** A path in the folder for what is not finished. Nothing is there yet. */
export function scratchPath(root: string): string {
  return join(root, TEMPORARY, randomUUID());
}

/** The folder of a bare repository. Names are checked again here, where they become paths. */
export function gitdirOf(root: string, ref: StoredRef): string {
  if (!NAME.test(ref.name)) throw invalid('invalid_name', 'The name cannot be that of a repository.');
  return join(root, ref.kind, ref.name + SUFFIX);
}

/** The name of the repository in a folder; null when the folder is not one of this server's. */
export function nameOfFolder(folder: string): string | null {
  if (!folder.endsWith(SUFFIX)) return null;
  const name = folder.slice(0, -SUFFIX.length);
  return NAME.test(name) ? name : null;
}

/**
 * Makes an empty bare repository and flushes it. Its folder must not exist, and the folder above it must.
 * @param head the branch that a clone checks out
 */
export async function makeSkeleton(
  fs: AtomicFs,
  gitdir: string,
  settings: RepositorySettings | null,
  head = MAIN,
): Promise<void> {
  await fs.makeFolder(gitdir);
  for (const folder of REPOSITORY_FOLDERS) await fs.makeFolder(join(gitdir, folder));
  await writeHead(fs, gitdir, head);
  await fs.writeFile(join(gitdir, 'description'), settings?.description ?? '');
  await fs.writeFile(join(gitdir, 'config'), formatConfig(settings));
}

/** The branch that a clone checks out; null where that cannot be told. */
export function readHead(fs: AtomicFs, gitdir: string): string | null {
  const text = fs.readNow(join(gitdir, 'HEAD'))?.toString('utf8') ?? '';
  return /^ref: (refs\/\S+)\s*$/.exec(text)?.[1] ?? null;
}

export function writeHead(fs: AtomicFs, gitdir: string, branch: string): Promise<void> {
  return fs.writeFile(join(gitdir, 'HEAD'), `ref: ${branch}\n`);
}

/** The settings that were written when the repository was made; null when it was not made by this server. */
export async function readSettings(fs: AtomicFs, gitdir: string): Promise<RepositorySettings | null> {
  const config = await unlessAbsent(fs.readFile(join(gitdir, 'config')), null);
  if (config === null) throw missingRepository();
  const values = parseSection(config.toString('utf8'));
  const id = values.get('id') ?? '';
  if (!isId(id)) return null;
  const description = await unlessAbsent(fs.readFile(join(gitdir, 'description')), Buffer.alloc(0));
  const text = description.toString('utf8');
  return {
    id,
    description: text === '' || text.startsWith(UNNAMED) ? null : text,
    createdBy: values.get('createdby') ?? '',
    useServerManagedParameters: values.get('useservermanagedparameters') === 'true',
    entryPoint: values.get('entrypoint') ?? null,
    createdAt: Date.parse(values.get('createdat') ?? '') || 0,
  };
}

function formatConfig(settings: RepositorySettings | null): string {
  const lines = ['[core]', '\trepositoryformatversion = 0', '\tfilemode = true', '\tbare = true'];
  if (settings) lines.push(...formatSection(settings));
  return `${lines.join('\n')}\n`;
}

function formatSection(settings: RepositorySettings): string[] {
  const lines = [
    '[hawser]',
    `\tid = ${quote(settings.id)}`,
    `\tcreatedBy = ${quote(settings.createdBy)}`,
    `\tcreatedAt = ${quote(toTimestamp(settings.createdAt))}`,
    `\tuseServerManagedParameters = ${settings.useServerManagedParameters}`,
  ];
  if (settings.entryPoint !== null) lines.push(`\tentryPoint = ${quote(settings.entryPoint)}`);
  return lines;
}

/** Quotes a value as Git does. Git has no escape for the other control characters, so they are left out. */
function quote(value: string): string {
  const escaped = value.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\t', '\\t');
  return `"${escaped.replace(/\p{Cc}/gu, '')}"`;
}

/** The values of the `[hawser]` section by their keys in lower case: Git ignores the case of keys. */
function parseSection(config: string): Map<string, string> {
  const values = new Map<string, string>();
  let inside = false;
  for (const line of config.split('\n').map((text) => text.trim())) {
    if (line.startsWith('[')) inside = line.toLowerCase() === '[hawser]';
    const [, key, value] = /^([A-Za-z][A-Za-z0-9-]*)\s*=\s*(.*)$/.exec(line) ?? [];
    if (inside && key !== undefined && value !== undefined) values.set(key.toLowerCase(), unquote(value));
  }
  return values;
}

function unquote(value: string): string {
  const inner = /^"(.*)"$/.exec(value)?.[1];
  if (inner === undefined) return value;
  return inner.replace(/\\(.)/g, (_, sign: string) => (sign === 'n' ? '\n' : sign === 't' ? '\t' : sign));
}

/**
 * Removes the unfinished files that a killed process of this server left in a repository, and flushes the finished ones.
 * It looks through every folder of loose objects, which takes some milliseconds, so it is done once per repository and
 * process.
 */
export async function sweepLeftOvers(fs: AtomicFs, gitdir: string): Promise<void> {
  // Git makes these files exclusively, so it fails where one is left behind.
  await discardIfOld(fs, join(gitdir, 'packed-refs.new'));
  await discardIfOld(fs, join(gitdir, 'packed-refs.lock'));
  await discardIfOld(fs, join(gitdir, EARLIER_PACKED));
  // Many refs may have been locked at once, and whoever waited for each lock to be given up would wait for minutes.
  for (const name of listLooseRefs(fs, gitdir))
    if (name.endsWith('.lock')) await discardIfOld(fs, join(gitdir, name));
  await fs.flushIfRecent(join(gitdir, 'objects'));
  for (const { name } of await fs.readdir(join(gitdir, 'objects'))) {
    if (!/^[0-9a-f]{2}$/.test(name)) continue;
    const folder = join(gitdir, 'objects', name);
    // Objects that exist are not written again, so they must be flushed before anything is built upon them.
    await fs.flushIfRecent(folder);
    for (const entry of await unlessAbsent(fs.readdir(folder), [])) {
      if (entry.name.startsWith(TEMPORARY_PREFIX)) await discardIfOld(fs, join(folder, entry.name));
    }
  }
}

/** Removes a file that is older than this process. A younger one may be in use, here or in another process. */
async function discardIfOld(fs: AtomicFs, path: string): Promise<void> {
  const stats = await unlessAbsent(fs.lstat(path), null);
  if (stats && stats.mtimeMs < performance.timeOrigin) await fs.discard(path);
}
