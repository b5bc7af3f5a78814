/** `hawserctl composite set`: gives a draft exactly these children, in this order. */

import type { Api } from '../../client/api.ts';
import type { Schemas } from '../../client/api-types.ts';
import { ApiProblem } from '../../client/errors.ts';
import { command } from '../declaration.ts';
import { Failure } from '../errors.ts';
import { type Child, isSameVersion, readChildren } from './composite-children.ts';
import { showChildren } from './composite-diff.ts';
import { linesOfFindings } from './config-findings.ts';
import {
  COMPOSITE,
  checkVersion,
  MESSAGE,
  messageOf,
  nameAndVersion,
  noSuch,
  unlessMissing,
} from './config-kinds.ts';

type Composite = Schemas['CompositeVersion'];

const VERSION_PATH = '/api/v1/composite-configurations/{name}/versions/{version}';

export const set = command({
  path: 'composite set',
  summary: 'give a draft exactly these children, in this order',
  description:
    'Makes the draft where there is none. A child without a version follows its highest published one, web@1.x that of ' +
    'major 1. Children of the draft that are not named are taken out of it.',
  arguments: [
    ...nameAndVersion(COMPOSITE),
    {
      name: 'child',
      summary: 'a configuration, web@1.2.0 for exactly that version, or web@1.x',
      isVariadic: true,
    },
  ],
  options: {
    ...MESSAGE,
    create: { summary: 'make the composite where there is none' },
    'entry-point': { value: 'PATH', summary: 'of a composite that is made; without it, main.dsc.yaml' },
  },
  examples: [
    'hawserctl composite set site 1.2.0 web@1.2.0 db@1.x base',
    'hawserctl composite set site 1.0.0 web --create',
  ],
  async run({ api, out, arguments: { name, version, child }, options }) {
    checkVersion(version);
    const wanted = readChildren(child);
    const path = { name, version };
    const found = await unlessMissing(api.get(VERSION_PATH, { path }));
    if (found?.status === 'Published')
      throw new Failure(
        `published_version: ${name} ${version} is published, so its children stay. Say another version.`,
      );
    await checkChildren(api, wanted, found);
    const draft = found ?? (await makeDraft(api, path, options));
    if (found && options.message !== undefined)
      out.note('The draft was there already and keeps its message. Publishing it takes one too.');
    await apply(api, path, draft, wanted);
    const made = await api.get(VERSION_PATH, { path });
    out.answer(made, () => out.text(`The draft ${name} ${version} is ${found ? 'changed' : 'made'}.`));
    if (out.isJson) return;
    const query = { to: version };
    const compared = await api.get('/api/v1/composite-configurations/{name}/compare', {
      path: { name },
      query,
    });
    showChildren(compared, out);
    for (const line of linesOfFindings(COMPOSITE, name, made)) out.note(line);
    const { after } = compared.entryPoint;
    if (options['entry-point'] !== undefined && options['entry-point'] !== after)
      out.note(`The composite was there already and keeps its entry point ${after}.`);
    out.note(
      `Next: "hawserctl composite preview ${name} ${version}" tells which nodes change, ` +
        `and "hawserctl composite publish ${name} ${version}" publishes it.`,
    );
  },
});

/** Looks for what is new before anything is changed. @throws Failure */
async function checkChildren(api: Api, wanted: readonly Child[], draft: Composite | null): Promise<void> {
  for (const { name, given } of wanted) {
    const { activeVersion: version } = given;
    const item = draft?.items.find((each) => each.childConfigurationName === name);
    if (item && isSameVersion(item, given)) continue;
    const found = await unlessMissing<unknown>(
      version === null
        ? api.get('/api/v1/configurations/{name}', { path: { name } })
        : api.get('/api/v1/configurations/{name}/versions/{version}', { path: { name, version } }),
    );
    if (found !== null) continue;
    const what =
      version === null ? `configuration "${name}"` : `version ${version} of a configuration "${name}"`;
    throw new Failure(`not_found: There is no ${what} that you may read. Nothing was changed.`);
  }
}

async function makeDraft(
  api: Api,
  path: { name: string; version: string },
  options: { message: string | undefined; create: boolean; 'entry-point': string | undefined },
): Promise<Composite> {
  const { name, version } = path;
  const make = () =>
    api.post('/api/v1/composite-configurations/{name}/versions', {
      path: { name },
      json: { version, ...messageOf(options.message) },
    });
  const made = await unlessMissing(make());
  if (made !== null) return made;
  if (!options.create) throw new Failure(`${noSuch('composite', name)} Say --create to make it.`);
  const entryPoint = options['entry-point'];
  await api.post('/api/v1/composite-configurations', {
    json: { name, ...(entryPoint !== undefined && { entryPoint }) },
  });
  return make();
}

/** Adds before it takes out, so that a refusal leaves what was there. */
async function apply(
  api: Api,
  path: { name: string; version: string },
  { items }: Composite,
  wanted: readonly Child[],
): Promise<void> {
  let changes = 0;
  /** Each change is guarded by the ETag of the draft as it was read after the one before. */
  const done = async (children: number) => {
    changes += 1;
    const { items: found } = await api.get(VERSION_PATH, { path });
    if (found.length !== children) throw new Failure('Somebody else changes the draft meanwhile.');
  };
  let children = items.length;
  try {
    for (const [order, { name, given }] of wanted.entries()) {
      const item = items.find((each) => each.childConfigurationName === name);
      if (item && isSameVersion(item, given) && item.order === order) continue;
      const json = { ...given, order };
      if (item)
        await api.put(`${VERSION_PATH}/children/{childId}`, { path: { ...path, childId: item.id }, json });
      else {
        await api.post(`${VERSION_PATH}/children`, { path, json: { childConfigurationName: name, ...json } });
        children += 1;
      }
      await done(children);
    }
    for (const item of items) {
      if (wanted.some(({ name }) => name === item.childConfigurationName)) continue;
      await api.delete(`${VERSION_PATH}/children/{childId}`, { path: { ...path, childId: item.id } });
      children -= 1;
      await done(children);
    }
  } catch (error) {
    const isRefusal = error instanceof ApiProblem || error instanceof Failure;
    if (isRefusal && changes > 0) {
      const why = error instanceof ApiProblem ? `${error.code}: ${error.message}` : error.message;
      throw new Failure(`${why} The draft is changed in part; the same command can be given again.`);
    }
    throw error;
  }
}
