/**
 * Acts on change sets: many deeds that are proposed, applied and taken back as one. What a set does is told by its deeds, as the
 * server keeps them, so that it must be all there after a crash, or nothing of it.
 */

import type { State } from '../model.ts';
import { type Act, attempt, type Bench, partsOf, sha256 } from './act.ts';
import { hasPublished, hasRollout, isOffered, isRolling, leavesStable } from './configurations.ts';
import { NO_VALUE, parametersPath } from './parameters.ts';

const PATH = '/api/v1/change-sets';
const MOST_DEEDS = 4;
/** Somebody else has just changed what a set names. */
const REFUSALS = [404, 409, 412];

export type Deed = Record<string, State> & { kind: string };

/** A deed, and what it is done to. A set has one for each. */
interface Chosen {
  subject: string;
  deed: Deed;
  /** The draft that it makes, by its key. */
  draft?: { [key: string]: State };
}

export const proposeSet: Act = async (bench) => {
  const { client, model, random } = bench;
  const chosen = new Map<string, Chosen>();
  for (let left = 1 + random.below(MOST_DEEDS); left > 0; left -= 1) {
    const one = random.pick(CHOICES)?.(bench) ?? null;
    if (one !== null && !chosen.has(one.subject)) chosen.set(one.subject, one);
  }
  if (chosen.size === 0) return false;
  const title = `set ${model.next()}`;
  const deeds = [...chosen.values()].map(({ deed }) => deed);
  // A crash may leave drafts without their set, which nobody is offered.
  const drafts = [...chosen.values()].flatMap(({ draft }) =>
    draft === undefined ? [] : [model.begin('save parameters for a change set', draft)],
  );
  const reply = await attempt(bench, {
    what: 'propose a change set',
    after: { [`change-sets/${title}`]: { state: 'Open' } },
    call: () => client.post(PATH, { title, deeds }),
    refusals: REFUSALS,
  });
  for (const draft of drafts) reply === null ? model.refuse(draft) : model.acknowledge(draft);
  if (reply) noteSet(bench, title, reply.json);
  return true;
};

export const applySet: Act = async (bench) => {
  const { client, model, random } = bench;
  const key = random.pick(model.idle('change-sets/').filter((one) => model.state(one).state === 'Open'));
  const effects = key && effectsOf(bench, model.deeds.get(key) ?? []);
  if (!key || !effects) return false;
  const path = `${PATH}/${model.ids.get(key)}`;
  await attempt(bench, {
    what: 'apply a change set',
    after: { ...effects, [key]: { state: 'Applied' } },
    async call() {
      const seen = await client.get(path);
      return seen.status === 200 ? client.post(`${path}/apply`, { digest: seen.json.digest }) : seen;
    },
    refusals: REFUSALS,
  });
  return true;
};

export const discardSet: Act = async (bench) => {
  const { client, model, random } = bench;
  const key = random.pick(model.idle('change-sets/').filter((one) => model.state(one).state === 'Open'));
  if (key === undefined) return false;
  await attempt(bench, {
    what: 'discard a change set',
    after: { [key]: { state: 'Discarded' } },
    call: () => client.delete(`${PATH}/${model.ids.get(key)}`),
  });
  return true;
};

/** Proposes the set that takes another one back, once for each. */
export const revertSet: Act = async (bench) => {
  const { client, model, random } = bench;
  const isNew = (key: string) => !model.isBusy(backOf(key)) && model.state(backOf(key)) === null;
  const key = random.pick(
    model.idle('change-sets/').filter((one) => model.state(one).state === 'Applied' && isNew(one)),
  );
  if (key === undefined) return false;
  const reply = await attempt(bench, {
    what: 'propose to take a change set back',
    after: { [backOf(key)]: { state: 'Open' } },
    call: () => client.post(`${PATH}/${model.ids.get(key)}/revert`),
    refusals: REFUSALS,
  });
  if (reply) noteSet(bench, reply.json.title, reply.json);
  return true;
};

const backOf = (key: string) => `change-sets/Take back: ${partsOf(key)[0]}`;

/** Keeps the id and the deeds of a set that the server has told of. */
export function noteSet({ model }: Pick<Bench, 'model'>, title: string, { id, deeds }: State): void {
  model.ids.set(`change-sets/${title}`, String(id));
  model.deeds.set(`change-sets/${title}`, deeds);
}

const CHOICES: readonly ((bench: Bench) => Chosen | null)[] = [
  ({ model, random }) => {
    const key = random.pick(model.idle('versions/').filter((one) => model.state(one).status === 'Draft'));
    const [subject = '', version] = partsOf(key ?? '');
    return key
      ? { subject, deed: { kind: 'PublishConfiguration', configurationName: subject, version } }
      : null;
  },
  (bench) => {
    const { model, random } = bench;
    const isMeant = (key: string) => isOffered(model.state(key)) && !hasRollout(bench, key);
    const key = random.pick(model.idle('versions/').filter(isMeant));
    const [subject = '', version] = partsOf(key ?? '');
    const deed = { kind: 'Withdraw', configurationName: subject, version, reason: `reason ${model.next()}` };
    return key ? { subject, deed } : null;
  },
  ({ model, random }) => {
    const key = random.pick(model.idle('parameters/').filter((one) => model.state(one).status === 'Draft'));
    return key
      ? { subject: partsOf(key)[0] ?? '', deed: { kind: 'PublishParameters', ...fileIn(key) } }
      : null;
  },
  (bench) => {
    const { model, random } = bench;
    const values = model.idle('scope-values/').map((key) => partsOf(key).join('/'));
    const name = random.pick(model.idle('configurations/').map((key) => partsOf(key)[0] ?? ''));
    const scope = random.pick([`Default/${NO_VALUE}`, ...values]) ?? '';
    const key = `parameters/${name}/${scope}/1.${random.below(4)}.0`;
    if (!name || model.isBusy(key) || model.state(key)?.status === 'Published') return null;
    if (parametersPath(bench, name, scope.split('/')[0] ?? '') === null) return null;
    const content = `parameters:\n  number: ${model.next()}\n`;
    const draft = { [key]: { status: 'Draft', checksum: sha256(content), withdrawn: null } };
    return { subject: name, deed: { kind: 'SetParameters', ...fileIn(key), content }, draft };
  },
  (bench) => {
    const { model, random } = bench;
    const subject = random.pick(model.idle('nodes/'));
    const names = model.idle('configurations/').map((key) => partsOf(key)[0] ?? '');
    const configurationName = random.pick(names.filter((name) => hasPublished(bench, name)));
    if (!subject || !configurationName) return null;
    return { subject, deed: { kind: 'Assign', nodeIds: [model.ids.get(subject)], configurationName } };
  },
  ({ model, random }) => {
    const subject = random.pick(model.idle('nodes/').filter((key) => model.state(key).assigned !== null));
    return subject ? { subject, deed: { kind: 'Unassign', nodeIds: [model.ids.get(subject)] } } : null;
  },
];

function fileIn(key: string) {
  const [configurationName = '', scopeTypeName = '', value, version] = partsOf(key);
  return { configurationName, scopeTypeName, scopeValue: value === NO_VALUE ? null : value, version };
}

/** What is there once a set is applied; null where it cannot be applied now, or somebody is about to change what it names. */
function effectsOf(bench: Bench, deeds: readonly Deed[]): Record<string, State> | null {
  const { model } = bench;
  const after: Record<string, State> = {};
  for (const deed of deeds) {
    const found = effectOf(bench, deed, (key) => after[key] ?? model.state(key));
    if (found === null) return null;
    Object.assign(after, found);
  }
  return Object.keys(after).some((key) => model.isBusy(key)) ? null : after;
}

function effectOf(bench: Bench, deed: Deed, state: (key: string) => State): Record<string, State> | null {
  const { model } = bench;
  const { kind, configurationName: name, version } = deed;
  if (kind === 'Assign' || kind === 'Unassign') {
    const assigned = kind === 'Assign' ? name : null;
    if (assigned !== null && (!hasPublished(bench, assigned) || model.isBusy(`versions/${assigned}/`)))
      return null;
    const nodes = model.keys('nodes/').filter((key) => deed['nodeIds'].includes(model.ids.get(key)));
    if (nodes.length !== deed['nodeIds'].length) return null;
    return {
      ...Object.fromEntries(nodes.map((key) => [key, { ...state(key), assigned }])),
      ...(assigned !== null && kept(bench, assigned)),
    };
  }
  const isFile = kind.endsWith('Parameters');
  const { scopeTypeName, scopeValue } = deed;
  const key = isFile
    ? `parameters/${name}/${scopeTypeName}/${scopeValue ?? NO_VALUE}/${version}`
    : `versions/${name}/${version}`;
  const before = state(key);
  if (before === null || model.state(`configurations/${name}`) === null) return null;
  if (kind.startsWith('Withdraw')) {
    if (!isOffered(before)) return null;
    if (!isFile && (hasRollout(bench, key) || !leavesStable(bench, key))) return null;
    return { ...kept(bench, name), [key]: { ...before, withdrawn: deed['reason'] } };
  }
  if (isRolling(bench, name)) return null;
  const isMeant = kind.startsWith('Restore') ? before.withdrawn !== null : before.status === 'Draft';
  if (!isMeant) return null;
  const next = kind.startsWith('Restore')
    ? { withdrawn: null }
    : { status: 'Published', ...(!isFile && { publishedBy: 'admin' }) };
  return { ...kept(bench, name), [key]: { ...before, ...next } };
}

/** Nobody may delete the configuration, or begin a rollout of it, meanwhile. */
const kept = ({ model }: Bench, name: string) => ({
  [`configurations/${name}`]: model.state(`configurations/${name}`),
});
