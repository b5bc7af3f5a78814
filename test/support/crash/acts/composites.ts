/** Acts on composites, their versions and children, withdrawing among them. */

import type { State } from '../model.ts';
import { type Act, attempt, type Bench, partsOf } from './act.ts';
import { hasPublished, isOffered, pickConfiguration } from './configurations.ts';

const PATH = '/api/v1/composite-configurations';

export const createComposite: Act = async (bench) => {
  const name = `m${bench.model.next()}`;
  await attempt(bench, {
    what: 'create a composite',
    after: { [`composites/${name}`]: { description: name } },
    call: () => bench.client.post(PATH, { name, description: name }),
  });
  return true;
};

export const draftComposite: Act = async (bench) => {
  const { client, model, random } = bench;
  const key = random.pick(model.idle('composites/'));
  if (key === undefined) return false;
  const [name] = partsOf(key);
  const version = `1.${model.next()}.0`;
  await attempt(bench, {
    what: 'draft a version of a composite',
    after: { [`composite-versions/${name}/${version}`]: { status: 'Draft', items: [], withdrawn: null } },
    call: () => client.post(`${PATH}/${name}/versions`, { version }),
  });
  return true;
};

export const addChild: Act = async (bench) => {
  const { client, model } = bench;
  const key = pickDraft(bench);
  const child = pickConfiguration(bench);
  if (key === undefined || child === undefined) return false;
  const before = model.state(key);
  if (!hasPublished(bench, child) || before.items.some(([name]: [string]) => name === child)) return false;
  const order = model.next();
  const body = { childConfigurationName: child, order };
  await attempt(bench, {
    what: 'add a child to a composite',
    after: { [key]: { ...before, items: [...before.items, [child, order]] } },
    call: () => client.post(`${pathOf(key)}/children`, body),
    // The child has just been deleted.
    refusals: [404],
  });
  return true;
};

export const publishComposite: Act = async (bench) => {
  const { client, model } = bench;
  const key = pickDraft(bench);
  if (key === undefined || model.state(key).items.length === 0) return false;
  await attempt(bench, {
    what: 'publish a composite',
    after: { [key]: { ...model.state(key), status: 'Published' } },
    call: () => client.put(`${pathOf(key)}/publish`),
  });
  return true;
};

export const withdrawComposite: Act = async (bench) => {
  const { client, model } = bench;
  const key = pickVersion(bench, isOffered);
  if (key === undefined) return false;
  const reason = `reason ${model.next()}`;
  await attempt(bench, {
    what: 'withdraw a version of a composite',
    after: { [key]: { ...model.state(key), withdrawn: reason } },
    call: () => client.put(`${pathOf(key)}/withdraw`, { reason }),
  });
  return true;
};

export const offerCompositeAgain: Act = async (bench) => {
  const { client, model } = bench;
  const key = pickVersion(bench, ({ withdrawn }) => withdrawn !== null);
  if (key === undefined) return false;
  await attempt(bench, {
    what: 'offer a version of a composite again',
    after: { [key]: { ...model.state(key), withdrawn: null } },
    call: () => client.delete(`${pathOf(key)}/withdraw`),
  });
  return true;
};

export const deleteComposite: Act = async (bench) => {
  const { client, model, random } = bench;
  const key = random.pick(model.idle('composites/'));
  const [name = ''] = partsOf(key ?? '');
  if (key === undefined || model.isBusy(`composite-versions/${name}/`)) return false;
  const keys = [key, ...model.keys(`composite-versions/${name}/`)];
  await attempt(bench, {
    what: 'delete a composite',
    after: Object.fromEntries(keys.map((gone) => [gone, null])),
    call: () => client.delete(`${PATH}/${name}`),
  });
  return true;
};

function pickDraft(bench: Bench): string | undefined {
  return pickVersion(bench, ({ status }) => status === 'Draft');
}

function pickVersion({ model, random }: Bench, isWanted: (state: State) => boolean): string | undefined {
  const isFree = (key: string) =>
    isWanted(model.state(key)) && !model.isBusy(`composites/${partsOf(key)[0]}`);
  return random.pick(model.idle('composite-versions/').filter(isFree));
}

function pathOf(key: string): string {
  const [name, version] = partsOf(key);
  return `${PATH}/${name}/versions/${version}`;
}
