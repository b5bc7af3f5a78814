/** One import under test: its source, its target, and its runs, in this process or in one that may be killed. */

import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from '../../../../scripts/support/project.ts';
import { type Config, readConfig } from '../../../../src/config.ts';
import type { AtomicFs } from '../../../../src/git/atomic-fs.ts';
import { systemClock } from '../../../../src/lib/clock.ts';
import { importOpenDsc } from '../../../../src/operations/import-opendsc/import.ts';
import type { ImportReport } from '../../../../src/operations/import-opendsc/kinds.ts';
import type { WrittenSite } from '../../opendsc/write.ts';
import { type Ended, follow, runHawser, type Spawned } from '../../spawned.ts';
import { DiskRecord } from '../disk-record.ts';
import type { Doom } from '../failpoints.ts';
import type { ImporterArguments } from '../importer.ts';
import { fileOfProgram } from '../programs.ts';

export class Importing {
  readonly folder: string;
  readonly config: Config;
  readonly record: DiskRecord;
  /** The HAWSER_* variables. */
  readonly settings: Record<string, string>;
  private readonly source: ImporterArguments['source'];

  /**
   * @param folder that of the target, which is empty
   * @param databaseUrl of PostgreSQL; null for SQLite
   */
  constructor(folder: string, { location, files }: WrittenSite, databaseUrl: string | null = null) {
    mkdirSync(folder, { recursive: true });
    this.folder = folder;
    this.source = { database: location, files };
    this.settings = {
      HAWSER_DATA_DIR: join(folder, 'data'),
      HAWSER_REPOS_DIR: join(folder, 'repos'),
      ...(databaseUrl && { HAWSER_DATABASE_URL: databaseUrl }),
    };
    this.config = readConfig(this.settings);
    this.record = new DiskRecord(folder);
  }

  /** Starts it in a process of its own. @param doom where the process must kill itself, if it gets there */
  launch(doom: Doom | null): Spawned {
    const { settings, source } = this;
    const { journal, kept } = this.record;
    const given: ImporterArguments = { settings, source, journal, kept, doom };
    const words = [fileOfProgram('importer'), JSON.stringify(given)];
    return follow(spawn(process.execPath, words, { cwd: PROJECT }), this.config.dataDir);
  }

  /** Runs it to its end in a process of its own, which alone knows that locks of a killed process are nobody's. */
  async finish(): Promise<ImportReport> {
    const { code, stdout, stderr } = await this.launch(null).ended;
    if (code !== 0) throw new Error(`the import ended with ${code}: ${stderr}`);
    return JSON.parse(stdout);
  }

  /** Runs the command as users do. */
  command(): Promise<Ended> {
    const { database, files } = this.source;
    const settings = { ...this.settings, HAWSER_ADMIN_PASSWORD: '' };
    return runHawser(this.folder, settings, [
      'import-opendsc',
      '--database',
      database,
      '--files',
      files,
      '--json',
    ]);
  }

  /** Runs it to its end in this process. */
  run(fs?: AtomicFs): Promise<ImportReport> {
    return importOpenDsc({
      ...{ config: this.config, clock: systemClock, ...this.source, skip: new Set(), isDryRun: false },
      ...(fs && { fs }),
      onProgress: () => undefined,
    });
  }
}
