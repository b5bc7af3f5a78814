/** Every route that the server declares, as data, and a request address for each. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AppOptions, allRoutes } from '../../src/app.ts';
import { BundleFiles } from '../../src/bundles/bundle-files.ts';
import { readConfig } from '../../src/config.ts';
import { openSqlite } from '../../src/db/sqlite/open.ts';
import { RetentionRuns } from '../../src/deeds/clean-up.ts';
import { PreviewRuns } from '../../src/deeds/preview-runs.ts';
import { EventWaiting } from '../../src/events/waiting.ts';
import { GitBlame } from '../../src/git/blame.ts';
import { Maintenance } from '../../src/git/maintenance.ts';
import { UploadPack } from '../../src/git/upload-pack.ts';
import type { Route } from '../../src/http/route.ts';
import { LocalLocks } from '../../src/lib/locks.ts';
import { createLog } from '../../src/lib/log.ts';
import { Metrics } from '../../src/lib/metrics/metrics.ts';
import { EvidenceNotes } from '../../src/pull/evidence.ts';
import { CompositeReader } from '../../src/resolve/composites.ts';
import { type Access, permissionsOf } from '../../src/security/access.ts';
import { Providers } from '../../src/security/openid/providers.ts';
import { SecretStore } from '../../src/security/secrets/secret-store.ts';
import { openComparingThreads, openFleetThreads, openThreads } from '../../src/threads/open.ts';
import { GitStore } from '../../src/versions/store.ts';
import { TestClock } from './hawser.ts';

/** Reads only the declarations. Nothing listens, and what the handlers would need is removed afterwards. */
export async function declaredRoutes(): Promise<Route[]> {
  const folder = mkdtempSync(join(tmpdir(), 'hawser-routes-'));
  const log = createLog('silent');
  const database = await openSqlite(join(folder, 'data'));
  const locks = new LocalLocks();
  const store = new GitStore({
    ...{ root: join(folder, 'repos'), log, cacheBytes: 1024 },
    onRefsMoved: async () => undefined,
  });
  const evidence = new EvidenceNotes({ database, store, log, clock: new TestClock() });
  const keys = { dataDir: folder, secretsKeyFile: null };
  const secrets = await SecretStore.open({ config: keys, database, clock: new TestClock(), log });
  try {
    const options: AppOptions = {
      ...{ database, store, log, clock: new TestClock() },
      // All routes that there can be.
      config: { ...readConfig({}), dataDir: folder, environment: 'development' },
      uploadPack: new UploadPack({ root: folder, searchPath: '', log, folders: store.folders }),
      blame: new GitBlame({ root: folder, searchPath: '', log, folders: store.folders, hasGit: false }),
      retention: new RetentionRuns({
        ...{ database, store, log, clock: new TestClock(), composites: new CompositeReader(store) },
        ...{ locks, maxReportBytes: null, onOverSize: () => undefined },
        maintenance: new Maintenance({ root: folder, searchPath: '', log }),
      }),
      previews: new PreviewRuns({
        ...{ database, locks, log, clock: new TestClock(), onMade: () => undefined },
        engine: { make: () => Promise.reject(new Error('nothing is previewed here')) },
      }),
      ...{ authority: { certificate: '', key: '' }, issuesCertificates: true },
      consoleFiles: null,
      clientFiles: new Map(),
      bundleFiles: new BundleFiles({ folder, maxBytes: 0 }),
      locks,
      threads: openThreads(secrets),
      comparingThreads: openComparingThreads(),
      providers: new Providers(readConfig({})),
      fleetThreads: openFleetThreads({ dataDir: folder, databaseUrl: null, reposDir: folder }, secrets),
      metrics: new Metrics({ version: '', pollPath: '' }),
      onNodeSeen: () => undefined,
      evidence,
      eventWaiting: new EventWaiting(database),
      secrets,
    };
    const { pull, api } = allRoutes(options);
    return [...pull, ...api];
  } finally {
    await evidence.close();
    await store.close();
    await database.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Whether an administrator's GET is answered 200 by it, whatever was before. Git and metrics have credentials of their
 * own, and who comes back from an identity provider must have gone there first.
 */
export function isPlainGet({ id, method, caller, access, answers }: Route): boolean {
  const isOther = 302 in answers || caller === 'git' || access.kind === 'metrics' || id === 'finishSignIn';
  return method === 'GET' && !isOther;
}

/** The access rule of a route in one line, for the golden file and the names of tests. */
export function describeAccess(access: Access): string {
  switch (access.kind) {
    case 'public':
      return access.knowsSession ? 'public (knows a session)' : 'public';
    case 'user': {
      const marks = [
        access.session ? 'session' : null,
        access.anyScopes ? 'any scopes' : null,
        access.duringPasswordChange ? 'during password change' : null,
      ].filter((mark) => mark !== null);
      return marks.length === 0 ? 'user' : `user (${marks.join(', ')})`;
    }
    case 'permission':
      return permissionsOf(access).join(' or ') + (access.session ? ' (session)' : '');
    case 'action':
      return `${[...new Set(Object.values(access.permissions))].join(' or ')} (by action)`;
    case 'grant':
      return `${access.level} on ${access.on}${access.permission ? ` + ${access.permission}` : ''}`;
    case 'node:self-or-permission':
      return `node:self or ${access.permission}`;
    case 'node:self-or-reader':
      return 'node:self or nodes.read + Read';
    default:
      return access.kind;
  }
}

/**
 * The route's path with these values in place of its parameters. If one parameter name has several meanings, the path
 * up to and including the parameter can be a key; it wins over the bare name.
 */
export function addressOf(route: Route, values: Readonly<Record<string, string>>): string {
  return route.path.replace(/\{\*?(\w+)\}/g, (parameter, name: string, offset: number) => {
    const value = values[route.path.slice(0, offset + parameter.length)] ?? values[name];
    if (value === undefined) throw new Error(`${route.path}: no value is given for ${name}`);
    return value;
  });
}

const A_DAY = '?from=2026-11-20T00:00:00Z&to=2026-11-21T00:00:00Z&bucket=01:00:00';

const TWO_NODES = '?left=web-01.example.org&right=web-01.example.org';

const NEEDED: Record<string, string> = {
  '/api/v1/fleet/reports': A_DAY,
  '/api/v1/fleet/history': A_DAY,
  '/api/v1/fleet/configurations/{name}/history': A_DAY,
  '/api/v1/search': '?q=web',
  '/api/v1/nodes/compare': TWO_NODES,
  '/api/v1/nodes/compare/files/{*filePath}': TWO_NODES,
};

/** The query without which the route answers 400; empty for most. */
export function neededQuery({ path }: Route): string {
  const needed = NEEDED[path];
  if (needed === undefined && path.includes('/compare')) return '?to=1.0.0';
  return needed ?? '';
}
