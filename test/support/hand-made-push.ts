/** Requests of pushes that are put together by hand, packet by packet, so that they may be anything. */

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const ZERO = '0'.repeat(40);
const CAPABILITIES = 'report-status side-band-64k push-options object-format=sha1 agent=by-hand';
const AT = '1700000000 +0000';

export const PUSH_TYPE = 'application/x-git-receive-pack-request';

export interface HandMadePush {
  commands: readonly (readonly [from: string, to: string, name: string])[];
  options?: readonly string[];
  /** Default: the capabilities of a stock client that reports and takes options. */
  capabilities?: string;
  pack?: Buffer;
}

/** The body of a request. Without options there is no section for them. */
export function pushBody({ commands, options, capabilities, pack }: HandMadePush): Buffer {
  const named = capabilities ?? (options ? CAPABILITIES : CAPABILITIES.replace(' push-options', ''));
  return Buffer.concat([
    ...commands.map(([from, to, name], at) =>
      packet(`${from} ${to} ${name}${at === 0 ? `\0 ${named}` : ''}`),
    ),
    FLUSH,
    ...(options ? [...options.map(packet), FLUSH] : []),
    pack ?? Buffer.alloc(0),
  ]);
}

const FLUSH = Buffer.from('0000');

export function packet(text: string | Buffer): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes]);
}

/** What a client reads in the answer: its lines, and the reason for each ref, null for success. */
export interface ReadReport {
  unpack: string;
  refs: Record<string, string | null>;
  lines: string[];
}

export function readReport(answer: Buffer): ReadReport {
  const bands: Record<number, Buffer[]> = { 1: [], 2: [] };
  for (const bytes of packets(answer)) bands[bytes[0] as number]?.push(bytes.subarray(1));
  const [unpack = '', ...statuses] = [...packets(Buffer.concat(bands[1] ?? []))].map((bytes) =>
    bytes.toString().trim(),
  );
  const refs = Object.fromEntries(
    statuses.flatMap((status) => {
      const [, word, name = '', reason] = /^(ok|ng) (\S+)(?: (.*))?$/.exec(status) ?? [];
      return word === undefined ? [] : [[name, word === 'ok' ? null : (reason ?? '')]];
    }),
  );
  const lines = Buffer.concat(bands[2] ?? [])
    .toString()
    .trimEnd()
    .split('\n');
  return { unpack: unpack.replace(/^unpack /, ''), refs, lines };
}

function* packets(bytes: Buffer): Generator<Buffer> {
  for (let rest = bytes; rest.length > 0; ) {
    const length = Number.parseInt(rest.toString('latin1', 0, 4), 16);
    if (length > 4) yield rest.subarray(4, length);
    rest = rest.subarray(Math.max(4, length));
  }
}

/** A repository in which what is pushed is made, with stock git. */
export class PushWorkshop {
  readonly folder = mkdtempSync(join(tmpdir(), 'hawser-workshop-'));

  constructor() {
    this.git(['init', '-q', '--bare']);
  }

  /** @returns the id of a commit with exactly these files */
  commit(
    files: Readonly<Record<string, string>>,
    message = 'by hand',
    parents: readonly string[] = [],
  ): string {
    const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
    const stream = [
      'reset refs/heads/x\n',
      `commit refs/heads/x\ncommitter Hand <hand@example.org> ${AT}\n${data(message)}`,
      ...(parents[0] === undefined ? [] : [`from ${parents[0]}\n`]),
      'deleteall\n',
      ...Object.entries(files).map(([path, content]) => `M 100644 inline ${path}\n${data(content)}`),
      '\n',
    ];
    this.git(['fast-import', '--quiet', '--force'], stream.join(''));
    return this.git(['rev-parse', 'refs/heads/x']).toString().trim();
  }

  /** @returns the id of the last of so many commits, which share one folder of so many files */
  history(commits: number, files: number, entryPoint: string): string {
    const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
    const stream = ['blob\nmark :1\n', data('shared'), 'reset refs/heads/history\n'];
    for (let at = 0; at < commits; at += 1) {
      stream.push(
        `commit refs/heads/history\ncommitter Hand <hand@example.org> ${AT}\n${data(`commit ${at}`)}`,
      );
      stream.push(`M 100644 inline ${entryPoint}\n${data(`$schema: x\n# ${at}\nresources: []`)}`);
      if (at > 0) continue;
      for (let file = 0; file < files; file += 1) stream.push(`M 100644 :1 shared/${file}\n`);
    }
    this.git(['fast-import', '--quiet', '--force'], stream.join(''));
    return this.git(['rev-parse', 'refs/heads/history']).toString().trim();
  }

  /** @returns the id of an annotated tag on the commit */
  tag(commit: string, version: string): string {
    const text = `object ${commit}\ntype commit\ntag v${version}\ntagger Hand <hand@example.org> ${AT}\n\nby hand\n`;
    return this.git(['mktag'], text).toString().trim();
  }

  /** @returns a pack of all that the object leads to */
  pack(oid: string): Buffer {
    return this.git(['pack-objects', '--revs', '--stdout', '-q'], `${oid}\n`);
  }

  git(args: readonly string[], input: string | Buffer = ''): Buffer {
    return execFileSync('git', ['-C', this.folder, ...args], {
      input,
      maxBuffer: 2 ** 30,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

let shared: PushWorkshop | undefined;

/** One for all who push in this process. It is removed when the process ends. */
export function sharedWorkshop(): PushWorkshop {
  if (shared !== undefined) return shared;
  const made = new PushWorkshop();
  process.once('exit', () => made.remove());
  shared = made;
  return made;
}

/** The names of what is left of quarantines. Where the folder is a cache, it is made with the first. */
export function quarantinesOf({ reposDir }: { reposDir: string }): string[] {
  const folder = join(reposDir, '.tmp');
  return existsSync(folder) ? readdirSync(folder) : [];
}
