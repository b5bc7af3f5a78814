/** Takes commits and tags apart that do not lie in the folder of a repository. isomorphic-git does it. */

import { type PromiseFsClient, readObject } from 'isomorphic-git';
import { deflateObject, loosePath, type ObjectContent, type WrappedObject } from './loose-objects.ts';
import type { ParsedTypes } from './object-backend.ts';

/** @returns null for an object of another type, and for one that is malformed */
export async function parseObject<T extends keyof ParsedTypes>(
  gitdir: string,
  oid: string,
  object: ObjectContent,
  type: T,
): Promise<ParsedTypes[T] | null> {
  if (object.type !== type) return null;
  const file = await deflateObject({ oid, ...headed(object) });
  const fs = onlyFile(loosePath(gitdir, oid), file as Buffer);
  const read = await readObject({ fs, gitdir, oid, format: 'parsed', cache: {} }).catch(() => null);
  return read?.type === type ? (read.object as ParsedTypes[T]) : null;
}

function headed({ type, content }: ObjectContent): Pick<WrappedObject, 'header' | 'content'> {
  return { header: Buffer.from(`${type} ${content.byteLength}\0`), content };
}

/** A file system that has one file. isomorphic-git reads an object from it, to take it apart. */
function onlyFile(path: string, content: Buffer): PromiseFsClient {
  const absent = () => Promise.reject(Object.assign(new Error('ENOENT'), { code: 'ENOENT' }));
  const promises = {
    // It calls this without arguments to see whether the methods make promises.
    readFile: async (wanted?: string) => (wanted === undefined ? null : wanted === path ? content : absent()),
    writeFile: absent,
    mkdir: absent,
    readdir: async () => [],
    stat: absent,
    lstat: absent,
    unlink: absent,
    rmdir: absent,
    readlink: absent,
    symlink: absent,
  };
  return { promises };
}
