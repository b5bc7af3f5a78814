/**
 * Who may sign, as OpenSSH's `allowed_signers` says it (ssh-keygen(1), ALLOWED SIGNERS): a line for each key, with its
 * principals and perhaps options. Here a text is whole or nothing: a line that cannot be read is a fault, and not passed
 * over.
 */

import { fingerprintOf, fromBase64, readSshPublicKey, SSH_KEY_TYPES, SshFormatError } from './ssh-keys.ts';

/** A line of the text. */
export interface AllowedSigner {
  /** The first of the line's principals. */
  principal: string;
  /** The key's own bytes, by which it is recognised. */
  blob: Buffer;
  fingerprint: string;
  /** A pattern list; null where the key serves for every namespace. */
  namespaces: string | null;
  /** Epoch milliseconds. Both are within the time. */
  validAfter: number | null;
  validBefore: number | null;
}

export interface SignersFault {
  /** From 1. */
  line: number;
  message: string;
}

export interface AllowedSigners {
  /** In the order of the lines; empty where there are faults. */
  signers: AllowedSigner[];
  faults: SignersFault[];
}

export const MAX_SIGNERS_BYTES = 64 * 1024;
export const MAX_SIGNERS_LINES = 1_000;
export const MIN_RSA_BITS = 2_048;
/** More faults than these help nobody. */
const MAX_FAULTS = 20;

type Options = Pick<AllowedSigner, 'namespaces' | 'validAfter' | 'validBefore'>;

/** What is wrong with a line. */
class LineFault extends Error {}

/** Reads such a text. It has no signer where it holds only blank lines and comments, which is no fault. */
export function readAllowedSigners(text: string): AllowedSigners {
  const lines = text
    .replace(/^\ufeff/, '')
    .replaceAll('\r\n', '\n')
    .split('\n');
  const size = sizeFault(text, lines);
  if (size !== null) return { signers: [], faults: [size] };
  const signers: AllowedSigner[] = [];
  const faults: SignersFault[] = [];
  for (const [index, line] of lines.entries()) {
    const content = line.replace(/^[ \t]+/, '');
    if (content === '' || content.startsWith('#')) continue;
    try {
      signers.push(readLine(content));
    } catch (error) {
      if (!(error instanceof LineFault || error instanceof SshFormatError)) throw error;
      faults.push({ line: index + 1, message: error.message });
    }
  }
  return faults.length === 0 ? { signers, faults } : { signers: [], faults: faults.slice(0, MAX_FAULTS) };
}

/** Whether the key of this line serves for a namespace. */
export function servesFor({ namespaces }: Pick<AllowedSigner, 'namespaces'>, namespace: string): boolean {
  if (namespaces === null) return true;
  const patterns = namespaces.split(',');
  if (patterns.some((each) => each.startsWith('!') && matches(each.slice(1), namespace))) return false;
  return patterns.some((each) => !each.startsWith('!') && matches(each, namespace));
}

/** The line at which the text gets too long. */
function sizeFault(text: string, lines: readonly string[]): SignersFault | null {
  const count = lines.at(-1) === '' ? lines.length - 1 : lines.length;
  if (count > MAX_SIGNERS_LINES)
    return { line: MAX_SIGNERS_LINES + 1, message: `the text has more than ${MAX_SIGNERS_LINES} lines` };
  if (Buffer.byteLength(text) <= MAX_SIGNERS_BYTES) return null;
  const within = Buffer.from(text).subarray(0, MAX_SIGNERS_BYTES).toString('latin1');
  return { line: within.split('\n').length, message: `the text is longer than ${MAX_SIGNERS_BYTES} bytes` };
}

function readLine(line: string): AllowedSigner {
  if (/[\p{Cc}\ufffd]/u.test(line.replaceAll('\t', ' '))) throw new LineFault('it holds a control character');
  const { first: principals, rest } = takePrincipals(line);
  const [principal = '', ...others] = principals.split(',');
  if ([principal, ...others].includes('')) throw new LineFault('a principal is empty');
  const { options, key } = takeOptions(rest);
  const [type = '', base64 = ''] = key.split(/[ \t]+/);
  if (!isKeyType(type))
    throw new LineFault(`"${type.slice(0, 50)}" is no kind of key that may sign versions`);
  const blob = fromBase64(base64);
  if (base64 === '' || blob === null) throw new LineFault('the key is not in base64');
  const found = readSshPublicKey(blob);
  if (found.type !== type) throw new LineFault('the key is of another kind than the line says');
  if (found.rsaBits !== null && found.rsaBits < MIN_RSA_BITS)
    throw new LineFault(`the RSA key has fewer than ${MIN_RSA_BITS} bits`);
  return { principal, blob, fingerprint: fingerprintOf(found), ...options };
}

/** The principals may stand in quotation marks. */
function takePrincipals(line: string): { first: string; rest: string } {
  const quoted = /^"([^"]*)"[ \t]*/.exec(line);
  const [whole, first = ''] = quoted ?? /^([^ \t"]+)(?:[ \t]+|$)/.exec(line) ?? [];
  if (whole === undefined) throw new LineFault('the principals cannot be read');
  const rest = line.slice(whole.length);
  if (rest === '') throw new LineFault('it has no key');
  return { first, rest };
}

/** Options stand where no kind of key does. */
function takeOptions(rest: string): { options: Options; key: string } {
  const options: Options = { namespaces: null, validAfter: null, validBefore: null };
  const [word = ''] = rest.split(/[ \t]/);
  if (isKeyType(word) || /^(?:ssh|sk-ssh|ecdsa|sk-ecdsa)-[^=]*$/.test(word)) return { options, key: rest };
  const seen = new Set<string>();
  let left = rest;
  for (;;) {
    const [whole, name = '', quoted = ''] = /^([A-Za-z-]+)="((?:[^"\\]|\\"|\\(?!"))*)"/.exec(left) ?? [];
    if (whole === undefined) throw new LineFault(describeOption(left));
    readOption(options, name.toLowerCase(), quoted.replaceAll('\\"', '"'), seen);
    left = left.slice(whole.length);
    if (!left.startsWith(',')) break;
    left = left.slice(1);
  }
  if (!/^[ \t]/.test(left)) throw new LineFault(left === '' ? 'it has no key' : 'its options cannot be read');
  const { validAfter, validBefore } = options;
  if (validAfter !== null && validBefore !== null && validBefore <= validAfter)
    throw new LineFault('valid-before is not later than valid-after');
  const key = left.replace(/^[ \t]+/, '');
  if (key === '') throw new LineFault('it has no key');
  return { options, key };
}

function readOption(options: Options, name: string, value: string, seen: Set<string>): void {
  if (seen.has(name)) throw new LineFault(`it has the option ${name} twice`);
  seen.add(name);
  if (name === 'namespaces') options.namespaces = value;
  else if (name === 'valid-after') options.validAfter = readTime(name, value);
  else if (name === 'valid-before') options.validBefore = readTime(name, value);
  else throw new LineFault(`the option ${name.slice(0, 50)} is not taken`);
}

/** Such as `20261201`, `202612011230` or `20261201123059`, perhaps with `Z`. It is in UTC. */
function readTime(name: string, value: string): number {
  const found = /^(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d)?)?Z?$/i.exec(value);
  const [year, month, day, hour, minute, second] = (found ?? []).slice(1).map((each) => each ?? '00');
  const text = `${year}-${month}-${day}T${hour}:${minute}:${second}.000Z`;
  const time = found === null ? Number.NaN : Date.parse(text);
  // A day such as February 30th is read as another one.
  if (!(time > 0) || new Date(time).toISOString() !== text)
    throw new LineFault(`${name} is no time such as 20261201 or 20261201123000Z`);
  return time;
}

function describeOption(left: string): string {
  const [, name] = /^([A-Za-z-]+)/.exec(left) ?? [];
  if (name?.toLowerCase() === 'cert-authority') return 'the option cert-authority is not taken';
  return name === undefined
    ? 'what follows the principals is neither an option nor a key'
    : `"${name.slice(0, 50)}" is neither an option with a value in quotation marks nor a kind of key that may sign versions`;
}

function isKeyType(word: string): boolean {
  return SSH_KEY_TYPES.some((type) => type === word);
}

/** `*` stands for any characters and `?` for one. It needs time in proportion to the product of the lengths at most. */
function matches(pattern: string, text: string): boolean {
  let reached = new Set([0]);
  for (const sign of pattern.replace(/\*+/g, '*')) {
    const next = new Set<number>();
    for (const at of reached) {
      if (sign === '*') for (let to = at; to <= text.length; to += 1) next.add(to);
      else if (at < text.length && (sign === '?' || sign === text[at])) next.add(at + 1);
    }
    reached = next;
    if (reached.size === 0) return false;
  }
  return reached.has(text.length);
}
