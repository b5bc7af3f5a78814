/** Clients that change everything that can be changed, without a pause, until the server dies. */

import { setTimeout as sleep } from 'node:timers/promises';
import { type Act, type Bench, UnexpectedAnswer } from './acts/act.ts';
import * as changeSets from './acts/change-sets.ts';
import * as composites from './acts/composites.ts';
import * as configurations from './acts/configurations.ts';
import * as nodes from './acts/nodes.ts';
import * as parameters from './acts/parameters.ts';
import * as pushes from './acts/pushes.ts';
import * as rollouts from './acts/rollouts.ts';
import * as users from './acts/users.ts';

/** How often each act is chosen, relative to the others. */
export type Deck = readonly (readonly [Act, number])[];

export const ACTS: Deck = [
  [configurations.createConfiguration, 4],
  [configurations.describeConfiguration, 1],
  [configurations.draftVersion, 5],
  [configurations.replaceDraft, 2],
  [configurations.saveFile, 3],
  [configurations.deleteFile, 1],
  [configurations.copyVersion, 1],
  [configurations.publishVersion, 6],
  [configurations.withdrawVersion, 2],
  [configurations.offerAgain, 2],
  [configurations.deleteDraft, 2],
  [configurations.deleteConfiguration, 2],
  [rollouts.startRollout, 6],
  [rollouts.pauseRollout, 2],
  [rollouts.resumeRollout, 2],
  [rollouts.haltRollout, 1],
  [rollouts.revertRollout, 1],
  [rollouts.completeRollout, 2],
  [pushes.pushDraft, 1],
  [pushes.pushTag, 2],
  [pushes.pushToPublish, 1],
  [composites.createComposite, 1],
  [composites.draftComposite, 2],
  [composites.addChild, 3],
  [composites.publishComposite, 2],
  [composites.withdrawComposite, 1],
  [composites.offerCompositeAgain, 1],
  [composites.deleteComposite, 1],
  [parameters.createScopeType, 1],
  [parameters.createScopeValue, 1],
  [parameters.saveParameters, 5],
  [parameters.publishParameters, 3],
  [parameters.withdrawParameters, 2],
  [parameters.offerParametersAgain, 1],
  [parameters.deleteParameters, 1],
  [nodes.register, 3],
  [nodes.announce, 2],
  [nodes.comeWithNew, 2],
  [nodes.report, 3],
  [nodes.assign, 2],
  [nodes.unassign, 1],
  [nodes.tag, 1],
  [nodes.deleteNode, 1],
  [nodes.pull, 2],
  [changeSets.proposeSet, 5],
  [changeSets.applySet, 6],
  [changeSets.discardSet, 1],
  [changeSets.revertSet, 2],
  [users.createUser, 1],
  [users.assignRoles, 1],
  [users.deleteUser, 1],
];

/** Milliseconds until a client tries something else after 503, or somewhere else after its server died. */
const PAUSE = 30;

export interface Work {
  /** How many writes had been acknowledged when the work began. */
  before: number;
  /** Resolves when this many writes have been acknowledged, the work has failed, or the server has died. */
  reached(writes: number): Promise<void>;
  /** Call this before a kill from outside. From then on a missing answer is not a fault. */
  stop(): void;
  /**
   * Call this before the database goes away, and once it is back. 503 is a right answer to every request that was under way
   * meanwhile.
   */
  setAway(isAway: boolean): void;
  /** Lets each client end what it is about, and then ends them all. */
  finish(): Promise<void>;
  /**
   * Resolves when all clients have ended.
   * @throws Error for an answer that the server must not give
   */
  done: Promise<void>;
}

/**
 * @param isDying whether the server will kill itself, so that calls may fail at any time
 * @param deck what the clients do
 */
export function startWork(benches: readonly Bench[], isDying: boolean, deck: Deck = ACTS): Work {
  const [first] = benches;
  if (!first) throw new Error('no clients');
  const { model } = first;
  const before = model.acknowledged;
  let stopped = isDying;
  let ended = false;
  let away = false;
  /** How often the database has gone away. */
  let absences = 0;
  let awaited = { writes: Number.POSITIVE_INFINITY, tell: () => {} };
  const look = () => {
    if (ended || model.acknowledged - before >= awaited.writes) awaited.tell();
  };
  const cards = deck.flatMap(([act, times]) => Array.from({ length: times }, () => act));
  const loop = async (given: Bench): Promise<void> => {
    let bench: Bench = { ...given, isAway: () => away };
    try {
      while (!ended) {
        const [wasAway, absencesBefore] = [away, absences];
        try {
          const act = bench.random.pick(cards) ?? configurations.createConfiguration;
          if (!(await act(bench))) await configurations.draftVersion(bench);
        } catch (error) {
          const other = stopped && isCut(error) ? (bench.elsewhere?.() ?? null) : null;
          if (other !== null) bench = { ...bench, ...other };
          else if (!(wasAway || absences > absencesBefore) || !isUnavailable(error)) throw error;
          await sleep(PAUSE);
        }
        look();
      }
    } catch (error) {
      ended = true;
      if (!stopped || !isCut(error)) throw error;
    } finally {
      look();
    }
  };
  const done = Promise.all(benches.map(loop)).then(() => undefined);
  // The result is read only after the kill.
  done.catch(() => undefined);
  return {
    before,
    reached: (writes) =>
      new Promise((tell) => {
        awaited = { writes, tell };
        look();
      }),
    stop: () => {
      stopped = true;
    },
    setAway: (isAway) => {
      away = isAway;
      if (isAway) absences += 1;
    },
    finish: () => {
      ended = true;
      return done;
    },
    done,
  };
}

function isUnavailable(error: unknown): boolean {
  return error instanceof UnexpectedAnswer && error.status === 503;
}

/** Whether the connection ended because the server died. */
function isCut(error: unknown): boolean {
  return ['ECONNRESET', 'ECONNREFUSED', 'EPIPE'].includes((error as NodeJS.ErrnoException).code ?? '');
}
