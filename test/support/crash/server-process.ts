/** The server as a process of its own, to be killed without a warning and started again on its folders. */

import { join } from 'node:path';
import type { Target } from '../client.ts';
import { type Spawned, spawnHawser } from '../spawned.ts';

export class ServerProcess {
  readonly dataDir: string;
  readonly reposDir: string;
  private readonly folder: string;
  private spawned: Spawned | undefined;

  constructor(folder: string) {
    this.folder = folder;
    this.dataDir = join(folder, 'data');
    this.reposDir = join(folder, 'repos');
  }

  /** Resolves once it listens; throws with what it wrote when it ends before. */
  start(): Promise<Target> {
    this.spawned = spawnHawser(this.folder);
    return this.spawned.listening();
  }

  /** Begins to start and kills it on the way, so that starting over what starting left is tried too. */
  async startAndKill(milliseconds: number): Promise<void> {
    const { child, ended } = spawnHawser(this.folder);
    setTimeout(() => child.kill('SIGKILL'), milliseconds);
    await ended;
  }

  async kill(): Promise<void> {
    this.spawned?.child.kill('SIGKILL');
    await this.spawned?.ended;
  }

  /** Log lines of the level `error`: someone must act, which after a mere crash nobody should have to. */
  get errors(): string[] {
    const lines = this.spawned?.stdout().split('\n') ?? [];
    return lines.filter((line) => line.includes('"level":"error"'));
  }
}
