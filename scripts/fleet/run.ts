/** A run of the fleet: nodes register, run for a while beside an author who publishes, and are counted at the end. */

import { randomBytes } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientCertificate } from '../../test/support/client-certificates.ts';
import { makeCrowdIdentities } from '../bench/crowd-identities.ts';
import { Measurements } from './measurements.ts';
import { FleetNode, type World } from './node.ts';
import { Operator } from './operator.ts';
import type { FleetOptions } from './options.ts';
import { Pacer } from './pacer.ts';
import { Published } from './published.ts';
import { makeRandom, type Random } from './random.ts';
import { partOf, type RolloutReport, ringNames, rollOut } from './rollout.ts';
import { type Consumption, consumptionOf, type FleetServer } from './server.ts';
import { keepUp, type UpkeepReport } from './upkeep.ts';

/** How many nodes register at the same time. */
const REGISTERING = 32;
/** The share by which waits between polls vary. */
const JITTER = 0.2;

export interface FleetReport {
  options: FleetOptions;
  registered: number;
  registrationSeconds: number;
  /** The time from the last registration until every node has the last version. */
  lifeSeconds: number;
  lifeRequests: number;
  /** None unless it was asked for. */
  rollouts: RolloutReport[];
  versions: number;
  rotations: number;
  measurements: Measurements;
  upkeep: UpkeepReport;
  /** The server's consumption before and after the nodes' lives; null for a server that somebody else has started. */
  server: { before: Consumption; after: Consumption } | null;
  /** The simulator's own CPU seconds in this time, and the 99th percentile of its event loop's delay in ms. */
  simulator: { cpuSeconds: number; delay: number };
}

export async function runFleet(
  options: FleetOptions,
  server: FleetServer,
  progress: (message: string) => void,
): Promise<FleetReport> {
  const operator = new Operator(server.target, server.token, server.lag ?? 0);
  const fleet = new Fleet(options, server, operator);
  try {
    progress(`making ${options.nodes} certificates`);
    await fleet.prepare();
    progress('registering');
    const registrationSeconds = await timed(() => fleet.register());
    progress(options.rollout ? 'rolling out' : `living for ${options.seconds} s`);
    return { ...(await fleet.live()), registrationSeconds };
  } finally {
    fleet.close();
    operator.close();
  }
}

class Fleet {
  private readonly options: FleetOptions;
  private readonly server: FleetServer;
  private readonly operator: Operator;
  private readonly world: World;
  private readonly pacer: Pacer;
  private readonly random: Random;
  /** A part of all names in a run, so that several runs can use the same server. */
  private readonly run = randomBytes(4).toString('hex');
  private readonly configurations: readonly Published[];
  private nodes: FleetNode[] = [];
  private spares: ClientCertificate[] = [];

  constructor(options: FleetOptions, server: FleetServer, operator: Operator) {
    this.options = options;
    this.server = server;
    this.operator = operator;
    this.pacer = new Pacer(options.handshakesPerSecond);
    this.random = makeRandom(options.seed, options.nodes);
    this.configurations = Array.from(
      { length: options.rollout ? 1 : options.configurations },
      (_, at) => new Published(`fleet-${this.run}-${at}`),
    );
    this.world = {
      target: server.target,
      measurements: new Measurements(),
      lag: server.lag ?? 0,
    };
  }

  async prepare(): Promise<void> {
    const { nodes, seed, rollout } = this.options;
    const rotateShare = rollout ? 0 : this.options.rotateShare;
    const identities = await makeCrowdIdentities(nodes + Math.ceil(nodes * rotateShare));
    this.nodes = identities.slice(0, nodes).map((identity, at) => {
      const fqdn = `node-${String(at).padStart(5, '0')}.${this.run}.example.org`;
      const published = this.configurations[at % this.configurations.length] as Published;
      const part = partOf(at, this.options);
      const machine = { fqdn, identity, random: makeRandom(seed, at), ...(part && { part }) };
      return new FleetNode(this.world, published, machine);
    });
    this.spares = identities.slice(nodes);
    for (const published of this.configurations) await this.operator.publish(published);
  }

  /** Registers all nodes, a few at a time. A node that fails counts as a fault and takes no further part. */
  async register(): Promise<void> {
    const { rollout, nodes } = this.options;
    const key = await this.operator.makeRegistrationKey(nodes);
    const rings = rollout && (await this.operator.makeRings(`Ring-${this.run}`, ringNames(rollout)));
    const waiting = this.nodes.values();
    const admit = async () => {
      for (const node of waiting) {
        await this.pacer.turn();
        await this.guarded(node, async () => {
          await node.register(key);
          const valueId = rings?.get(node.part?.ring ?? '');
          if (valueId !== undefined) await this.operator.tag(node.id, valueId);
          await this.operator.assign(node.id, node.published);
        });
      }
    };
    await Promise.all(Array.from({ length: REGISTERING }, admit));
  }

  async live(): Promise<Omit<FleetReport, 'registrationSeconds'>> {
    const { measurements } = this.world;
    const { options, server, operator } = this;
    const { pid } = server;
    const nodes = this.nodes.filter((node) => node.id !== '');
    const before = pid === null ? null : consumptionOf(pid);
    const requestsBefore = measurements.requests;
    const cpuBefore = process.cpuUsage();
    const delay = monitorEventLoopDelay({ resolution: 10 });
    delay.enable();
    const end = performance.now() + options.seconds * 1_000;
    const kept = keepUp({ options, server, operator, measurements }, end);
    let rollouts: RolloutReport[] = [];
    const lifeSeconds = await timed(async () => {
      if (options.rollout) rollouts = await this.rollOut(nodes);
      else await this.liveUntil(end, nodes);
    });
    delay.disable();
    const { user, system } = process.cpuUsage(cpuBefore);
    const after = pid === null ? null : consumptionOf(pid);
    await sleep(server.lag ?? 0);
    await this.compareCounts(nodes);
    return {
      options,
      upkeep: await kept,
      registered: nodes.length,
      lifeSeconds,
      lifeRequests: measurements.requests - requestsBefore,
      rollouts,
      versions: this.configurations.reduce((sum, { count }) => sum + count, 0),
      rotations: nodes.filter((node) => node.hasRotated).length,
      measurements,
      server: before && after && { before, after },
      simulator: { cpuSeconds: (user + system) / 1e6, delay: delay.percentile(99) / 1e6 },
    };
  }

  close(): void {
    for (const node of this.nodes) node.close();
  }

  /** The last cycle of each node begins after the last publish, so it ends with the last version. */
  private async liveUntil(end: number, nodes: readonly FleetNode[]): Promise<void> {
    const authored = this.publishUntil(end);
    const rotateAt = this.planRotations(nodes, end);
    const lives = nodes.map(async (node) => {
      await this.liveAlone(node, end, rotateAt.get(node));
      await authored;
      await this.guarded(node, () => node.cycle());
    });
    await Promise.all(lives);
  }

  /** All nodes run and report a first version before another one is rolled out. */
  private async rollOut(nodes: readonly FleetNode[]): Promise<RolloutReport[]> {
    const { options, operator, world } = this;
    const [published] = this.configurations as [Published];
    await this.liveWhile(nodes, () => false);
    const coming = nodes.filter(({ part }) => part?.temper !== 'Absent');
    const liveUntil = (isOver: () => boolean) => this.liveWhile(coming, () => !isOver());
    return rollOut({ options, operator, measurements: world.measurements, nodes, published, liveUntil });
  }

  /** Each node goes on while the others do, and at last once more. */
  private async liveWhile(nodes: readonly FleetNode[], goesOn: () => boolean): Promise<void> {
    const interval = this.options.pollEvery * 1_000;
    const lives = nodes.map(async (node) => {
      await sleep(node.random() * interval);
      while (goesOn()) {
        await this.guarded(node, () => node.cycle());
        await sleep(this.pauseOf(node));
      }
      await this.guarded(node, () => node.cycle());
    });
    await Promise.all(lives);
  }

  private async liveAlone(node: FleetNode, end: number, rotation: Rotation | undefined): Promise<void> {
    let left = rotation;
    await sleepUntil(performance.now() + node.random() * this.options.pollEvery * 1_000, end);
    while (performance.now() < end) {
      await this.guarded(node, () => node.cycle());
      if (left && performance.now() >= left.at) {
        const { identity } = left;
        left = undefined;
        await this.pacer.turn();
        await this.guarded(node, () => node.rotate(identity));
      }
      await sleepUntil(performance.now() + this.pauseOf(node), end);
    }
  }

  /** Milliseconds until the next poll. */
  private pauseOf({ random }: FleetNode): number {
    return this.options.pollEvery * 1_000 * (1 + JITTER * (2 * random() - 1));
  }

  /** The seed chooses the nodes that rotate. Each rotates at a random time in the first four fifths. */
  private planRotations(nodes: readonly FleetNode[], end: number): Map<FleetNode, Rotation> {
    const span = end - performance.now();
    const drawn = nodes.map((node) => ({ node, lot: this.random() })).sort((a, b) => a.lot - b.lot);
    return new Map(
      this.spares.slice(0, nodes.length).map((identity, at) => {
        const { node } = drawn[at] as { node: FleetNode };
        return [node, { identity, at: end - span * (0.2 + 0.8 * this.random()) }];
      }),
    );
  }

  /** A version that cannot be published is a fault like any other. */
  private async publishUntil(end: number): Promise<void> {
    const interval = this.options.publishEvery * 1_000;
    const start = performance.now();
    for (let turn = 0; start + interval * (turn + 1) < end; turn += 1) {
      await sleepUntil(start + interval * (turn + 1), end);
      const published = this.configurations[turn % this.configurations.length] as Published;
      await this.operator.publish(published).catch((error: unknown) => {
        this.world.measurements.fault('author', error);
      });
    }
    await sleep(this.server.lag ?? 0);
  }

  /** Compares what the server lists with what the nodes have reported. */
  private async compareCounts(nodes: readonly FleetNode[]): Promise<void> {
    const expected: [Record<string, string>, number][] = [
      [{ lcmStatus: 'Idle' }, nodes.filter(({ status }) => status !== null).length],
      ...(['Compliant', 'NonCompliant', 'Error'] as const).map((status): [Record<string, string>, number] => [
        { status },
        nodes.filter((node) => node.status === status).length,
      ]),
    ];
    for (const [filter, count] of expected) {
      const listed = await this.operator.countNodes(`.${this.run}.`, filter);
      if (listed === count) continue;
      const message = `the server lists ${listed} nodes with ${JSON.stringify(filter)}, expected ${count}`;
      this.world.measurements.fault('operator', message);
    }
  }

  private async guarded(node: FleetNode, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.world.measurements.fault(node.fqdn, error);
    }
  }
}

interface Rotation {
  identity: ClientCertificate;
  at: number;
}

async function sleepUntil(at: number, end: number): Promise<void> {
  const milliseconds = Math.min(at, end) - performance.now();
  if (milliseconds > 0) await sleep(milliseconds);
}

/** @returns seconds */
async function timed(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1_000;
}
