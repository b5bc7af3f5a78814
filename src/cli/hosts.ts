/** The servers that were signed in to, in a file that only its owner may read. */

import { readFileSync } from 'node:fs';
import type { Trust } from '../client/trust.ts';
import { Failure } from './errors.ts';
import { ownFile, writeOwnFile } from './own-files.ts';

export interface Host {
  trust: Trust;
  token: string;
  /** Whose the token is. */
  username: string;
  /** It is that of a token that `login` made itself. */
  tokenId: string | null;
}

interface Hosts {
  /** The origin of the server that commands are for; null where there is none. */
  current: string | null;
  /** The key is the origin of the server. */
  hosts: Record<string, Host>;
}

export class HostStore {
  readonly file: string;

  /** @param env of which XDG_CONFIG_HOME and HOME count, on Windows APPDATA */
  constructor(env: Readonly<Record<string, string | undefined>>) {
    this.file = ownFile(env, 'config', 'hosts.json');
  }

  /** @throws Failure where the file is damaged */
  read(): Hosts {
    const text = readIfThere(this.file);
    const hosts = text === null ? { current: null, hosts: {} } : parse(text);
    if (hosts === null)
      throw new Failure(`${this.file} cannot be read as JSON; remove it and sign in with "hawserctl login".`);
    return hosts;
  }

  /** @returns null where there is none of this origin */
  find(origin: string): Host | null {
    return own(this.read().hosts, origin);
  }

  /** Keeps it, in place of one of the same origin, and makes it the current one. */
  async keep(origin: string, host: Host): Promise<void> {
    const { hosts } = this.read();
    await this.write({ current: origin, hosts: { ...hosts, [origin]: host } });
  }

  /** @throws Failure where there is none of this origin */
  async makeCurrent(origin: string): Promise<void> {
    const known = this.read();
    if (own(known.hosts, origin) === null)
      throw new Failure(`${origin} is not known; sign in with "hawserctl login ${origin}".`);
    await this.write({ ...known, current: origin });
  }

  /** Forgets it. Where it was the current one, the first of the others is so now. */
  async forget(origin: string): Promise<void> {
    const { current, hosts } = this.read();
    const { [origin]: _, ...others } = hosts;
    const next = current === origin ? (Object.keys(others)[0] ?? null) : current;
    await this.write({ current: next, hosts: others });
  }

  private async write(hosts: Hosts): Promise<void> {
    try {
      await writeOwnFile(this.file, `${JSON.stringify(hosts, null, 2)}\n`);
    } catch (error) {
      throw new Failure(`${this.file} cannot be written: ${(error as NodeJS.ErrnoException).code}.`);
    }
  }
}

function own(hosts: Record<string, Host>, origin: string): Host | null {
  return Object.hasOwn(hosts, origin) ? (hosts[origin] ?? null) : null;
}

/** Is read at once, so that a command can have its client without waiting. @returns null where there is none */
function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    throw new Failure(`${file} cannot be read: ${code}.`);
  }
}

/** @returns null where the text is not what this file has */
function parse(text: string): Hosts | null {
  try {
    const { current, hosts } = JSON.parse(text);
    return typeof hosts === 'object' && hosts !== null ? { current: current ?? null, hosts } : null;
  } catch {
    return null;
  }
}
