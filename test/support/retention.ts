/** Short calls for cleanups, and parameter files that are written beside the server. */

import { openDatabase } from '../../src/db/open.ts';
import { noteRefsMoved } from '../../src/db/repository-rows.ts';
import { createLog } from '../../src/lib/log.ts';
import { contentOf, seriesOf } from '../../src/versions/parameter-files.ts';
import { GitStore, type ParameterScope } from '../../src/versions/store.ts';
import type { Client } from './client.ts';
import { MAIN } from './configurations.ts';
import { type Hawser, publishConfiguration } from './hawser.ts';
import { ok } from './replies.ts';

export const RETENTION = '/api/v1/retention';
export const RUNS = `${RETENTION}/runs`;
/** Retention limits that let a cleanup delete everything that may be deleted. */
export const NOTHING_KEPT = { keepVersions: 0, keepDays: 0, keepReleaseVersions: false };

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
export function cleanUp(client: Client, what: string, wish: object = {}): Promise<any> {
  return ok(200, client.post(`${RETENTION}/${what}/cleanup`, wish));
}

/** The names and versions that a cleanup says it deleted. */
export function deletedBy({ deletedVersions }: { deletedVersions: { name: string; version: string }[] }) {
  return deletedVersions.map(({ name, version }) => `${name} ${version}`).sort();
}

/** Publishes these versions in order, each with a file that no other version has. */
export function publishVersions(admin: Client, name: string, ...versions: string[]): Promise<void> {
  const files = (version: string) => ({
    [MAIN]: '$schema: x\nresources: []\n',
    'own.txt': `${name} ${version}\n`,
  });
  return publishConfiguration(
    admin,
    name,
    Object.fromEntries(versions.map((version) => [version, files(version)])),
  );
}

export async function versionsLeft(client: Client, path: string): Promise<string[]> {
  const versions = await ok(200, client.get(`${path}/versions`));
  return versions.map(({ version }: { version: string }) => version);
}

/** Opens the repositories a second time, as another program would. The server notices changes within two seconds. */
export async function beside<T>(hawser: Hawser, work: (store: GitStore) => Promise<T>): Promise<T> {
  const database = hawser.databaseUrl === null ? null : await openDatabase(hawser);
  const reader = database?.repositories;
  const store = new GitStore({
    root: hawser.reposDir,
    log: createLog('silent'),
    cacheBytes: 1024 * 1024,
    onRefsMoved: async (ref, _isAwaited, trx) => {
      if (database) await noteRefsMoved(trx ?? database.write, ref, Date.now());
    },
    ...(database && reader && { shared: { reader, tables: reader }, locks: database.locks }),
  });
  try {
    return await work(store);
  } finally {
    await store.close();
    await database?.close();
  }
}

/** Writes these files of one scope. A file with a time is published at that time; the others stay drafts. */
export async function writeParameters(
  store: GitStore,
  configuration: string,
  scope: ParameterScope,
  files: Record<string, { at: number; isDraft?: boolean }>,
): Promise<void> {
  const series = seriesOf(scope);
  const author = { name: 'Alice', email: 'alice@example.org' };
  for (const [version, { at, isDraft }] of Object.entries(files)) {
    const bytes = Buffer.from(`parameters:\n  version: ${version}\n`);
    await store.exclusive({ kind: 'parameters', name: configuration }, async (parameters) => {
      const content = contentOf(series, { type: 'yaml', bytes });
      await parameters.writeDraft(series, { ...content, version, author, at });
      if (!isDraft) await parameters.publish(series, version, { tagger: author, at });
    });
  }
}
