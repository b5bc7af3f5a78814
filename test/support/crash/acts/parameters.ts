/** Acts on scope types with their values, and on parameter files. */

import { DEFAULT_ID } from '../../scopes.ts';
import type { State } from '../model.ts';
import { type Act, attempt, type Bench, partsOf, sha256 } from './act.ts';
import { isRolling, pickConfiguration } from './configurations.ts';

const SCOPE_TYPES = '/api/v1/scope-types';
/** Stands for the value of the scope that has none. */
export const NO_VALUE = '-';

export const createScopeType: Act = async (bench) => {
  const { client, model } = bench;
  const name = `t${model.next()}`;
  // Each new scope type changes the precedence of Node, so the results of two at a time could not be told apart.
  if (model.isBusy('scope-types/')) return false;
  const reply = await attempt(bench, {
    what: 'create a scope type',
    after: { [`scope-types/${name}`]: { precedence: model.keys('scope-types/').length + 1 } },
    call: () => client.post(SCOPE_TYPES, { name }),
  });
  if (reply) model.ids.set(`scope-types/${name}`, reply.json.id);
  return true;
};

export const createScopeValue: Act = async (bench) => {
  const { client, model, random } = bench;
  const type = random.pick(model.idle('scope-types/'));
  const typeId = type && model.ids.get(type);
  if (!typeId) return false;
  const value = `v${model.next()}`;
  const key = `scope-values/${partsOf(type)[0]}/${value}`;
  const reply = await attempt(bench, {
    what: 'create a scope value',
    after: { [key]: { description: value } },
    call: () => client.post(`${SCOPE_TYPES}/${typeId}/values`, { value, description: value }),
  });
  if (reply) model.ids.set(key, reply.json.id);
  return true;
};

export const saveParameters: Act = async (bench) => {
  const { client, model, random } = bench;
  const name = pickConfiguration(bench);
  if (name === undefined) return false;
  const values = model.idle('scope-values/').map((key) => partsOf(key).join('/'));
  const scope = random.pick([`Default/${NO_VALUE}`, ...values]) ?? '';
  const [type = '', value = ''] = scope.split('/');
  const version = `1.${random.below(4)}.0`;
  const key = `parameters/${name}/${scope}/${version}`;
  const path = parametersPath(bench, name, type);
  if (path === null || model.isBusy(key) || model.state(key)?.status === 'Published') return false;
  const content = `parameters:\n  number: ${model.next()}\n`;
  const body = { version, content, ...(value === NO_VALUE ? {} : { scopeValue: value }) };
  await attempt(bench, {
    what: 'save parameters',
    after: { [key]: { status: 'Draft', checksum: sha256(content), withdrawn: null } },
    call: () => client.put(path, body),
  });
  return true;
};

export const publishParameters: Act = (bench) =>
  onFile(bench, 'publish parameters', {
    isOffer: true,
    isMeant: ({ status }) => status === 'Draft',
    after: (before) => ({ ...before, status: 'Published' }),
    call: (path, query) => bench.client.put(`${path}/publish${query}`),
  });

export const deleteParameters: Act = (bench) =>
  onFile(bench, 'delete parameters', {
    isMeant: ({ status }) => status === 'Draft',
    after: () => null,
    call: (path, query) => bench.client.delete(path + query),
  });

export const withdrawParameters: Act = (bench) => {
  const reason = `reason ${bench.model.next()}`;
  return onFile(bench, 'withdraw parameters', {
    isMeant: ({ status, withdrawn }) => status === 'Published' && withdrawn === null,
    after: (before) => ({ ...before, withdrawn: reason }),
    call: (path, query) => bench.client.put(`${path}/withdraw${query}`, { reason }),
  });
};

export const offerParametersAgain: Act = (bench) =>
  onFile(bench, 'offer parameters again', {
    isOffer: true,
    isMeant: ({ withdrawn }) => withdrawn !== null,
    after: (before) => ({ ...before, withdrawn: null }),
    call: (path, query) => bench.client.delete(`${path}/withdraw${query}`),
  });

interface FileDeed {
  /** Nodes would get it at once, so it waits for what rolls out of the configuration. */
  isOffer?: boolean;
  isMeant(state: State): boolean;
  after(before: State): State;
  call(path: string, query: string): ReturnType<Bench['client']['get']>;
}

async function onFile(
  bench: Bench,
  what: string,
  { isOffer = false, isMeant, after, call }: FileDeed,
): Promise<boolean> {
  const { model, random } = bench;
  const isFree = (key: string) => {
    const [name = ''] = partsOf(key);
    if (model.isBusy(`configurations/${name}`) || (isOffer && isRolling(bench, name))) return false;
    return isMeant(model.state(key));
  };
  const key = random.pick(model.idle('parameters/').filter(isFree));
  const [name = '', type = '', value = '', version] = partsOf(key ?? '');
  const path = parametersPath(bench, name, type);
  if (key === undefined || path === null) return false;
  const configuration = `configurations/${name}`;
  await attempt(bench, {
    what,
    after: {
      [key]: after(model.state(key)),
      // No rollout may start meanwhile.
      ...(isOffer ? { [configuration]: model.state(configuration) } : {}),
    },
    call: () => call(`${path}/versions/${version}`, queryOf(value)),
  });
  return true;
}

/** Null if one of the ids is not known. */
export function parametersPath({ model }: Pick<Bench, 'model'>, name: string, type: string): string | null {
  const typeId = type === 'Default' ? DEFAULT_ID : model.ids.get(`scope-types/${type}`);
  const configurationId = model.ids.get(`configurations/${name}`);
  return typeId && configurationId ? `/api/v1/parameters/${typeId}/${configurationId}` : null;
}

export const queryOf = (value: string) => (value === NO_VALUE ? '' : `?scopeValue=${value}`);
