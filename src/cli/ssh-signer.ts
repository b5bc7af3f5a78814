/** The key by which an author signs: of a file, or of ssh-agent. */

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { GIT_NAMESPACE } from '../domain/signed-tag.ts';
import {
  fingerprintOf,
  fromBase64,
  readSshPublicKey,
  SshFormatError,
  type SshPublicKey,
} from '../domain/ssh-keys.ts';
import { readSshPrivateKey, SshKeyProtected } from '../domain/ssh-private-key.ts';
import { bytesToSign, signBySshKey, writeSshSignature } from '../domain/ssh-signature.ts';
import { Failure } from './errors.ts';
import { agentKeys, signByAgent } from './ssh-agent.ts';

export interface Signer {
  fingerprint: string;
  /** @returns the lines of the signature, as git puts them behind a tag */
  sign(payload: Buffer): Promise<string>;
}

interface Surroundings {
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
}

/**
 * @param file of a private key, or of the public key of one that ssh-agent has; without it the agent must have exactly one
 * @throws Failure
 */
export async function findSigner(file: string | undefined, { env, cwd }: Surroundings): Promise<Signer> {
  const socket = env['SSH_AUTH_SOCK'] || null;
  if (file !== undefined) return signerOfFile(resolve(cwd, file), socket);
  if (socket === null)
    throw new Failure(
      'There is no key to sign with. Say --key FILE, or start ssh-agent and add the key by ssh-add.',
    );
  const keys = await agentKeys(socket);
  const [key] = keys;
  if (key === undefined)
    throw new Failure('ssh-agent has no key that may sign; add it by ssh-add, or say --key FILE.');
  if (keys.length > 1) throw new Failure(`ssh-agent has ${keys.length} keys; say which by --key FILE.pub.`);
  return signerOfAgent(socket, key);
}

async function signerOfFile(file: string, socket: string | null): Promise<Signer> {
  const text = await readKeyFile(file);
  if (!text.includes('PRIVATE KEY-----')) return ofAgent(publicKeyIn(text, file), file, socket);
  try {
    const key = readSshPrivateKey(text);
    return {
      fingerprint: fingerprintOf(key.publicKey),
      sign: async (payload) => signBySshKey(key, payload, GIT_NAMESPACE),
    };
  } catch (error) {
    if (error instanceof SshKeyProtected)
      throw new Failure(
        `${file} is protected by a passphrase. Add it to ssh-agent by "ssh-add ${file}", and say --key ${file}.pub.`,
      );
    if (error instanceof SshFormatError)
      throw new Failure(
        `${file} cannot be used: ${error.message}. "ssh-keygen -p -f" brings a key to OpenSSH's form.`,
      );
    throw error;
  }
}

async function readKeyFile(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new Failure(`${file} cannot be read: ${(error as NodeJS.ErrnoException).code}.`);
  }
}

/** @throws Failure */
function publicKeyIn(text: string, file: string): SshPublicKey {
  const blob = fromBase64(text.trim().split(/\s+/)[1] ?? '');
  try {
    if (blob !== null) return readSshPublicKey(blob);
  } catch (error) {
    if (!(error instanceof SshFormatError)) throw error;
  }
  throw new Failure(`${file} holds neither a private key of OpenSSH nor a public one that may sign.`);
}

async function ofAgent(key: SshPublicKey, file: string, socket: string | null): Promise<Signer> {
  if (socket === null)
    throw new Failure(
      `${file} is a public key, and no ssh-agent runs that has its private key; say --key with that.`,
    );
  const known = (await agentKeys(socket)).find(({ blob }) => blob.equals(key.blob));
  if (known === undefined)
    throw new Failure(`ssh-agent does not have the key of ${file}; add it by ssh-add.`);
  return signerOfAgent(socket, known);
}

function signerOfAgent(socket: string, key: SshPublicKey): Signer {
  return {
    fingerprint: fingerprintOf(key),
    async sign(payload) {
      const signed = await signByAgent(socket, key, bytesToSign(payload, GIT_NAMESPACE, 'sha512'));
      return writeSshSignature(key.blob, signed, GIT_NAMESPACE, 'sha512');
    },
  };
}
