/**
 * The files of the console, as the build has made them. They are read once and kept in memory, so that a server goes on
 * handing out those of its own build while a newer one is written or its own is removed.
 */

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Answer } from '../../http/answer.ts';
import { mediaTypeOf } from '../../http/media-types.ts';
import { buildFolder } from '../../lib/build-folder.ts';
import { sha256Hex } from '../../lib/hash.ts';
import type { Log } from '../../lib/log.ts';

/** The content codings, each with the extension of its files. */
const CODINGS = { br: '.br', gzip: '.gz' } as const;

type Coding = keyof typeof CODINGS;

/** The answers with one file: as it is, and in those codings in which it is smaller. */
export type Forms = { plain: Answer } & Partial<Record<Coding, Answer>>;

export interface ConsoleFiles {
  /** The one page, which is the same for all addresses of the console. */
  page: Forms;
  /** All other files by their names, which have a hash of the content in them. */
  assets: ReadonlyMap<string, Forms>;
}

/** The page loads and sends only to its own server, and no text can become markup in it. */
const POLICY = [
  "default-src 'none'",
  ...["script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self' data:"],
  ...["form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"],
  "require-trusted-types-for 'script'",
].join('; ');

const PAGE_HEADERS = {
  'Content-Security-Policy': POLICY,
  'Referrer-Policy': 'same-origin',
  'X-Frame-Options': 'DENY',
  'Cache-Control': 'no-cache',
};

const ASSET_HEADERS = { 'Cache-Control': 'public, max-age=31536000, immutable' };

/** @returns null where the files are missing, which the log then says */
export async function readConsole(log: Log): Promise<ConsoleFiles | null> {
  const folder = join(await buildFolder(), 'ui');
  try {
    const page = await readForms(folder, 'index.html', PAGE_HEADERS);
    const assets = join(folder, 'assets');
    const isCompressed = (name: string) =>
      Object.values(CODINGS).some((extension) => name.endsWith(extension));
    const names = (await readdir(assets)).filter((name) => !isCompressed(name));
    const read = names.map(async (name) => [name, await readForms(assets, name, ASSET_HEADERS)] as const);
    return { page, assets: new Map(await Promise.all(read)) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    log.warn({ folder, reason: code }, 'the files of the console are missing, so /ui/ answers 404');
    return null;
  }
}

async function readForms(folder: string, name: string, headers: Record<string, string>): Promise<Forms> {
  const common = { ...headers, 'Content-Type': mediaTypeOf(name), Vary: 'Accept-Encoding' };
  const plain = answerWith(await readFile(join(folder, name)), common);
  const codings = Object.entries(CODINGS).map(async ([coding, extension]) => {
    const bytes = await readFile(join(folder, name + extension)).catch(() => null);
    return bytes && [coding, answerWith(bytes, { ...common, 'Content-Encoding': coding })];
  });
  const forms = (await Promise.all(codings)).filter((form) => form !== null);
  return { plain, ...Object.fromEntries(forms) };
}

function answerWith(body: Buffer, headers: Record<string, string>): Answer {
  return { status: 200, headers, body, etag: `"${sha256Hex(body).slice(0, 40)}"` };
}
