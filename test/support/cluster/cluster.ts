/** Several servers on one PostgreSQL, and HAProxy in front of them, all on this machine. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newKeyLine } from '../../../src/lib/sealed-text.ts';
import { CHEAP_HASHES } from '../cheap-hashes.ts';
import type { Target } from '../client.ts';
import { startBalancer } from '../haproxy.ts';
import { ADMIN_PASSWORD } from '../hawser.ts';
import { isInstalled } from '../optional-tools.ts';
import { steadyPort } from '../ports.ts';
import type { TestDatabase } from '../postgres.ts';
import type { ProxyProgram } from '../proxy-program.ts';
import { ClusterServer } from './server.ts';

export interface ServerClusterOptions {
  /** How many servers there are. */
  servers: number;
  /** HAWSER_* variables of all servers in addition to those that they need. */
  settings?: Record<string, string>;
}

export class ServerCluster {
  readonly folder: string;
  readonly servers: readonly ClusterServer[];
  readonly database: TestDatabase;
  private running: ProxyProgram | null = null;

  private constructor(folder: string, servers: readonly ClusterServer[], database: TestDatabase) {
    this.folder = folder;
    this.servers = servers;
    this.database = database;
  }

  /**
   * Prepares the servers, and starts none of them.
   * @param database an empty one, which goes with the servers
   */
  static async make(database: TestDatabase, { servers: count, settings }: ServerClusterOptions) {
    const folder = mkdtempSync(join(tmpdir(), 'hawser-cluster-'));
    const keyFile = join(folder, 'secrets.key');
    writeFileSync(keyFile, `${newKeyLine()}\n`, { mode: 0o600 });
    const common = {
      HAWSER_ADMIN_PASSWORD: ADMIN_PASSWORD,
      HAWSER_SECRETS_KEY_FILE: keyFile,
      HAWSER_DATABASE_URL: database.url,
      ...CHEAP_HASHES,
      ...settings,
    };
    const servers: ClusterServer[] = [];
    for (let number = 1; number <= count; number += 1)
      servers.push(new ClusterServer(number, await steadyPort(), join(folder, `server-${number}`), common));
    return new ServerCluster(folder, servers, database);
  }

  /** Starts all servers at the same time, and then HAProxy where it is installed. */
  async start(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.start()));
    if (!isInstalled('haproxy')) return;
    const ports = this.servers.map(({ port }) => port);
    this.running = await startBalancer(ports, join(this.server(1).dataDir, 'tls/ca.crt'));
  }

  /** Starts whatever does not run. */
  async restart(): Promise<void> {
    await Promise.all(this.servers.map((server) => (server.isRunning ? undefined : server.start())));
  }

  /** A server of which something is asked that each of them can tell. */
  server(number: number): ClusterServer {
    const server = this.servers[number - 1];
    if (server === undefined) throw new Error(`there is no server ${number}`);
    return server;
  }

  /** The servers that answer. */
  get living(): ClusterServer[] {
    return this.servers.filter(({ isRunning, isFrozen }) => isRunning && !isFrozen);
  }

  /** The address of HAProxy; without HAProxy that of the first server. */
  get target(): Target {
    const first = this.server(1).target;
    return this.running === null ? first : { ...first, port: this.running.port };
  }

  get isBalanced(): boolean {
    return this.running !== null;
  }

  get balancer(): ProxyProgram {
    if (this.running === null) throw new Error('HAProxy is not installed');
    return this.running;
  }

  /** @param keepsFolder whether the folder is left for whoever looks for a fault */
  async close(keepsFolder = false): Promise<void> {
    await this.running?.stop();
    for (const server of this.servers) server.thaw();
    await Promise.all(this.servers.map((server) => server.kill()));
    if (keepsFolder) return;
    await this.database.drop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
