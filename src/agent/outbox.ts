/**
 * The reports that the server has not taken yet, each in a file of the folder `reports`. The name of the file is a
 * number, and the oldest report has the lowest. A report is kept as soon as its file has that name, and then stays until
 * the server has taken it or refused it for good.
 */

import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { flushFolder, makePrivateFolder } from '../lib/folders.ts';
import type { Log } from '../lib/log.ts';
import { readIfPresent, writeSecretFile } from '../lib/secret-file.ts';
import { Refusal } from './node-api.ts';
import { removeUnfinished } from './state.ts';

/** How many reports are kept. */
export const MOST_KEPT = 100;
/** A report that only says that the command is missing has this in its name. */
const ABOUT_MISSING = '-missing';
const NAME = /^(\d{12})(-missing)?\.json$/;
const DIGITS = 12;
/** Where agents up to 0.3.0 kept the only report that they had. */
const FORMER_FILE = 'report.json';

interface Kept {
  name: string;
  number: number;
  isAboutMissing: boolean;
}

export class Outbox {
  private readonly folder: string;
  private readonly log: Log;

  private constructor(stateDir: string, log: Log) {
    this.folder = join(stateDir, 'reports');
    this.log = log;
  }

  /** Removes what a killed agent has left unfinished, and takes over a report that an older agent has kept. */
  static async open(stateDir: string, log: Log): Promise<Outbox> {
    const outbox = new Outbox(stateDir, log);
    await makePrivateFolder(outbox.folder);
    await removeUnfinished(outbox.folder);
    await outbox.adopt(stateDir);
    await outbox.dropOldest();
    return outbox;
  }

  /** How many reports are kept, and when the oldest was made. It only reads, because an agent may work in the folder. */
  static async look(stateDir: string): Promise<{ count: number; oldestAt: number | null }> {
    const folder = join(stateDir, 'reports');
    const kept = await list(folder).catch(() => []);
    const oldest = kept[0] && (await stat(join(folder, kept[0].name)).catch(() => null));
    return { count: kept.length, oldestAt: oldest?.mtimeMs ?? null };
  }

  /**
   * Keeps a report. When this resolves, the report is on the disk.
   * @param isAboutMissing whether it only says that the command is missing
   */
  async add(report: string, isAboutMissing = false): Promise<void> {
    const number = ((await list(this.folder)).at(-1)?.number ?? 0) + 1;
    const name = `${String(number).padStart(DIGITS, '0')}${isAboutMissing ? ABOUT_MISSING : ''}.json`;
    await writeSecretFile(join(this.folder, name), report);
    // The oldest goes last, so that a kill in between loses no report that still has its place.
    await this.dropOldest();
  }

  /** Whether the newest report only says that the command is missing. */
  async endsWithMissing(): Promise<boolean> {
    return (await list(this.folder)).at(-1)?.isAboutMissing ?? false;
  }

  /**
   * Sends the reports, oldest first. Each is removed when the server has taken it, or refuses it for good.
   * @param post throws if the server does not take the report
   * @throws the first other error, after which the rest stays
   */
  async send(post: (report: string) => Promise<void>): Promise<void> {
    for (const { name } of await list(this.folder)) {
      const report = await readIfPresent(join(this.folder, name));
      if (report === null) continue;
      try {
        await post(report);
      } catch (error) {
        if (!(error instanceof Refusal && error.isForGood)) throw error;
        const { status, code, message } = error;
        this.log.error({ error: message, status, code }, 'the report is refused and dropped');
      }
      await this.remove(name);
    }
  }

  private async dropOldest(): Promise<void> {
    const kept = await list(this.folder);
    for (const { name } of kept.slice(0, Math.max(0, kept.length - MOST_KEPT))) {
      const madeAt = (await stat(join(this.folder, name))).mtime.toISOString();
      await this.remove(name);
      this.log.warn({ madeAt, mostKept: MOST_KEPT }, 'too many reports are kept: the oldest is dropped');
    }
  }

  private async adopt(stateDir: string): Promise<void> {
    const first = join(this.folder, `${'0'.repeat(DIGITS)}.json`);
    try {
      await rename(join(stateDir, FORMER_FILE), first);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
      throw error;
    }
    await flushFolder(this.folder);
    await flushFolder(stateDir);
  }

  private async remove(name: string): Promise<void> {
    await rm(join(this.folder, name), { force: true });
    await flushFolder(this.folder);
  }
}

/** The kept reports, the oldest first. */
async function list(folder: string): Promise<Kept[]> {
  return (await readdir(folder))
    .map((name) => ({ name, match: NAME.exec(name) }))
    .filter(({ match }) => match !== null)
    .map(({ name, match }) => ({
      name,
      number: Number(match?.[1]),
      isAboutMissing: match?.[2] !== undefined,
    }))
    .sort((one, other) => one.number - other.number);
}
