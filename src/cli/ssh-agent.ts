/** The agent of OpenSSH, asked over its socket (draft-miller-ssh-agent): which keys it has, and what they sign. */

import { createConnection } from 'node:net';
import {
  readSshPublicKey,
  SshFormatError,
  type SshPublicKey,
  SshReader,
  sshString,
} from '../domain/ssh-keys.ts';
import { SECOND } from '../lib/clock.ts';
import { Failure } from './errors.ts';

const LIST = 11;
const LISTED = 12;
const SIGN = 13;
const SIGNED = 14;
/** RSA with SHA-512: RSA with SHA-1 is no signature any more. */
const RSA_SHA2_512 = 4;
/** Somebody may have to touch a key, or to say yes. */
const PATIENCE = 60 * SECOND;
const MAX_ANSWER = 1024 * 1024;

/** The keys that may sign versions. Others are passed over. @throws Failure where the agent cannot be asked */
export async function agentKeys(socket: string): Promise<SshPublicKey[]> {
  const reader = await ask(socket, Buffer.from([LIST]), LISTED);
  const keys: SshPublicKey[] = [];
  for (let left = reader.uint32(); left > 0; left -= 1) {
    const blob = reader.string();
    reader.string();
    try {
      keys.push(readSshPublicKey(blob));
    } catch (error) {
      if (!(error instanceof SshFormatError)) throw error;
    }
  }
  return keys;
}

/** @returns the signature as the agent gives it: algorithm and value; @throws Failure where it refuses */
export async function signByAgent(socket: string, { blob }: SshPublicKey, data: Uint8Array): Promise<Buffer> {
  const flags = Buffer.alloc(4);
  flags.writeUInt32BE(RSA_SHA2_512);
  const request = Buffer.concat([Buffer.from([SIGN]), sshString(blob), sshString(data), flags]);
  return (await ask(socket, request, SIGNED)).string();
}

async function ask(socket: string, request: Buffer, expected: number): Promise<SshReader> {
  const answer = await exchange(socket, sshString(request));
  if (answer[0] !== expected)
    throw new Failure('ssh-agent refuses it; perhaps the key needs to be unlocked.');
  return new SshReader(answer.subarray(1));
}

function exchange(path: string, request: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = createConnection({ path });
    let received = Buffer.alloc(0);
    const fail = (why: string) => {
      socket.destroy();
      reject(new Failure(`ssh-agent cannot be asked: ${why}.`));
    };
    socket.setTimeout(PATIENCE, () => fail('it does not answer'));
    socket.once('error', (error: NodeJS.ErrnoException) => fail(error.code ?? error.message));
    socket.once('close', () => fail('it has closed the connection'));
    socket.on('data', (data) => {
      received = Buffer.concat([received, data]);
      if (received.length < 4) return;
      const length = received.readUInt32BE();
      if (length > MAX_ANSWER) fail('its answer is too long');
      if (received.length < 4 + length) return;
      socket.destroy();
      resolve(received.subarray(4, 4 + length));
    });
    socket.write(request);
  });
}
