/** Starts a whole server in this process for a scenario: real TLS, a real database, repositories in a temporary folder. */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { readConfig } from '../../src/config.ts';
import type { AtomicFs } from '../../src/git/atomic-fs.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { createLog } from '../../src/lib/log.ts';
import { type RunningServer, startServer } from '../../src/server.ts';
import type { Tuning } from '../../src/stores.ts';
import { type Client, type Identity, makeClient, type Target } from './client.ts';
import { makeClientCertificate } from './client-certificates.ts';
import { withDatabase } from './database.ts';
import { databaseSettings, dropUnused, putMigrated } from './engine.ts';
import { isThere, materialisedFolder } from './materialised.ts';
import { letAnythingBePublished } from './unchecked-documents.ts';

export const ADMIN_PASSWORD = 'a-password-for-tests';

/** A clock that shows real time plus what a test has added. */
export class TestClock implements Clock {
  private offset = 0;

  now(): number {
    return Date.now() + this.offset;
  }

  advance(milliseconds: number): void {
    this.offset += milliseconds;
  }
}

export interface NodeUnderTest {
  nodeId: string;
  fqdn: string;
  identity: Identity & { thumbprint: string };
  client: Client;
}

export interface Hawser {
  folder: string;
  reposDir: string;
  dataDir: string;
  /** See `DatabasePlace`. */
  databaseUrl: string | null;
  clock: TestClock;
  server: RunningServer;
  /** Everything logged so far, as JSON lines. */
  log(): string;
  target(): Target;
  /** A client without credentials; with an identity, a client over mTLS. */
  client(identity?: Identity): Client;
  /** A client with a token of `admin` that has every scope. */
  admin: Client;
  /** A session of `admin`, as Cookie header. */
  session: string;
  registerNode(fqdn: string): Promise<NodeUnderTest>;
  /** The folder of a repository such as `configurations/web.git`, in which stock git finds what is there now. */
  folderOf(repository: string): string;
  /** Whether a repository such as `configurations/web.git` is there. */
  has(repository: string): boolean;
  /** Runs stock git in one of the repositories. */
  git(repository: string, ...args: string[]): string;
  /** Closes the server and starts it again on the same folders. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

export const ALL_SCOPES = [
  'server.settings.read',
  'server.settings.write',
  'users.manage',
  'groups.manage',
  'roles.manage',
  'registration-keys.manage',
  'nodes.read',
  'nodes.write',
  'nodes.delete',
  'nodes.assign-configuration',
  'reports.read',
  'reports.read-all',
  'retention.manage',
  'configurations.create',
  'configurations.admin-override',
  'composite-configurations.create',
  'composite-configurations.admin-override',
  'parameters.admin-override',
  'scopes.admin-override',
  'audit.read',
  'rollouts.manage',
  'webhooks.manage',
  'configurations.grants',
  'composite-configurations.grants',
  'parameters.grants',
];

export interface HawserParts extends Tuning {
  /** How the repositories access the disk, for tests of that. */
  fs?: AtomicFs;
  /** For tests in which the server starts at another time. */
  clock?: TestClock;
}

/** @param settings HAWSER_* variables in addition to those that this function sets */
export async function startHawser(
  settings: Record<string, string> = {},
  { fs, clock = new TestClock(), ...chosen }: HawserParts = {},
): Promise<Hawser> {
  const folder = mkdtempSync(join(tmpdir(), 'hawser-test-'));
  // Where the settings name a database, the server makes its tables there.
  if (!settings['HAWSER_DATABASE_URL']) await putMigrated(join(folder, 'data'));
  const lines: string[] = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const config = readConfig({
    HAWSER_HOST: '127.0.0.1',
    HAWSER_PORT: '0',
    HAWSER_DATA_DIR: join(folder, 'data'),
    HAWSER_REPOS_DIR: join(folder, 'repos'),
    HAWSER_ADMIN_PASSWORD: ADMIN_PASSWORD,
    HAWSER_LOG_LEVEL: 'debug',
    ...(await databaseSettings(join(folder, 'data'))),
    ...settings,
  });
  const log = createLog(config.logLevel, sink);
  // On a busy machine requests are slow. That is not to be warned of where tests look for other warnings.
  const tuning = { slowMs: Number.POSITIVE_INFINITY, ...chosen };
  const options = { config, clock, log, tuning, showFirstPassword: () => undefined, ...(fs && { fs }) };
  const start = () => startServer(options);
  const clients: Client[] = [];
  const hawser = {
    folder,
    clock,
    reposDir: config.reposDir,
    dataDir: config.dataDir,
    databaseUrl: config.databaseUrl,
    log: () => lines.join(''),
  } as Hawser;
  hawser.server = await start();
  // Every other database was made of a template in which this is so.
  if (settings['HAWSER_DATABASE_URL'])
    await withDatabase(hawser, ({ write }) => letAnythingBePublished(write));
  hawser.target = () => ({
    port: hawser.server.port,
    ca: readFileSync(join(config.dataDir, 'tls/ca.crt'), 'utf8'),
    isPlain: hawser.server.url.startsWith('http:'),
  });
  hawser.client = (identity) => {
    const client = makeClient(hawser.target(), identity);
    clients.push(client);
    return client;
  };
  hawser.folderOf = (repository) => materialisedFolder(config.reposDir, config.databaseUrl, repository);
  hawser.has = (repository) => isThere(config.reposDir, config.databaseUrl, repository);
  hawser.git = (repository, ...args) => git(hawser.folderOf(repository), ...args);
  hawser.registerNode = (fqdn) => registerNode(hawser, fqdn);
  hawser.close = async () => {
    for (const client of clients) client.close();
    await hawser.server.close();
    rmSync(folder, { recursive: true, force: true });
    await dropUnused();
  };
  hawser.restart = async () => {
    await hawser.server.close();
    hawser.server = await start();
    hawser.admin = hawser.client().with({ Authorization: authorization });
  };
  hawser.session = await signIn(hawser.client(), 'admin', ADMIN_PASSWORD);
  const authorization = `Bearer ${await createToken(hawser.client(), hawser.session, ALL_SCOPES)}`;
  hawser.admin = hawser.client().with({ Authorization: authorization });
  return hawser;
}

/** @returns the session as a Cookie header */
export async function signIn(client: Client, username: string, password: string): Promise<string> {
  const reply = await client.post('/api/v1/auth/login', { username, password });
  if (reply.status !== 200) throw new Error(`sign-in answered ${reply.status} ${reply.text}`);
  return String(reply.headers['set-cookie']).split(';', 1)[0] ?? '';
}

export async function createToken(
  client: Client,
  session: string,
  scopes: readonly string[],
): Promise<string> {
  const reply = await client.with({ Cookie: session }).post('/api/v1/auth/tokens', { name: 'test', scopes });
  if (reply.status !== 201) throw new Error(`token creation answered ${reply.status} ${reply.text}`);
  return reply.json.token;
}

/** @returns the client with a token of the first administrator, who may do everything */
export async function asAdmin(client: Client): Promise<Client> {
  const token = await createToken(client, await signIn(client, 'admin', ADMIN_PASSWORD), ALL_SCOPES);
  return client.with({ Authorization: `Bearer ${token}` });
}

export async function createKey(admin: Client, options: Record<string, unknown> = {}): Promise<string> {
  const reply = await admin.post('/api/v1/admin/registration-keys', options);
  if (reply.status !== 201) throw new Error(`key creation answered ${reply.status} ${reply.text}`);
  return reply.json.key;
}

async function registerNode(hawser: Hawser, fqdn: string): Promise<NodeUnderTest> {
  const identity = await makeClientCertificate({ commonName: fqdn });
  const client = hawser.client(identity);
  const registrationKey = await createKey(hawser.admin);
  const reply = await client.post('/api/v1/nodes/register', { registrationKey, fqdn });
  if (reply.status !== 200) throw new Error(`registration answered ${reply.status} ${reply.text}`);
  return { nodeId: reply.json.nodeId, fqdn, identity, client };
}

/** Creates a configuration and publishes the given versions, each with these files. */
export async function publishConfiguration(
  admin: Client,
  name: string,
  versions: Record<string, Record<string, string | Buffer>>,
): Promise<void> {
  const expectStatus = (status: number, reply: { status: number; text: string }) => {
    if (reply.status !== status) throw new Error(`expected ${status}, got ${reply.status} ${reply.text}`);
  };
  let first = true;
  for (const [version, files] of Object.entries(versions)) {
    const fields = first ? { name, version } : { version };
    const path = first ? '/api/v1/configurations' : `/api/v1/configurations/${name}/versions`;
    expectStatus(201, await admin.upload(path, { fields, files }));
    expectStatus(200, await admin.put(`/api/v1/configurations/${name}/versions/${version}/publish`));
    first = false;
  }
}

/** Runs stock git without any configuration of this machine. */
export function git(folder: string, ...args: string[]): string {
  return execFileSync('git', ['-C', folder, ...args], {
    encoding: 'utf8',
    env: {
      PATH: process.env['PATH'] ?? '',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      HOME: '/nonexistent',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}
