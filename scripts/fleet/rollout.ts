/** Rolls versions out to the fleet ring by ring, and checks which nodes have come to run them. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { RolloutCounts, RolloutState, StepState } from '../../src/domain/rollout.ts';
import type { Measurements } from './measurements.ts';
import type { FleetNode, RolloutPart, Temper } from './node.ts';
import type { Operator } from './operator.ts';
import type { FleetOptions, RolloutOptions } from './options.ts';
import type { Published } from './published.ts';

/** Milliseconds between two looks at the rollout. */
const LOOK = 500;
/** Multiples of it spread evenly over the unit, so each ring has its share of each kind of node. */
const GOLDEN = 0.618_033_988_75;

export interface RingReport {
  ring: string | null;
  nodes: number;
  /** How many of them run the version after the end. */
  run: number;
  /** How many of them have ever run it, and broke with it. */
  broken: number;
  state: StepState;
  /** What the server has counted of this ring. */
  counts: RolloutCounts;
}

export interface RolloutReport {
  version: string;
  state: RolloutState;
  /** Why it came to its last state. */
  reason: string;
  seconds: number;
  rings: RingReport[];
}

interface Circumstances {
  options: FleetOptions;
  operator: Operator;
  measurements: Measurements;
  nodes: readonly FleetNode[];
  published: Published;
  /** Lets all nodes that come live until the end. */
  liveUntil(isOver: () => boolean): Promise<void>;
}

/** In the order of the rollout. */
export function ringNames({ rings }: RolloutOptions): string[] {
  return rings.map((_, at) => `ring-${String(at + 1).padStart(3, '0')}`);
}

/** Of a node by its number. The first nodes are in the first ring. */
export function partOf(at: number, { nodes, rollout }: FleetOptions): RolloutPart | undefined {
  if (rollout === null) return undefined;
  const sums = rollout.rings.map((_, last) => rollout.rings.slice(0, last + 1).reduce((a, b) => a + b));
  const ring = sums.findIndex((sum) => at < Math.round(sum * nodes));
  return {
    ring: ringNames(rollout)[ring] ?? null,
    temper: temperAt((at * GOLDEN) % 1, rollout),
    mode: at % 2 === 0 ? 'Remediate' : 'Monitor',
  };
}

function temperAt(place: number, { breaking, bad, silent, absent }: RolloutOptions): Temper {
  if (place < breaking) return 'Breaks';
  if (place < breaking + bad) return 'Bad';
  if (place < breaking + bad + silent) return 'Silent';
  return place < breaking + bad + silent + absent ? 'Absent' : 'Well';
}

/** Rolls out a version with which some nodes break. If that is halted, rolls out another one that is right. */
export async function rollOut(circumstances: Circumstances): Promise<RolloutReport[]> {
  const first = await rollOutNext(circumstances, true);
  return first.state === 'Halted' ? [first, await rollOutNext(circumstances, false)] : [first];
}

async function rollOutNext(circumstances: Circumstances, isBreaking: boolean): Promise<RolloutReport> {
  const { options, operator, published, liveUntil } = circumstances;
  const start = performance.now();
  const version = await operator.draft(published);
  if (isBreaking) published.breaking = version;
  await operator.startRollout(published, planOf(circumstances, version));
  let isOver = false;
  const lives = liveUntil(() => isOver);
  try {
    for (;;) {
      await sleep(LOOK);
      const { state } = await operator.readRollout(published, version);
      if (state !== 'Running') break;
    }
  } finally {
    isOver = true;
    await lives;
  }
  const seconds = (performance.now() - start) / 1_000;
  const view = await operator.readRollout(published, version);
  if (view.state === 'Completed') operator.makeCertain(published);
  // From now on each node is offered what it stays with.
  await liveUntil(() => true);
  const rings = view.steps.map(({ ring, state, counts }): RingReport => {
    const nodes = circumstances.nodes.filter(({ part }) => part?.ring === ring);
    const run = nodes.filter((node) => node.version === version);
    const broken = nodes.filter(({ part }) => isBreaking && part?.temper === 'Breaks');
    const held = broken.filter((node) => node.hasRun(version));
    return { ring, nodes: nodes.length, run: run.length, broken: held.length, state, counts };
  });
  const report = { version, state: view.state, reason: view.history.at(-1)?.reason ?? '', seconds, rings };
  checkRings(circumstances, report, options.rollout?.onHalt ?? '');
  return report;
}

function planOf({ options, nodes }: Circumstances, version: string): object {
  const { rollout } = options;
  if (rollout === null) throw new Error('nothing is rolled out');
  const rings = [...ringNames(rollout), null];
  const steps = rings.map((ring) => {
    const own = nodes.filter(({ part }) => (part?.ring ?? null) === ring).length;
    const gate = {
      // Half of all nodes of the ring must have been judged.
      minNodes: Math.max(1, Math.ceil(own / 2)),
      successShare: rollout.success,
      bakeTime: `PT${rollout.bake}S`,
      deadline: `PT${rollout.deadline}S`,
    };
    return { ring, gate };
  });
  return { version, steps, onHalt: rollout.onHalt };
}

/** A node that runs the version too early, or does not run it in the end, is a fault like a wrong answer. */
function checkRings(
  { nodes, measurements }: Circumstances,
  { version, state, rings }: RolloutReport,
  onHalt: string,
): void {
  for (const { ring, run, state: step } of rings) {
    const coming = nodes.filter(({ part }) => part?.ring === ring && part.temper !== 'Absent').length;
    const isOpen =
      state === 'Completed' || (step !== 'Waiting' && !(state === 'Halted' && onHalt === 'Revert'));
    // With Keep, whoever has not taken it so far does not get it any more.
    const isRight = state === 'Halted' && isOpen ? run <= coming : run === (isOpen ? coming : 0);
    const message = `${run} of ${coming} nodes of ${ring ?? 'the last ring'} run ${version}, which is ${state} (${step})`;
    if (!isRight) measurements.fault('rollout', message);
  }
}
