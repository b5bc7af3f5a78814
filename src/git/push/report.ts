/** Tells a client what became of its push: lines for its user, and a status for each ref (gitprotocol-pack(5)). */

import { FLUSH, MAX_DATA_BYTES, pktLine, ZERO_ID } from './pkt-lines.ts';

/** The media type of the answer (gitprotocol-http(5)). */
export const PUSH_RESULT_TYPE = 'application/x-git-receive-pack-result';

export interface RefOutcome {
  /** The full name of the ref, as the command named it. */
  name: string;
  /** Why it was refused, in a few words; null for success. */
  error: string | null;
  /** What the server did in place of the command. Clients learn of it if they know report-status-v2. */
  became?: { name: string; from: string | null; to: string } | undefined;
}

export interface PushOutcome {
  /** `ok`, or what is wrong with the pack. */
  unpack: string;
  /** One for each command. A client takes a ref that is not among them as failed. */
  outcomes: readonly RefOutcome[];
  /** What the user shall read. The client puts `remote: ` in front of each. */
  lines: readonly string[];
}

/** The channels of a side-band (gitprotocol-pack(5)). */
const STATUS_BAND = 1;
const USER_BAND = 2;

/**
 * Makes the whole answer to a push. The lines are left out for a client without side-band-64k, and the statuses for one
 * that asked for no report.
 * @param capabilities those of the client
 */
export function pushReport(capabilities: ReadonlySet<string>, told: PushOutcome): Buffer {
  // A stock client names only the newer of the two.
  const knowsOptions = capabilities.has('report-status-v2');
  const wantsReport = knowsOptions || capabilities.has('report-status');
  const report = wantsReport ? statusReport(told, knowsOptions) : Buffer.alloc(0);
  if (!capabilities.has('side-band-64k')) return report;
  return Buffer.concat([
    ...told.lines.flatMap((line) => band(USER_BAND, Buffer.from(`${onOneLine(line)}\n`))),
    ...band(STATUS_BAND, report),
    FLUSH,
  ]);
}

function statusReport({ unpack, outcomes }: PushOutcome, knowsOptions: boolean): Buffer {
  const lines = outcomes.flatMap((outcome) => linesOf(outcome, knowsOptions));
  return Buffer.concat([...[`unpack ${onOneLine(unpack)}`, ...lines].map(statusLine), FLUSH]);
}

function linesOf({ name, error, became }: RefOutcome, knowsOptions: boolean): string[] {
  if (error !== null) return [`ng ${name} ${onOneLine(error)}`];
  if (became === undefined || !knowsOptions) return [`ok ${name}`];
  return [
    `ok ${name}`,
    `option refname ${became.name}`,
    // Without this line the client shows what it knows of the ref that it named.
    `option old-oid ${became.from ?? ZERO_ID}`,
    `option new-oid ${became.to}`,
  ];
}

/** The name comes from the client and may fill a line almost. So the reason behind it is cut where it has no room. */
function statusLine(text: string): Buffer {
  const bytes = Buffer.from(text).subarray(0, MAX_DATA_BYTES - 1);
  return pktLine(Buffer.concat([bytes, Buffer.from('\n')]));
}

/** The client joins what it gets on a band, so it does not matter where the bytes are cut. */
function band(number: number, bytes: Buffer): Buffer[] {
  const room = MAX_DATA_BYTES - 1;
  const count = Math.ceil(bytes.length / room);
  return Array.from({ length: count }, (_, index) => {
    const part = bytes.subarray(index * room, (index + 1) * room);
    return pktLine(Buffer.concat([Buffer.from([number]), part]));
  });
}

/** A client ends a text at a NUL, a line at a CR or LF, and hands all else to the terminal. */
function onOneLine(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ');
}
