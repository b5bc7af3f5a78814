/** Builds bundles without a server, so that tests can compare them with those of a server. */

import { writeZip } from '../../src/bundles/bundle-zip.ts';

export interface BundleEntry {
  path: string;
  content: Buffer;
  executable?: boolean;
}

export async function buildBundle(entries: readonly BundleEntry[]): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const sources = entries.map(({ path, content, executable = false }) => ({
    path,
    executable,
    read: async () => content,
  }));
  for await (const piece of writeZip(sources)) pieces.push(piece);
  return Buffer.concat(pieces);
}
