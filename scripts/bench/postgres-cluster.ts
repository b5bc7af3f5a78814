/** The PostgreSQL of the bench: a cluster of its own on the disk, with the settings of Debian's package. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { processesOf } from '../../test/support/postgres/processes.ts';
import { type OwnCluster, ownCluster } from '../../test/support/postgres.ts';

/** What Debian's package sets, where clusters of the tests have something else; and more memory, as its manual advises. */
const SETTINGS = {
  max_connections: '100',
  max_wal_senders: '10',
  shared_buffers: '1GB',
  wal_level: 'replica',
};

export class BenchCluster {
  private readonly own: OwnCluster;

  private constructor(own: OwnCluster) {
    this.own = own;
  }

  static async make(): Promise<BenchCluster> {
    return new BenchCluster(await ownCluster({ fsync: true, settings: SETTINGS }));
  }

  /** The URL of a new database. */
  async newUrl(): Promise<string> {
    return (await this.own.newDatabase()).url;
  }

  /** Starts to count the CPU time of all its processes. @returns a function that gives the seconds since */
  countCpu(): () => number {
    const before = this.cpuByProcess();
    return () =>
      [...this.cpuByProcess()].reduce((sum, [pid, seconds]) => sum + seconds - (before.get(pid) ?? 0), 0);
  }

  remove(): Promise<void> {
    return this.own.cluster.remove();
  }

  /** Seconds by process. Each has one thread. */
  private cpuByProcess(): Map<number, number> {
    const seconds = new Map<number, number>();
    for (const pid of processesOf(join(this.own.cluster.folder, 'data'))) {
      try {
        seconds.set(pid, Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ', 1)[0]) / 1e9);
      } catch {
        // It has ended meanwhile.
      }
    }
    return seconds;
  }
}
