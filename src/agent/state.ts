/**
 * What the agent keeps between two runs. Each thing is a file, which is replaced as a whole and flushed, so that a killed
 * agent leaves either the old file or the new one. Only one agent works in the folder.
 *
 *     identity.pem        the certificate by which the server knows the node, and its key
 *     next-identity.pem   the certificate that is to replace it, and its key, during a rotation
 *     node.json           the node's id, once it is registered
 *     report.json         a report that the server has not received yet
 *     agent.lock          the socket of the agent that works here
 */

import { readdir, rename, rm, unlink } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { flushFolder, makePrivateFolder } from '../lib/folders.ts';
import { isId } from '../lib/ids.ts';
import { readIfPresent, writeSecretFile } from '../lib/secret-file.ts';
import { belongTogether, type Identity } from './certificates.ts';

const FILES = {
  current: 'identity.pem',
  next: 'next-identity.pem',
  node: 'node.json',
  report: 'report.json',
} as const;

/** The ends of the names that `writeSecretFile` and `BundleStore` give to what is not finished. */
const UNFINISHED = /\.[0-9a-f-]{36}(?:\.tmp)?$/;
const PEM_BLOCK = /-----BEGIN (CERTIFICATE|PRIVATE KEY)-----[A-Za-z0-9+/=\s]+-----END \1-----\n?/g;

export class StateFolder {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** Makes the folder (0700) if it is missing, and removes files that a killed agent has left unfinished. */
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

  /** @throws Error when the file exists but does not hold a certificate and its key */
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

  /** Certificate and key are in one file, so that they always belong together. */
  saveIdentity(which: 'current' | 'next', { certificate, key }: Identity): Promise<void> {
    return this.write(FILES[which], `${certificate.trim()}\n${key.trim()}\n`);
  }

  /** Makes the next identity the current one. */
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

  private read(name: string): Promise<string | null> {
    return readIfPresent(join(this.path, name));
  }

  private write(name: string, content: string): Promise<void> {
    return writeSecretFile(join(this.path, name), content);
  }

  private async remove(name: string): Promise<void> {
    await rm(join(this.path, name), { force: true });
    await flushFolder(this.path);
  }
}

/** Removes the files, links and folders in this folder that were not finished, and so have no final name. */
export async function removeUnfinished(path: string): Promise<void> {
  for (const name of await readdir(path)) {
    if (UNFINISHED.test(name)) await rm(join(path, name), { recursive: true, force: true });
  }
}

/**
 * A socket, because the system closes it however the process ends; of a process id in a file nobody knows whether it is
 * still the same process. The name is relative to the working folder, because the path of a socket has at most 107 bytes.
 */
const LOCK_NAME = 'agent.lock';

/**
 * Makes this process the only agent in the working folder until it ends. Two agents would rotate the same certificate
 * and remove each other's files.
 * @throws Error when another agent is there
 */
export async function lockWorkingFolder(): Promise<void> {
  if (await canListen()) return;
  const isAbandoned = !(await isAnswered());
  if (isAbandoned) await unlink(LOCK_NAME).catch(() => undefined);
  if (!isAbandoned || !(await canListen())) throw new Error('Another agent works in this state folder');
}

function canListen(): Promise<boolean> {
  const server = createServer((socket) => socket.destroy());
  // The socket alone must not keep the process alive.
  server.unref();
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(false);
      else reject(error);
    });
    server.listen(LOCK_NAME, () => resolve(true));
  });
}

function isAnswered(): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(LOCK_NAME);
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}
