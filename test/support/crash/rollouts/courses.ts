/** Courses that a rollout takes from its start to its end, and the end that it must have, however often the server dies. */

import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Deed } from '../../../../src/domain/rollout-machine.ts';
import { eventually } from '../../eventually.ts';
import { isOfDeath, RINGS, type Ring, type RingedSite, type RolloutView } from './site.ts';

export interface Course {
  onHalt: 'Keep' | 'Revert';
  /** The rings whose nodes break with the version. */
  breaking: readonly Ring[];
  /** What a person does once the history has so many entries. */
  deeds: Readonly<Record<number, Deed>>;
  /** Whether a parameter file goes with the version. A rollout with one is superseded by none. */
  withFile: boolean;
  /** Who brought it to which state, one after the other. */
  history: readonly string[];
  /** In which rings the nodes run the version in the end. */
  runs: readonly Ring[];
}

const NONE = { onHalt: 'Keep', breaking: [], deeds: {}, withFile: true } as const;

/**
 * A rollout that is left open ends with the next one. In the end all nodes run one version, so that the courses may begin
 * anew.
 */
export const COURSES: readonly Course[] = [
  {
    ...NONE,
    ...{ onHalt: 'Revert', breaking: ['early'], runs: [] },
    history: ['admin Running', 'Hawser Running', 'Hawser Halted'],
  },
  {
    ...NONE,
    ...{ breaking: ['canary'], deeds: { 1: 'pause', 2: 'resume' }, runs: ['canary'] },
    history: ['admin Running', 'admin Paused', 'admin Running', 'Hawser Halted'],
  },
  {
    ...NONE,
    runs: RINGS,
    history: ['admin Running', 'Hawser Running', 'Hawser Running', 'Hawser Completed'],
  },
  {
    ...NONE,
    ...{ deeds: { 2: 'revert' }, runs: [] },
    history: ['admin Running', 'Hawser Running', 'admin Halted'],
  },
  {
    ...NONE,
    ...{ deeds: { 2: 'pause' }, runs: ['canary', 'early'], withFile: false },
    history: ['admin Running', 'Hawser Running', 'admin Paused'],
  },
  {
    ...NONE,
    ...{ deeds: { 1: 'pause', 2: 'complete' }, runs: RINGS },
    history: ['admin Running', 'admin Paused', 'admin Completed'],
  },
];

/** Milliseconds. */
const PAUSE = 100;
const PATIENCE = 240_000;

/** What keeps the servers running. */
export interface Keeper {
  /** Is called before each step of a course. */
  onStep(): Promise<void>;
  /** Is called when a call has failed because of a death. The site must be usable afterwards. */
  onDeath(): Promise<void>;
  /** Whether a death may have taken entries from the audit trail. */
  readonly isAuditComplete: boolean;
}

/** Takes the rollout of the version through its course, and checks its end. */
export async function play(site: RingedSite, version: string, course: Course, keeper: Keeper): Promise<void> {
  const end = performance.now() + PATIENCE;
  let view: RolloutView | null = null;
  for (let isOver = false; !isOver; ) {
    if (performance.now() > end)
      throw new Error(`the rollout of ${version} did not end: ${JSON.stringify(view)}`);
    await withstanding(keeper, async () => {
      view = await site.read(version);
      isOver = await takeStep(site, version, course, view);
    });
  }
  await withstanding(keeper, () => checkEnd(site, version, course, keeper));
}

/** Does it again after each death. */
export async function withstanding(keeper: Keeper, work: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      await keeper.onStep();
      return await work();
    } catch (error) {
      if (!isOfDeath(error)) throw error;
      await keeper.onDeath();
    }
  }
}

/** Does what is next, which nobody may have done so far. @returns whether the course is at its end */
async function takeStep(
  site: RingedSite,
  version: string,
  { onHalt, breaking, deeds, withFile, history }: Course,
  view: RolloutView | null,
): Promise<boolean> {
  if (view === null) {
    // All are well with what they have, so that only this version can make it worse.
    await site.visit();
    await site.start(version, { onHalt }, withFile);
    return false;
  }
  const deed = deeds[view.history.length];
  if (deed !== undefined) await site.doDeed(version, deed, view.state);
  else if (view.history.length >= history.length) return true;
  else {
    await site.visit(breaking, version);
    await site.poke();
    await sleep(PAUSE);
  }
  return false;
}

async function checkEnd(site: RingedSite, version: string, course: Course, keeper: Keeper): Promise<void> {
  const { history, breaking, runs } = course;
  const view = await site.read(version);
  const entries = view?.history.map(({ actorName, to }) => `${actorName} ${to}`);
  expect(entries, `the history of ${version}`).to.deep.equal(history);
  expect(view?.state).to.equal(history.at(-1)?.split(' ')[1]);
  await site.visit(breaking, version);
  const holders = site.nodes.filter(({ held }) => held?.version === version).map(({ ring }) => ring);
  expect(holders, `who runs ${version}`).to.deep.equal(runs);
  if (!keeper.isAuditComplete) return;
  // What was cut off is written down by whoever writes next.
  await eventually(async () => {
    const states = history.map((entry) => entry.split(' ')[1]);
    expect(await site.audited(version), `the audit entries of ${version}`).to.deep.equal(states);
  });
}

/** Checks that a rollout that was left open has ended with the one that came after it. */
export async function checkSuperseded(site: RingedSite, version: string): Promise<void> {
  const view = await site.read(version);
  expect(view?.state, version).to.equal('Superseded');
  const last = view?.history.filter(({ to }) => to === 'Superseded').map(({ actorName }) => actorName);
  expect(last, version).to.deep.equal(['admin']);
}
