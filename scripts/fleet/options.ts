/** The options of a run of the fleet simulator, and a check whether this machine can run it. */

import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

export const USAGE = `npm run fleet -- [options]
  --nodes N          how many machines to be (100)
  --seconds S        how long they live once all are registered (20)
  --poll-every S     seconds between the polls of a node, give or take a fifth (5)
  --configurations N how many configurations the nodes are spread over (10)
  --publish-every S  seconds between new versions, of one configuration after the other (5)
  --rotate SHARE     share of the nodes that change their certificate, 0 to 1 (0.1)
  --with-retention   clean up old versions, reports and status events every 10 s
  --with-backup      write a backup every 30 s
  --settled-after S  seconds after which the server's memory may grow by a tenth at most (180)
  --handshakes N     new connections per second at most (200)
  --rollout          after a first version, roll out a second one ring by ring until it ends, instead of all that; if it
                     is halted, a third one follows with which nobody breaks
  --rings SHARES     share of the nodes in each ring, in their order; the last ring has all others (0.05,0.2)
  --breaking SHARE   share of each ring that breaks with the second version, 0 to 1 (0)
  --bad, --silent, --absent SHARE
                     of those that are not well before it, take it and report nothing, or do not come any more (0)
  --success SHARE    of the gate of each step (0.95)
  --bake S, --deadline S
                     of the gate of each step (5, 300)
  --on-halt WHAT     Keep or Revert (Revert)
  --seed N           of all that is random: the same seed, the same waits and choices (1)
  --url URL --ca FILE --token-file FILE
                     a server that runs on this machine already, its authority, and a token with the scopes
                     configurations.create, configurations.grants, registration-keys.manage, nodes.read,
                     nodes.assign-configuration, and retention.manage for --with-retention, and for --rollout
                     nodes.write, scopes.admin-override, server.settings.write and rollouts.manage; without these, one
                     is started on folders of its own`;

/** A server that somebody else has started. */
export interface RunningServer {
  port: number;
  ca: string;
  token: string;
}

export interface RolloutOptions {
  /** The share of the nodes in each ring but the last. */
  rings: readonly number[];
  breaking: number;
  bad: number;
  silent: number;
  absent: number;
  success: number;
  bake: number;
  deadline: number;
  onHalt: string;
}

/** The options of a run. Times are in seconds. */
export interface FleetOptions {
  nodes: number;
  seconds: number;
  pollEvery: number;
  configurations: number;
  publishEvery: number;
  rotateShare: number;
  withRetention: boolean;
  withBackup: boolean;
  settledAfter: number;
  handshakesPerSecond: number;
  seed: number;
  /** Null means that all nodes get each version at once. */
  rollout: RolloutOptions | null;
  /** Null means that the simulator starts a server. */
  server: RunningServer | null;
}

/**
 * A node has one connection, and two for a moment during a rotation. The reserved files are for that, and for
 * repositories, database and operator.
 */
const RESERVED_FILES = 500;
/**
 * The longest time for all registrations, in seconds. The server ends a connection after 125 s without a request, and
 * nodes wait until the last one has registered.
 */
const REGISTRATION_LIMIT = 100;

/** @throws Error with one line that says what is wrong */
export function readOptions(args: readonly string[]): FleetOptions {
  const { values } = parseArgs({ args: [...args], options: DESCRIBED, strict: true });
  const number: ReadNumber = (name, least, most, step) => {
    const text = values[name] ?? '';
    const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most && (step === 'any' || Number.isInteger(value))) return value;
    const kind = step === 'whole' ? 'a whole number' : 'a number';
    throw new Error(`--${name}: expected ${kind} from ${least} to ${most}, not "${text}"`);
  };
  const options = {
    nodes: number('nodes', 1, 50_000, 'whole'),
    seconds: number('seconds', 1, 86_400, 'any'),
    pollEvery: number('poll-every', 0.1, 60, 'any'),
    configurations: number('configurations', 1, 1_000, 'whole'),
    publishEvery: number('publish-every', 0.5, 86_400, 'any'),
    rotateShare: number('rotate', 0, 1, 'any'),
    withRetention: values['with-retention'] ?? false,
    withBackup: values['with-backup'] ?? false,
    settledAfter: number('settled-after', 0, 86_400, 'any'),
    handshakesPerSecond: number('handshakes', 1, 5_000, 'whole'),
    seed: number('seed', 0, 2 ** 32 - 1, 'whole'),
    rollout: values.rollout ? readRollout(values, number) : null,
    server: readServer(values.url, values.ca, values['token-file']),
  };
  if (options.withBackup && options.server)
    throw new Error('--with-backup: not of a server of somebody else');
  refuseTooMany(options);
  return options;
}

const text = (fallback: string) => ({ type: 'string', default: fallback }) as const;
type Fallback = ReturnType<typeof text>;

const DESCRIBED = {
  nodes: text('100'),
  seconds: text('20'),
  'poll-every': text('5'),
  configurations: text('10'),
  'publish-every': text('5'),
  rotate: text('0.1'),
  'with-retention': { type: 'boolean' },
  'with-backup': { type: 'boolean' },
  'settled-after': text('180'),
  handshakes: text('200'),
  rollout: { type: 'boolean' },
  rings: text('0.05,0.2'),
  breaking: text('0'),
  bad: text('0'),
  silent: text('0'),
  absent: text('0'),
  success: text('0.95'),
  bake: text('5'),
  deadline: text('300'),
  'on-halt': text('Revert'),
  seed: text('1'),
  url: { type: 'string' },
  ca: { type: 'string' },
  'token-file': { type: 'string' },
} as const;

type NumberName = {
  [N in keyof typeof DESCRIBED]: (typeof DESCRIBED)[N] extends Fallback ? N : never;
}[keyof typeof DESCRIBED];

type ReadNumber = (name: NumberName, least: number, most: number, step: 'any' | 'whole') => number;

function readRollout(values: { rings: string; 'on-halt': string }, number: ReadNumber): RolloutOptions {
  const rings = values.rings.split(',').map(Number);
  const share = (name: NumberName) => number(name, 0, 1, 'any');
  if (!rings.every((each) => each >= 0) || rings.reduce((sum, each) => sum + each, 0) > 1)
    throw new Error('--rings: expected shares with commas, such as 0.05,0.2, which are 1 at most together');
  return {
    rings,
    ...{ breaking: share('breaking'), bad: share('bad'), silent: share('silent'), absent: share('absent') },
    success: share('success'),
    bake: number('bake', 0.001, 86_400, 'any'),
    deadline: number('deadline', 1, 864_000, 'any'),
    onHalt: values['on-halt'],
  };
}

function readServer(
  url: string | undefined,
  ca: string | undefined,
  tokenFile: string | undefined,
): RunningServer | null {
  if (url === undefined && ca === undefined && tokenFile === undefined) return null;
  if (url === undefined || ca === undefined || tokenFile === undefined) {
    throw new Error('--url, --ca and --token-file go together');
  }
  const { protocol, hostname, port } = new URL(url);
  if (protocol !== 'https:' || !['localhost', '127.0.0.1'].includes(hostname)) {
    throw new Error('--url: expected a server on this machine, such as https://localhost:8443');
  }
  const read = (file: string) => readFileSync(file, 'utf8');
  return { port: Number(port || 443), ca: read(ca), token: read(tokenFile).trim() };
}

function refuseTooMany({ nodes, handshakesPerSecond }: FleetOptions): void {
  const most = Math.min(openFilesLimit(), freePorts()) - RESERVED_FILES;
  if (nodes > most) {
    throw new Error(`--nodes: at most ${most} here, by the limits of open files and of local ports`);
  }
  if (nodes > handshakesPerSecond * REGISTRATION_LIMIT) {
    throw new Error(
      `--handshakes: at least ${Math.ceil(nodes / REGISTRATION_LIMIT)} are needed for ${nodes} nodes`,
    );
  }
}

/** The limit is per process. A server that is started from here has the same limit. */
function openFilesLimit(): number {
  const limit = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'));
  return limit ? Number(limit[1]) : Number.POSITIVE_INFINITY;
}

/** All connections go to one address and port, so each of them needs a local port. */
function freePorts(): number {
  const range = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').trim().split(/\s+/);
  return Number(range[1]) - Number(range[0]) + 1;
}
