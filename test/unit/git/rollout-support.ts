/** Rollouts of the repository of the workbench, as the holder of its lock makes them. */

import type { RolloutRecord } from '../../../src/domain/rollout.ts';
import { beginRollout } from '../../../src/domain/rollout-machine.ts';
import { newId } from '../../../src/lib/ids.ts';
import { systemActor } from '../../../src/security/audit.ts';
import type { GitStore, RolloutMessage, RolloutRef } from '../../../src/versions/store.ts';
import { AT, addVersion, BOB, WEB } from './support.ts';

export const GATE = {
  ...{ minNodes: 1, successShare: 0.95, maxRegressions: 0, maxSilent: null, maxAbsent: null },
  ...{ bakeTime: '01:00:00', deadline: '1.00:00:00', approval: false },
};
export const COUNTS = {
  ...{ offered: 10, taken: 9, success: 8, regression: 1 },
  ...{ alreadyBad: 0, silent: 2, absent: 3 },
};

/** The first record, of two rings. */
export function recordOf(version: string, tag: string): RolloutRecord {
  const steps = [
    { ring: 'canary', percent: 100, gate: GATE },
    { ring: null, percent: 100, gate: GATE },
  ];
  const scopeType = { id: newId(), name: 'Ring' };
  const people = { createdBy: 'bob', publishedBy: 'bob' };
  return beginRollout({
    key: version,
    version,
    tag,
    parameters: [],
    scopeType,
    steps,
    onHalt: 'Keep',
    ...people,
    at: AT,
  });
}

export function messageOf(message: Partial<RolloutMessage> = {}): RolloutMessage {
  return { what: 'Started', from: null, reason: '', cause: null, counts: COUNTS, ...message };
}

/** Adds a draft and publishes it into a rollout. */
export async function rollOut(store: GitStore, version: string): Promise<RolloutRef> {
  await addVersion(store, version);
  return publishInto(store, version);
}

/** Publishes a draft into a rollout. */
export function publishInto(store: GitStore, version: string): Promise<RolloutRef> {
  const details = { version };
  const entry = {
    ...{ actor: systemActor(AT), resourceId: newId(), details, replaces: null },
    action: 'configuration.rollout_started',
  } as const;
  return store.exclusive(WEB, async (repository) => {
    const begin = (tag: string) => ({ record: recordOf(version, tag), message: messageOf() });
    await repository.publish('', version, { tagger: BOB, at: AT, rollout: { entry, begin } });
    const made = repository.index.of('').get(version)?.rollout;
    if (!made) throw new Error('no rollout');
    return made;
  });
}

/** Pauses or resumes the rollout of a version, or whatever `change` makes of it. */
export function moveOn(
  store: GitStore,
  version: string,
  change: Partial<RolloutRecord>,
  { expected, message = {} }: { expected?: string | null; message?: Partial<RolloutMessage> } = {},
): Promise<RolloutRef> {
  return store.exclusive(WEB, async (repository) => {
    const rollout = repository.index.of('').get(version)?.rollout;
    if (!rollout) throw new Error('no rollout');
    const said = messageOf({ what: 'Moved', from: rollout.record.state, ...message });
    const move = { record: { ...rollout.record, ...change }, message: said, author: BOB, at: AT };
    return repository.moveRollout(version, {
      ...move,
      expected: expected === undefined ? rollout.oid : expected,
    });
  });
}
