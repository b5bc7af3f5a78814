/** A server, and `hawserctl` signed in to it as `admin`. */

import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Cli, makeCli } from './cli.ts';
import { ALL_SCOPES, createToken, type Hawser, startHawser } from './hawser.ts';
import { parsePrometheus } from './prometheus.ts';

const METRICS_TOKEN = 'a-token-for-metrics';
const DURATIONS = 'hawser_http_request_duration_seconds';

export interface CliSession {
  hawser: Hawser;
  cli: Cli;
  /** Makes a folder below the home of exactly these files; those that end with `*` are executable. @returns its path */
  folder(name: string, files: Readonly<Record<string, string | Buffer>>): string;
  /** What the server was asked meanwhile, such as `GET /api/v1/nodes`, sorted. */
  requestsOf(work: () => Promise<unknown>): Promise<string[]>;
  /** Waits until a request has come whose route ends so, such as `/proof`. The metrics begin anew with the server. */
  untilAsked(ending: string): Promise<void>;
  close(): Promise<void>;
}

/** `hawserctl`, signed in to the server as `admin` with every scope. */
export async function signedInCli(hawser: Hawser): Promise<Cli> {
  const cli = await makeCli();
  cli.signIn(hawser.target(), await createToken(hawser.client(), hawser.session, ALL_SCOPES));
  return cli;
}

/** @param settings HAWSER_* variables */
export async function startCliSession(settings: Record<string, string> = {}): Promise<CliSession> {
  const hawser = await startHawser({ HAWSER_METRICS_TOKEN: METRICS_TOKEN, ...settings });
  const cli = await signedInCli(hawser);
  return {
    ...{ hawser, cli },
    folder: (name, files) => writeFolder(join(cli.home, name), files),
    requestsOf: async (work) => {
      const before = await countRequests(hawser);
      await work();
      const after = await countRequests(hawser);
      return [...after].flatMap(([what, count]) => Array(count - (before.get(what) ?? 0)).fill(what)).sort();
    },
    untilAsked: async (ending) => {
      const isAsked = async () =>
        [...(await countRequests(hawser)).keys()].some((what) => what.endsWith(ending));
      while (!(await isAsked())) await sleep(100);
    },
    close: async () => {
      cli.close();
      await hawser.close();
    },
  };
}

function writeFolder(folder: string, files: Readonly<Record<string, string | Buffer>>): string {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const [name, content] of Object.entries(files)) {
    const place = join(folder, name.replace(/\*$/, ''));
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, content);
    chmodSync(place, name.endsWith('*') ? 0o755 : 0o644);
  }
  return folder;
}

/** The number of requests by method and route. */
async function countRequests(hawser: Hawser): Promise<Map<string, number>> {
  const { text } = await hawser.client().get('/metrics', { Authorization: `Bearer ${METRICS_TOKEN}` });
  const counts = new Map<string, number>();
  for (const { name, labels, value } of parsePrometheus(text).get(DURATIONS)?.samples ?? []) {
    const what = `${labels['method']} ${labels['route']}`;
    if (name.endsWith('_count') && !what.endsWith('/metrics'))
      counts.set(what, (counts.get(what) ?? 0) + value);
  }
  return counts;
}
