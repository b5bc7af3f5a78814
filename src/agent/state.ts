/**
 * What the agent keeps between two runs. Each thing is a file, which is replaced as a whole and flushed, so that a killed
 * agent leaves either the old file or the new one. Only one agent works in the folder.
 *
 *     identity.pem        the certificate by which the server knows the node, and its key
 *     next-identity.pem   the certificate that is to replace it, and its key, during a rotation
 *     node.json           the node's id, once it is registered
 *     wishes.json         what the server wanted of the node when it answered last
 *     last-report.json    what the last report said, for `status`
 *     missing-command     the program whose absence was reported, as long as it is absent
 *     refused             the bundle whose refusal was reported while nothing is in use
 *     highest-versions.json  of each name that this node ran, the highest version
 *     signers             who may sign, as `register` was given it (`signers.ts`)
 *     agent.lock.*        the socket of the agent that works here
 *
 * `outbox.ts` and `bundles.ts` keep folders of their own here.
 */

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, rename, rm, stat, unlink } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { z } from 'zod';
import { ConfigError } from '../config.ts';
import { flushFolder, makePrivateFolder } from '../lib/folders.ts';
import { isId } from '../lib/ids.ts';
import { readIfPresent, writeSecretFile } from '../lib/secret-file.ts';
import { belongTogether, type Identity } from './certificates.ts';

const FILES = {
  current: 'identity.pem',
  next: 'next-identity.pem',
  node: 'node.json',
  wishes: 'wishes.json',
  lastReport: 'last-report.json',
  missing: 'missing-command',
  refused: 'refused',
  highest: 'highest-versions.json',
} as const;

/** What the server wanted last. The node goes on with that while the server is away. */
export type Wishes = z.output<typeof WISHES>;

const WISHES = z.object({
  configurationMode: z.enum(['Monitor', 'Remediate']).nullable(),
  /** A duration in the form that `parseDuration` reads. */
  configurationModeInterval: z.string().nullable(),
  reportCompliance: z.boolean().nullable(),
  /** Whether the server had a bundle for this node. */
  isAssigned: z.boolean(),
});

/** What the last report said. Times are RFC 3339. */
export type LastReport = z.output<typeof LAST_REPORT>;

const LAST_REPORT = z.object({
  madeAt: z.string(),
  operation: z.enum(['Test', 'Set']),
  inDesiredState: z.boolean().nullable(),
  hadErrors: z.boolean(),
  /** Null where nothing was in use. */
  configurationChecksum: z.string().nullable(),
});

const HIGHEST = z.record(z.string(), z.string());

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

  /** To read only, while an agent may work in the folder. */
  static at(path: string): StateFolder {
    return new StateFolder(path);
  }

  async nodeId(): Promise<string | null> {
    const text = await this.read(FILES.node);
    if (text === null) return null;
    const { nodeId } = JSON.parse(text) as { nodeId?: unknown };
    if (typeof nodeId === 'string' && isId(nodeId)) return nodeId;
    throw this.damaged(FILES.node);
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
    if (!belongTogether(identity)) throw this.damaged(FILES[which]);
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

  /** Null when the server has never answered. */
  async wishes(): Promise<Wishes | null> {
    return parse(WISHES, await this.read(FILES.wishes));
  }

  saveWishes(wishes: Wishes): Promise<void> {
    return this.write(FILES.wishes, `${JSON.stringify(wishes)}\n`);
  }

  async lastReport(): Promise<LastReport | null> {
    return parse(LAST_REPORT, await this.read(FILES.lastReport));
  }

  saveLastReport(report: LastReport): Promise<void> {
    return this.write(FILES.lastReport, `${JSON.stringify(report)}\n`);
  }

  /** The program whose absence was reported; null when there is none. */
  missingCommand(): Promise<string | null> {
    return this.read(FILES.missing);
  }

  saveMissingCommand(program: string): Promise<void> {
    return this.write(FILES.missing, program);
  }

  discardMissingCommand(): Promise<void> {
    return this.remove(FILES.missing);
  }

  /** What was refused and reported while nothing is in use; null when there is nothing like it. */
  refused(): Promise<string | null> {
    return this.read(FILES.refused);
  }

  saveRefused(text: string): Promise<void> {
    return this.write(FILES.refused, text);
  }

  discardRefused(): Promise<void> {
    return this.remove(FILES.refused);
  }

  /**
   * The highest version that this node ran, by name.
   * @throws Error when the file cannot be read, because without it an older version would pass
   */
  async highestVersions(): Promise<Readonly<Record<string, string>>> {
    const text = await this.read(FILES.highest);
    if (text === null) return {};
    const found = parse(HIGHEST, text);
    if (found !== null) return found;
    throw new Error(`${join(this.path, FILES.highest)} is damaged. Remove it, and any version may run again`);
  }

  saveHighestVersions(versions: Readonly<Record<string, string>>): Promise<void> {
    return this.write(FILES.highest, `${JSON.stringify(versions)}\n`);
  }

  private damaged(name: string): Error {
    const next = 'Remove this folder, and register the node anew with a registration key';
    return new Error(`${join(this.path, name)} is damaged. ${next}`);
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

/** Whether the state in this folder is that of a registered node. */
export function isRegisteredIn(path: string): boolean {
  return existsSync(join(path, FILES.node));
}

/**
 * Refuses a folder in which other users can change files. They could put a bundle of theirs in the place of the node's,
 * and the agent, which is often root, would run it.
 * @throws ConfigError
 */
export async function requireOwnFolder(path: string): Promise<void> {
  // Windows has other permissions, which Node does not report.
  const isShared = process.platform !== 'win32' && ((await stat(path)).mode & 0o022) !== 0;
  if (!isShared) return;
  throw new ConfigError('stateDir', `other users can change ${path}`, 'a folder with mode 0700');
}

/** These files are of use, but not needed. So one that cannot be read counts as absent. */
function parse<T>(schema: z.ZodType<T>, text: string | null): T | null {
  try {
    return text === null ? null : (schema.safeParse(JSON.parse(text)).data ?? null);
  } catch {
    return null;
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
 * and remove each other's files. Each one listens under a name of its own before it looks for others, so of two that start
 * at once at least one finds the other. Perhaps both do, and none of them works; that does no harm.
 * @throws Error when another agent is there
 */
export async function lockWorkingFolder(): Promise<void> {
  const own = `${LOCK_NAME}.${randomBytes(6).toString('hex')}`;
  const server = createServer((socket) => socket.destroy());
  // The socket alone must not keep the process alive.
  server.unref();
  server.listen(own);
  await once(server, 'listening');
  for (const name of await locks()) {
    if (name === own) continue;
    if (await isAnswered(name)) {
      server.close();
      throw new Error('Another agent works in this state folder');
    }
    // It belongs to an agent that was killed. Nobody takes its name again.
    await unlink(name).catch(() => undefined);
  }
}

/** Whether an agent works in the working folder. */
export async function hasAgent(): Promise<boolean> {
  for (const name of await locks()) {
    if (await isAnswered(name)) return true;
  }
  return false;
}

async function locks(): Promise<string[]> {
  return (await readdir('.')).filter((name) => name.startsWith(LOCK_NAME));
}

function isAnswered(name: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(name);
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}
