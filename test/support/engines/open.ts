/** Opens a new database on one of the two engines, for tests of queries that run on both. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database } from '../../../src/db/database.ts';
import { openDatabase } from '../../../src/db/open.ts';
import { openForReading } from '../../../src/db/open-reading.ts';
import type { ReadingDatabase } from '../../../src/db/reading.ts';
import { newDatabase } from '../postgres.ts';
import { hooksFor, type Sharing } from '../temporary.ts';

export const ENGINES = ['SQLite', 'PostgreSQL'] as const;
export type EngineName = (typeof ENGINES)[number];

export interface OpenedEngine {
  database: Database;
  /** What a thread reads it by. */
  reading: ReadingDatabase;
  close(): Promise<void>;
}

/** A new database for each test of the suite, or one for all of them. */
export function temporaryEngine(engine: EngineName, sharing: Sharing = 'each test'): () => OpenedEngine {
  let opened: OpenedEngine;
  const [setUp, tearDown] = hooksFor(sharing);
  setUp(async () => {
    opened = await openOn(engine);
  });
  tearDown(() => opened.close());
  return () => opened;
}

export async function openOn(engine: EngineName): Promise<OpenedEngine> {
  const folder = mkdtempSync(join(tmpdir(), 'hawser-engine-'));
  const made = engine === 'PostgreSQL' ? await newDatabase('migrated') : null;
  const place = { dataDir: folder, databaseUrl: made?.url ?? null };
  const database = await openDatabase(place);
  const reading = openForReading(place);
  return {
    database,
    reading,
    async close() {
      await reading.close();
      await database.close();
      await made?.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
