/** The file of those who may sign what this node runs. Nothing that a server says changes it. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../config.ts';
import { type AllowedSigner, readAllowedSigners } from '../domain/allowed-signers.ts';
import { sha256Hex } from '../lib/hash.ts';
import { writeSecretFile } from '../lib/secret-file.ts';
import type { AgentSettings } from './settings.ts';

/** The copy of what `register` was given, in the state folder. */
const COPY = 'signers';
const ALLOWED = 'a file as the allowed_signers of OpenSSH, with at least one key';

export interface Signers {
  signers: readonly AllowedSigner[];
  /** The SHA-256 of the file. */
  digest: string;
}

export class SignersFile {
  private readonly given: string | null;
  private readonly copy: string;
  /** Whether the copy was there. From then on it must be, or whoever removes it would end all checks without a word. */
  private hasCopy = false;

  constructor({ signers, stateDir }: Pick<AgentSettings, 'signers' | 'stateDir'>) {
    this.given = signers;
    this.copy = join(stateDir, COPY);
  }

  /**
   * @returns null where the node has no such file, so that it runs what it is given
   * @throws ConfigError where the file cannot be read, is faulty or names nobody
   */
  async read(): Promise<Signers | null> {
    const path = this.given ?? this.copy;
    const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
      if (this.given === null && !this.hasCopy && error.code === 'ENOENT') return null;
      throw new ConfigError('signers', `${path} cannot be read`, ALLOWED);
    });
    if (bytes === null) return null;
    const signers = parse(path, bytes);
    if (this.given === null) this.hasCopy = true;
    return { signers, digest: sha256Hex(bytes) };
  }

  /**
   * Copies what was given into the state folder, where the service finds it.
   * @throws ConfigError as `read`
   */
  async keepCopy(): Promise<void> {
    if (this.given === null) return;
    const bytes = await readFile(this.given).catch(() => {
      throw new ConfigError('signers', `${this.given} cannot be read`, ALLOWED);
    });
    parse(this.given, bytes);
    await writeSecretFile(this.copy, bytes.toString('utf8'));
  }
}

function parse(path: string, bytes: Buffer): readonly AllowedSigner[] {
  const text = bytes.toString('utf8');
  if (!Buffer.from(text).equals(bytes)) throw new ConfigError('signers', `${path} is not UTF-8`, ALLOWED);
  const { signers, faults } = readAllowedSigners(text);
  const [fault] = faults;
  if (fault !== undefined)
    throw new ConfigError('signers', `${path}, line ${fault.line}: ${fault.message}`, ALLOWED);
  if (signers.length === 0) throw new ConfigError('signers', `${path} names nobody`, ALLOWED);
  return signers;
}
