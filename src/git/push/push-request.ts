/** Reads what a client asks for in a push: commands, options, and the pack behind them (gitprotocol-pack(5)). */

import type { Readable } from 'node:stream';
import { overLimit, tooLarge } from '../../lib/errors.ts';
import { malformed, PktReader, ZERO_ID } from './pkt-lines.ts';

/** The media type of the request (gitprotocol-http(5)). */
export const PUSH_REQUEST_TYPE = 'application/x-git-receive-pack-request';

export interface PushCommand {
  /** The full name of the ref as the client sent it. It is not checked: it may hold anything but NUL and LF. */
  name: string;
  /** The object that the client believes the ref to name; null when it believes that there is no such ref. */
  from: string | null;
  /** The object that the ref shall name; null when the ref shall be deleted. */
  to: string | null;
}

export interface PushRequest {
  /** Each names another ref. There are none when only a shallow clone tells of itself. */
  commands: readonly PushCommand[];
  /** What the user gave with `-o`. It may hold anything, and may be empty. */
  options: readonly string[];
  capabilities: ReadonlySet<string>;
  /** What follows the commands: the pack, which may be thin. Null when no command needs one; more is left unread. */
  pack: Readable | null;
}

const MAX_COMMANDS = 1_000;
const MAX_SHALLOW = 10_000;
const MAX_OPTIONS = 100;
/** The limit for what all lines before the pack hold, in bytes. The length that opens each line is not counted. */
export const MAX_HEAD_BYTES = 1024 * 1024;

const LF = 0x0a;
const NUL = 0;
const COMMAND = /^([0-9a-f]{40}) ([0-9a-f]{40}) ([^\0\n]+)$/;
const SHALLOW = /^shallow [0-9a-f]{40}$/;
const OBJECT_FORMAT = 'object-format=';

/** Git compares names by their bytes. A byte order mark at the front of one is a part of it. */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads all that comes before the pack. After an error, the input is neither destroyed nor drained.
 * @param input bytes; an error of it is thrown as it is
 * @returns null for a lone flush, by which a client asks whether it may send a long request (gitprotocol-http(5))
 * @throws HawserError malformed_body, payload_too_large, or client_gone if the input is destroyed
 */
export async function readPushRequest(input: Readable): Promise<PushRequest | null> {
  const pkts = new PktReader(input);
  const head = new Head(pkts);
  const opening = await head.next();
  if (opening === null && (await pkts.isAtEnd())) return null;
  const first = await skipShallow(head, opening);
  const capabilities = first === null ? new Set<string>() : capabilitiesOf(first);
  const commands = first === null ? [] : await readCommands(head, first);
  const options = capabilities.has('push-options') ? await readOptions(head) : [];
  const wantsPack = commands.some(({ to }) => to !== null);
  return { commands, options, capabilities, pack: wantsPack ? pkts.rest() : null };
}

/** The lines before the pack. All of them together have a limit. */
class Head {
  private readonly pkts: PktReader;
  private bytes = 0;

  constructor(pkts: PktReader) {
    this.pkts = pkts;
  }

  /**
   * @returns the next line, null for a flush. One LF at its end is no part of it, which holds for options too: stock
   *   clients send none, and git's server drops it.
   */
  async next(): Promise<Buffer | null> {
    const line = await this.pkts.next();
    if (line === 'flush') return null;
    this.bytes += line.length;
    if (this.bytes > MAX_HEAD_BYTES) {
      throw tooLarge(`The commands and options of the push are ${overLimit(MAX_HEAD_BYTES)}`);
    }
    return line.at(-1) === LF ? line.subarray(0, -1) : line;
  }
}

/**
 * Passes over what a shallow clone says of its depth. The server asks whether each object is there in any case.
 * @returns the first line behind it, null for a flush
 */
async function skipShallow(head: Head, opening: Buffer | null): Promise<Buffer | null> {
  let line = opening;
  for (let count = 1; line !== null && isShallow(line); count += 1) {
    if (count > MAX_SHALLOW) throw tooLarge(`The push names more than ${MAX_SHALLOW} shallow commits`);
    line = await head.next();
  }
  return line;
}

function isShallow(line: Buffer): boolean {
  const text = line.toString('latin1');
  if (text.startsWith('shallow ') && !SHALLOW.test(text)) throw malformed('A shallow line has no object id');
  return text.startsWith('shallow ');
}

/** What the first command names behind its NUL. A client of long ago may name nothing. */
function capabilitiesOf(first: Buffer): Set<string> {
  const end = first.indexOf(NUL);
  const text = end < 0 ? '' : decode(first.subarray(end + 1), 'The capabilities of the client are');
  if (/[\0\n]/.test(text)) throw malformed('The capabilities of the client hold a NUL or a line break');
  const capabilities = new Set(text.split(' ').filter((name) => name !== ''));
  for (const name of capabilities) {
    if (name.startsWith(OBJECT_FORMAT) && name !== `${OBJECT_FORMAT}sha1`) {
      throw malformed('The objects of this server are named by SHA-1');
    }
  }
  return capabilities;
}

async function readCommands(head: Head, first: Buffer): Promise<PushCommand[]> {
  const end = first.indexOf(NUL);
  const commands: PushCommand[] = [];
  const names = new Set<string>();
  let line: Buffer | null = end < 0 ? first : first.subarray(0, end);
  while (line !== null) {
    if (commands.length === MAX_COMMANDS) throw tooLarge(`The push has more than ${MAX_COMMANDS} commands`);
    const command = commandOf(line);
    if (names.has(command.name)) throw malformed('Two commands of the push name the same ref');
    names.add(command.name);
    commands.push(command);
    line = await head.next();
  }
  return commands;
}

function commandOf(line: Buffer): PushCommand {
  const text = decode(line, 'A command of the push is');
  if (/^push-cert(?:\0|$)/.test(text)) throw malformed('Signed pushes are not supported');
  const [, from = '', to = '', name = ''] = COMMAND.exec(text) ?? [];
  if (name === '') throw malformed('A command of the push is not two object ids and the name of a ref');
  if (from === ZERO_ID && to === ZERO_ID) throw malformed('A command of the push neither sets nor deletes');
  return { name, from: from === ZERO_ID ? null : from, to: to === ZERO_ID ? null : to };
}

async function readOptions(head: Head): Promise<string[]> {
  const options: string[] = [];
  for (let line = await head.next(); line !== null; line = await head.next()) {
    if (options.length === MAX_OPTIONS) throw tooLarge(`The push has more than ${MAX_OPTIONS} options`);
    options.push(decode(line, 'An option of the push is'));
  }
  return options;
}

/** @param what is put in front of the words of the refusal */
function decode(bytes: Buffer, what: string): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw malformed(`${what} not in UTF-8`);
  }
}
