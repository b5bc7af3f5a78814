/** Short calls for single files of drafts, and a disk that holds up whoever writes. */

import { DISK, type Disk } from '../../src/git/disk.ts';
import type { Client, Reply } from './client.ts';
import { fileOf, versionsOf } from './configurations.ts';
import type { Hawser } from './hawser.ts';

export const versionOf = (name: string, version: string) => `${versionsOf(name)}/${version}`;

/** Saves a file of the draft. @param headers such as `If-Match`; there is no Content-Type unless it is given */
export function save(
  client: Client,
  [name, version, path]: readonly [name: string, version: string, path: string],
  content: string | Buffer,
  headers: Record<string, string> = {},
): Promise<Reply> {
  return client.call('PUT', fileOf(name, version, path), { body: content, headers });
}

export function remove(
  client: Client,
  [name, version, path]: readonly [name: string, version: string, path: string],
  headers: Record<string, string> = {},
): Promise<Reply> {
  return client.call('DELETE', fileOf(name, version, path), { headers });
}

/** All refs of a configuration's repository, with what they lead to. */
export const refsOf = (hawser: Hawser, name: string, kind = 'configurations') =>
  hawser.git(`${kind}/${name}.git`, 'for-each-ref');

/** Holds up the writes of objects, and so whoever has the lock of a repository, from `hold` until it is let go. */
export class HeldDisk implements Disk {
  readonly appendFile = DISK.appendFile;
  readonly rename = DISK.rename;
  readonly unlink = DISK.unlink;
  readonly rm = DISK.rm;
  readonly mkdir = DISK.mkdir;
  readonly rmdir = DISK.rmdir;
  private gate: Promise<void> = Promise.resolve();
  private reached = () => {};

  async open(path: string, flags: string) {
    if (flags !== 'r' && path.includes('/objects/')) {
      this.reached();
      await this.gate;
    }
    return DISK.open(path, flags);
  }

  /**
   * @returns `isHeld`, which is done once somebody waits, and the function that lets all go on
   */
  hold(): { isHeld: Promise<void>; letGo: () => void } {
    let letGo = () => {};
    this.gate = new Promise((resolve) => {
      letGo = resolve;
    });
    const isHeld = new Promise<void>((resolve) => {
      this.reached = resolve;
    });
    return { isHeld, letGo };
  }
}
