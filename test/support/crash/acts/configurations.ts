/** Acts on configurations and their versions: make, change, publish, withdraw and delete them. */

import { documentWith } from '../../documents.ts';
import type { State } from '../model.ts';
import type { Random } from '../random.ts';
import { type Act, attempt, type Bench, partsOf, sha256 } from './act.ts';

const PATH = '/api/v1/configurations';
const DRAFT = {
  status: 'Draft',
  entryPoint: 'main.dsc.yaml',
  createdBy: 'admin',
  publishedBy: null,
  withdrawn: null,
};

export const createConfiguration: Act = async (bench) => {
  const { client, model, random } = bench;
  const name = `c${model.next()}`;
  const files = someFiles(random, name);
  const reply = await attempt(bench, {
    what: 'create a configuration',
    after: {
      [`configurations/${name}`]: { description: null },
      [`versions/${name}/1.0.0`]: { ...DRAFT, files: hashesOf(files) },
    },
    call: () => client.upload(PATH, { fields: { name }, files }),
  });
  if (reply) model.ids.set(`configurations/${name}`, reply.json.id);
  return true;
};

export const describeConfiguration: Act = async (bench) => {
  const name = pickConfiguration(bench);
  if (name === undefined) return false;
  const description = `description ${bench.model.next()}`;
  await attempt(bench, {
    what: 'describe a configuration',
    after: { [`configurations/${name}`]: { description } },
    call: () => bench.client.call('PATCH', `${PATH}/${name}`, { json: { description } }),
  });
  return true;
};

export const draftVersion: Act = async (bench) => {
  const { client, model, random } = bench;
  const name = pickConfiguration(bench);
  if (name === undefined) return false;
  const version = `1.${model.next()}.0${random.pick(['', '', '-rc.1']) ?? ''}`;
  const files = someFiles(random, `${name} ${version}`);
  await attempt(bench, {
    what: 'draft a version',
    after: { [`versions/${name}/${version}`]: { ...DRAFT, files: hashesOf(files) } },
    call: () => client.upload(`${PATH}/${name}/versions`, { fields: { version }, files }),
  });
  return true;
};

export const replaceDraft: Act = (bench) => {
  const files = someFiles(bench.random, `replaced ${bench.model.next()}`);
  return onDraft(bench, 'replace a draft', (before, path) => ({
    after: { ...before, files: hashesOf(files) },
    call: () => bench.client.call('PUT', path, { form: { files } }),
  }));
};

/** Saves a file of a draft: the one that every version shares, or a new one. */
export const saveFile: Act = (bench) => {
  const path = bench.random.pick(['lib/common.ps1', `lib/new/${bench.random.below(3)}.txt`]) ?? '';
  const content = `saved ${bench.model.next()}\n`;
  return onDraft(bench, 'save a file of a draft', (before, draft) => ({
    after: { ...before, files: { ...before.files, [path]: sha256(content) } },
    call: () => bench.client.call('PUT', `${draft}/files/${path}`, { body: content }),
  }));
};

export const deleteFile: Act = (bench) =>
  onDraft(bench, 'delete a file of a draft', (before, draft) => {
    const [path] = Object.keys(before.files).filter((each) => each !== DRAFT.entryPoint);
    if (path === undefined) return null;
    const { [path]: _gone, ...files } = before.files;
    return { after: { ...before, files }, call: () => bench.client.delete(`${draft}/files/${path}`) };
  });

/** Makes a draft of the files of another version. */
export const copyVersion: Act = async (bench) => {
  const { client, model, random } = bench;
  const isFree = (key: string) => !model.isBusy(`configurations/${partsOf(key)[0]}`);
  const key = random.pick(model.idle('versions/').filter(isFree));
  if (key === undefined) return false;
  const [name, from] = partsOf(key);
  const version = `1.${model.next()}.0`;
  await attempt(bench, {
    what: 'copy a version',
    // The other version stays as it is, so nobody may change it meanwhile.
    after: {
      [key]: model.state(key),
      [`versions/${name}/${version}`]: { ...DRAFT, files: model.state(key).files },
    },
    call: () => client.post(`${PATH}/${name}/versions`, { version, from }),
  });
  return true;
};

/** What rolls out may only be followed by a rollout. */
export const publishVersion: Act = (bench) =>
  onVersion(bench, 'publish a version', {
    isFree: (key) => bench.model.state(key).status === 'Draft' && !isRolling(bench, partsOf(key)[0] ?? ''),
    wish: (before, path) => ({
      after: { ...before, status: 'Published', publishedBy: 'admin' },
      call: () => bench.client.put(`${path}/publish`),
    }),
  });

/** Withdraws a version beside which a stable one stays, so that every node still gets one. */
export const withdrawVersion: Act = (bench) => {
  const reason = `reason ${bench.model.next()}`;
  return onVersion(bench, 'withdraw a version', {
    // It would end a rollout of the version.
    isFree: (key) => isOffered(bench.model.state(key)) && !hasRollout(bench, key) && leavesStable(bench, key),
    wish: (before, path) => ({
      after: { ...before, withdrawn: reason },
      call: () => bench.client.put(`${path}/withdraw`, { reason }),
    }),
  });
};

export const offerAgain: Act = (bench) =>
  onVersion(bench, 'offer a version again', {
    // It must not go past the rings of a lower one.
    isFree: (key) => bench.model.state(key).withdrawn !== null && !isRolling(bench, partsOf(key)[0] ?? ''),
    wish: (before, path) => ({
      after: { ...before, withdrawn: null },
      call: () => bench.client.delete(`${path}/withdraw`),
    }),
  });

export const deleteDraft: Act = (bench) =>
  onDraft(bench, 'delete a draft', (_before, path) => ({
    after: null,
    call: () => bench.client.delete(path),
  }));

/** What goes with its configuration. */
const OWNED = ['versions', 'rollouts', 'parameters'];

/** Deletes the configuration with all that it owns. */
export const deleteConfiguration: Act = async (bench) => {
  const { client, model } = bench;
  const name = pickConfiguration(bench);
  if (name === undefined || model.isBusy(...OWNED.map((kind) => `${kind}/${name}/`))) return false;
  const keys = [`configurations/${name}`, ...OWNED.flatMap((kind) => model.keys(`${kind}/${name}/`))];
  await attempt(bench, {
    what: 'delete a configuration',
    after: Object.fromEntries(keys.map((key) => [key, null])),
    call: () => client.delete(`${PATH}/${name}`),
    // The configuration is assigned to a node or is part of a composite.
    refusals: [409],
  });
  return true;
};

/** Picks a configuration that nobody is about to change or delete. */
export function pickConfiguration({ model, random }: Pick<Bench, 'model' | 'random'>): string | undefined {
  return random.pick(model.idle('configurations/').map((key) => partsOf(key)[0] ?? ''));
}

export function hasPublished({ model }: Pick<Bench, 'model'>, name: string): boolean {
  return model.keys(`versions/${name}/`).some((key) => isOffered(model.state(key)));
}

/** Whether the state is that of a version that is published and not withdrawn. */
export function isOffered({ status, withdrawn }: State): boolean {
  return status === 'Published' && withdrawn === null;
}

/** Whether a version of the configuration rolls out. */
export function isRolling({ model }: Pick<Bench, 'model'>, name: string): boolean {
  const start = `rollouts/${name}/`;
  const isUnderWay = (key: string) => ['Running', 'Paused'].includes(model.state(key).state);
  return model.isBusy(start) || model.keys(start).some(isUnderWay);
}

/** Whether the version rolls out or did, so that not everyone may get it. */
export function hasRollout({ model }: Bench, key: string): boolean {
  return model.state(key.replace(/^versions/, 'rollouts')) !== null;
}

export function leavesStable(bench: Bench, key: string): boolean {
  const { model } = bench;
  const [name] = partsOf(key);
  const others = model.keys(`versions/${name}/`).filter((other) => other !== key && !other.includes('-rc'));
  return (
    !model.isBusy(`versions/${name}/`) &&
    others.some((other) => isOffered(model.state(other)) && !hasRollout(bench, other))
  );
}

type Wish = (
  before: State,
  path: string,
) => { after: State; call: Parameters<typeof attempt>[1]['call'] } | null;

function onDraft(bench: Bench, what: string, wish: Wish): Promise<boolean> {
  const isFree = (key: string) => bench.model.state(key).status === 'Draft';
  return onVersion(bench, what, { isFree, wish });
}

async function onVersion(
  bench: Bench,
  what: string,
  { isFree, wish }: { isFree(key: string): boolean; wish: Wish },
): Promise<boolean> {
  const { model, random } = bench;
  const isIdle = (key: string) => isFree(key) && !model.isBusy(`configurations/${partsOf(key)[0]}`);
  const key = random.pick(model.idle('versions/').filter(isIdle));
  if (key === undefined) return false;
  const [name, version] = partsOf(key);
  const wished = wish(model.state(key), `${PATH}/${name}/versions/${version}`);
  if (wished === null) return false;
  await attempt(bench, { what, after: { [key]: wished.after }, call: wished.call });
  return true;
}

/** Makes files: some are shared between versions, some are not, and one is in a folder. */
function someFiles(random: Random, label: string): Record<string, string> {
  const own = `${label} ${random.below(1e9)}\n`.repeat(1 + random.below(40));
  return {
    'main.dsc.yaml': documentWith(own.replaceAll('\n', '\n# ')),
    'lib/common.ps1': 'shared',
    [`lib/${random.below(3)}.txt`]: own.toUpperCase(),
  };
}

function hashesOf(files: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([path, content]) => [path, sha256(content)]));
}
