/**
 * Acts on rollouts. What the nodes report moves none of them. A step that adds no node is passed by the server itself, at a
 * time that the acts do not know, so the model keeps what people have made of a rollout.
 */

import type { Deed } from '../../../../src/domain/rollout-machine.ts';
import type { State } from '../model.ts';
import { type Act, attempt, type Bench, partsOf } from './act.ts';
import { isOffered, isRolling } from './configurations.ts';

const PATH = '/api/v1/configurations';

/** No gate passes, halts or comes to its deadline while a test runs. */
const GATE = { minNodes: 1_000_000, maxRegressions: 1_000_000, deadline: '1000.00:00:00' };

/** Publishes a draft into its rollout, beside a version that every node still gets. */
export const startRollout: Act = async (bench) => {
  const { client, model, random } = bench;
  const key = random.pick(model.idle('versions/').filter((one) => isReady(bench, one)));
  if (key === undefined) return false;
  const [name = '', version] = partsOf(key);
  await attempt(bench, {
    what: 'start a rollout',
    after: {
      // Nobody may publish meanwhile.
      [`configurations/${name}`]: model.state(`configurations/${name}`),
      [key]: { ...model.state(key), status: 'Published', publishedBy: 'admin' },
      [rolloutOf(key)]: { state: 'Running', moves: ['Running'] },
    },
    call: () =>
      client.post(`${PATH}/${name}/rollouts`, {
        ...{ version, onHalt: 'Keep' },
        steps: [
          { ring: null, percent: 50, gate: GATE },
          { ring: null, gate: GATE },
        ],
      }),
  });
  return true;
};

/** Whether it is a draft beside a version that every node gets, and nobody is about to do something with either. */
function isReady(bench: Bench, key: string): boolean {
  const { model } = bench;
  const [name = ''] = partsOf(key);
  if (key.includes('-rc') || model.state(key).status !== 'Draft' || isRolling(bench, name)) return false;
  if (model.isBusy(`configurations/${name}`, `versions/${name}/`)) return false;
  const isOpen = (one: string) => isOffered(model.state(one)) && model.state(rolloutOf(one)) === null;
  return model.keys(`versions/${name}/`).some((one) => !one.includes('-rc') && isOpen(one));
}

export const pauseRollout = deed('pause', ['Running'], 'Paused');
export const resumeRollout = deed('resume', ['Paused'], 'Running');
export const haltRollout = deed('halt', ['Running', 'Paused'], 'Halted');
export const revertRollout = deed('revert', ['Running', 'Paused'], 'Halted');
export const completeRollout = deed('complete', ['Running', 'Paused', 'Halted'], 'Completed');

function deed(what: Deed, from: readonly string[], to: string): Act {
  return async (bench) => {
    const { client, model, random } = bench;
    const key = random.pick(model.idle('rollouts/').filter((one) => isFree(bench, one, from)));
    if (key === undefined) return false;
    const [name, version] = partsOf(key);
    const before: State = model.state(key);
    await attempt(bench, {
      what: `${what} a rollout`,
      after: {
        [`versions/${name}/${version}`]: model.state(`versions/${name}/${version}`),
        [key]: { state: to, moves: [...before.moves, to] },
      },
      call: () =>
        client.post(`${PATH}/${name}/rollouts/${version}/${what}`, {
          ...{ reason: `reason ${model.next()}`, expectedState: before.state },
        }),
      // None of its steps added a node, so it is completed.
      refusals: [409],
    });
    return true;
  };
}

/** Whoever deletes the configuration or withdraws the version has chosen one of the other keys. */
function isFree({ model }: Bench, key: string, from: readonly string[]): boolean {
  const [name, version] = partsOf(key);
  return (
    from.includes(model.state(key).state) &&
    !model.isBusy(`configurations/${name}`, `versions/${name}/${version}`)
  );
}

const rolloutOf = (versionKey: string) => versionKey.replace(/^versions/, 'rollouts');
