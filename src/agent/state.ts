/**
 * What the agent keeps between two runs, a file each, replaced whole and flushed: whichever moment it is killed at,
 * each file is the old or the new one.
 *
 *     identity.pem        certificate and key that the server knows the node by
 *     next-identity.pem   the ones it may know it by soon, while a rotation is under way
 *     node.json           the node's id, once registered
 *     report.json         a report that the server has not got yet
 */

import { readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { flushFolder, makePrivateFolder } from '../lib/folders.ts';
import { isId } from '../lib/ids.ts';
import { writeSecretFile } from '../lib/secret-file.ts';
import { belongTogether, type Identity } from './certificates.ts';

const FILES = {
  current: 'identity.pem',
  next: 'next-identity.pem',
  node: 'node.json',
  report: 'report.json',
} as const;

/** Names that `writeSecretFile` and the switch of the link give to what is not finished. */
const UNFINISHED = /\.[0-9a-f-]{36}(?:\.tmp)?$/;
const PEM_BLOCK = /-----BEGIN (CERTIFICATE|PRIVATE KEY)-----[A-Za-z0-9+/=\s]+-----END \1-----\n?/g;

export class StateFolder {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** Makes the folder (0700) where absent, and clears away what a killed agent has left half-written. */
  static async open(path: string): Promise<StateFolder> {
    await makePrivateFolder(path);
    await removeUnfinished(path);
    return new StateFolder(path);
  }

  async nodeId(): Promise<string | null> {
    const text = await this.read(FILES.node);
    if (text === null) return null;
    const { nodeId } = JSON.parse(text) as { nodeId?: unknown };
    if (typeof nodeId === 'string' && isId(nodeId)) return nodeId;
    throw new Error(`${FILES.node} is damaged`);
  }

  saveNodeId(nodeId: string): Promise<void> {
    return this.write(FILES.node, `${JSON.stringify({ nodeId })}\n`);
  }

  /** @throws Error when the file is there and does not hold a certificate with its key */
  async identity(which: 'current' | 'next'): Promise<Identity | null> {
    const text = await this.read(FILES[which]);
    if (text === null) return null;
    const blocks = text.match(PEM_BLOCK) ?? [];
    const blockOf = (type: string) =>
      blocks.find((block) => block.startsWith(`-----BEGIN ${type}-----`)) ?? '';
    const identity = { certificate: blockOf('CERTIFICATE'), key: blockOf('PRIVATE KEY') };
    if (!belongTogether(identity)) throw new Error(`${FILES[which]} is damaged`);
    return identity;
  }

  /** In one file, so that no moment shows a certificate with another's key. */
  saveIdentity(which: 'current' | 'next', { certificate, key }: Identity): Promise<void> {
    return this.write(FILES[which], `${certificate.trim()}\n${key.trim()}\n`);
  }

  /** The next identity is the current one from now on. */
  async promoteNext(): Promise<void> {
    await rename(join(this.path, FILES.next), join(this.path, FILES.current));
    await flushFolder(this.path);
  }

  discardNext(): Promise<void> {
    return this.remove(FILES.next);
  }

  report(): Promise<string | null> {
    return this.read(FILES.report);
  }

  saveReport(report: string): Promise<void> {
    return this.write(FILES.report, report);
  }

  discardReport(): Promise<void> {
    return this.remove(FILES.report);
  }

  private async read(name: string): Promise<string | null> {
    return readIfThere(join(this.path, name));
  }

  private write(name: string, content: string): Promise<void> {
    return writeSecretFile(join(this.path, name), content);
  }

  private async remove(name: string): Promise<void> {
    await rm(join(this.path, name), { force: true });
    await flushFolder(this.path);
  }
}

export async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Files, links and folders directly in the folder that were never given their final name. */
export async function removeUnfinished(path: string): Promise<void> {
  for (const name of await readdir(path)) {
    if (UNFINISHED.test(name)) await rm(join(path, name), { recursive: true, force: true });
  }
}
