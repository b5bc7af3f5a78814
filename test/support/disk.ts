/**
 * Reads everything that a server stores as one value. Comparing it before and after shows whether anything was
 * changed.
 */

import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withDatabase } from './database.ts';
import type { Hawser } from './hawser.ts';

/** SQLite's own files, whose sizes change with every read and checkpoint. */
const DATABASE_FILE = /^hawser\.db/;

export interface Kept {
  repositories: string[];
  data: string[];
  temporary: string[];
  rows: Record<string, number>;
}

export async function everythingOf(hawser: Hawser): Promise<Kept> {
  const rows = await withDatabase(hawser, async ({ read }) => {
    const counted: Record<string, number> = {};
    for (const table of ['configurations', 'grants'] as const) {
      counted[table] = (await read.selectFrom(table).selectAll().execute()).length;
    }
    counted['generation'] = (
      await read.selectFrom('generation').select('value').executeTakeFirstOrThrow()
    ).value;
    return counted;
  });
  return {
    repositories: await repositoriesOf(hawser),
    data: filesBelow(hawser.dataDir).filter((name) => !DATABASE_FILE.test(name)),
    temporary: readdirSync(tmpdir()).sort(),
    rows,
  };
}

/** With PostgreSQL the folder is a cache, in which something may be left behind. */
async function repositoriesOf(hawser: Hawser): Promise<string[]> {
  if (hawser.databaseUrl === null) return filesBelow(hawser.reposDir);
  return withDatabase(hawser, async ({ repositories }) => {
    const stored = (await repositories?.list()) ?? [];
    return stored.map(({ kind, name, state }) => `${kind}/${name} ${state}`);
  });
}

/** Every file and folder by relative path, with the sizes of files. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => {
      const stats = statSync(join(folder, name));
      return stats.isDirectory() ? `${name}/` : `${name} ${stats.size}`;
    })
    .sort();
}

/** Gives this process a temporary folder of its own, so that everything that appears in it is made by this test. */
export function ownTemporaryFolder(): { remove(): void } {
  const before = process.env['TMPDIR'];
  const folder = mkdtempSync(join(tmpdir(), 'hawser-tmp-'));
  process.env['TMPDIR'] = folder;
  return {
    remove() {
      if (before === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = before;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
