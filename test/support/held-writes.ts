/** Ways to hold up a writer in the middle of its work, while it has the lock of a repository. */

import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { DISK, type Disk } from '../../src/git/disk.ts';

export interface HeldWrites {
  /** Is done once somebody waits. */
  isHeld: Promise<void>;
  /** Lets all go on. */
  letGo(): void;
}

const WAITING = `select 1 from pg_locks join pg_database d on d.oid = database
  where not granted and relation = 'git_objects'::regclass and d.datname = current_database()`;
const PAUSE = 20;

/**
 * Holds up whoever writes objects, until it is let go.
 * @param disk the disk of the server, through which it writes where the repositories are folders
 */
export async function holdWrites(disk: HeldDisk, databaseUrl: string | null): Promise<HeldWrites> {
  if (databaseUrl === null) return disk.hold();
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('begin; lock table git_objects in share mode');
  const waitForOne = async () => {
    while ((await client.query(WAITING)).rows.length === 0) await sleep(PAUSE);
  };
  return { isHeld: waitForOne(), letGo: () => void client.end() };
}

/** Holds up the writes of objects, and so whoever has the lock of a repository, from `hold` until it is let go. */
export class HeldDisk implements Disk {
  readonly appendFile = DISK.appendFile;
  readonly rename = DISK.rename;
  readonly unlink = DISK.unlink;
  readonly rm = DISK.rm;
  readonly mkdir = DISK.mkdir;
  readonly rmdir = DISK.rmdir;
  readonly link = DISK.link;
  readonly renameNow = DISK.renameNow;
  readonly unlinkNow = DISK.unlinkNow;
  readonly flushFolderNow = DISK.flushFolderNow;
  private gate: Promise<void> = Promise.resolve();
  private reached = () => {};

  async open(path: string, flags: string) {
    if (flags !== 'r' && path.includes('/objects/')) {
      this.reached();
      await this.gate;
    }
    return DISK.open(path, flags);
  }

  /**
   * @returns `isHeld`, which is done once somebody waits, and the function that lets all go on
   */
  hold(): HeldWrites {
    let letGo = () => {};
    this.gate = new Promise((resolve) => {
      letGo = resolve;
    });
    const isHeld = new Promise<void>((resolve) => {
      this.reached = resolve;
    });
    return { isHeld, letGo };
  }
}
