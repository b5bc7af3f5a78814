/** `hawserctl param push` and `param pull`: the parameter files of many scopes as one folder, such as that of a pipeline. */

import { readdir, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Api } from '../../client/api.ts';
import type { Schemas } from '../../client/api-types.ts';
import { ApiProblem } from '../../client/errors.ts';
import { PARAMETERS_FOLDER, parseTreePath, treePathOf } from '../../domain/parameter-tree.ts';
import { countsAsGiven } from '../../domain/rollout.ts';
import { DEFAULT_SCOPE_TYPE_ID, NODE_SCOPE_TYPE_ID } from '../../domain/scopes.ts';
import { isLitter, MAX_FILES, UploadTree } from '../../domain/upload-tree.ts';
import { chooseParameterFile } from '../../domain/version-choice.ts';
import { type Context, command } from '../declaration.ts';
import { EXIT, Failure } from '../errors.ts';
import { type Contents, toContents } from '../folder/contents.ts';
import { readFolder } from '../folder/read-folder.ts';
import { inspectTarget, writeContents } from '../folder/write-folder.ts';
import { printableLine } from '../printable.ts';
import { scopeText } from '../scopes.ts';
import { counted, someOf } from '../values.ts';
import { archiveOf } from './config-folder.ts';
import { MESSAGE, messageOf, noSuch, unlessMissing } from './config-kinds.ts';
import { publishingOfFile } from './param-deeds.ts';
import { type ParameterFile, readVersion } from './param-files.ts';
import { lookAtEffect, PUBLISH_OPTIONS } from './publish-effect.ts';

type Out = Context['out'];

/** So many paths are named. */
const MOST = 20;

export const push = command({
  path: 'param push',
  summary: 'make drafts of the parameter files in a folder that differ, or publish them',
  description:
    'Sends FOLDER/parameters: its files are CONFIGURATION/SCOPETYPE/VALUE.yaml and CONFIGURATION/Default.yaml, and an empty ' +
    'file that ends in .passthrough in place of .yaml is a passthrough. What a scope gives already makes nothing, and no ' +
    'draft is replaced. With --publish it looks first at what nodes would get, and asks where some would get new parameter ' +
    'problems or lose what they have.',
  arguments: [{ name: 'folder', summary: 'the folder that has the folder parameters' }],
  options: { publish: { summary: 'publish the drafts' }, ...MESSAGE, ...PUBLISH_OPTIONS },
  examples: ['hawserctl param push . -m "Ports of the new site"', 'hawserctl param push . --publish --yes'],
  async run(context) {
    const { api, out, cwd, options } = context;
    const folder = resolve(cwd, context.arguments.folder);
    const { contents, litter } = await readFolder(join(folder, PARAMETERS_FOLDER));
    if (litter.length > 0) out.note(`Left out: ${someOf(litter.map(printableLine), MOST)}.`);
    const tree = contents.map((file) => ({ ...file, path: `${PARAMETERS_FOLDER}/${file.path}` }));
    const form = {
      fields: messageOf(options.message),
      files: [await archiveOf(PARAMETERS_FOLDER, tree)],
    };
    const send = (publish: boolean) =>
      api.post('/api/v1/configurations/parameter-folder', { query: publish ? { publish } : {}, form });
    out.progress(`Sending ${counted(tree.length, 'file')}`);
    // Nothing is answered where nothing differs.
    const drafts = (await send(false)) as readonly ParameterFile[] | undefined;
    if (drafts === undefined)
      return out.answer([], () => out.text('Nothing differs from what the scopes give. Nothing was made.'));
    const names = await namesOf(api, tree);
    if (!options.publish) {
      out.answer(drafts, () => {
        showFiles(drafts, names, out);
        out.note('Next: "hawserctl param push" with --publish publishes them.');
      });
      return;
    }
    const changes = drafts.map((draft) => publishingOfFile(names.get(draft.configurationId) ?? '', draft));
    if (!options['no-preview'])
      await lookAtEffect(context, changes, counted(drafts.length, 'parameter file'));
    const published = await send(true).catch((error) => {
      if (error instanceof ApiProblem && error.status < 500)
        out.note('What was published before this file stays published, and the rest are drafts.');
      throw error;
    });
    const done = (published ?? []) as readonly ParameterFile[];
    out.answer(done, () => showFiles(done, names, out));
  },
});

/** The names of the configurations in the tree by their ids. */
async function namesOf(api: Api, tree: Contents): Promise<Map<string, string>> {
  const names = new Set(tree.map(({ path }) => parseTreePath(path)?.configurationName ?? ''));
  const byId = new Map<string, string>();
  for (const name of names) {
    const path = { name };
    const [file] = await api.get('/api/v1/configurations/{name}/parameter-files', {
      path,
      query: { take: 1 },
    });
    if (file) byId.set(file.configurationId, name);
  }
  return byId;
}

function showFiles(files: readonly ParameterFile[], names: ReadonlyMap<string, string>, out: Out): void {
  out.table(
    files,
    [
      { title: 'CONFIGURATION', cell: ({ configurationId }: ParameterFile) => names.get(configurationId) },
      { title: 'SCOPE', cell: scopeText },
      { title: 'VERSION', cell: ({ version }) => version },
      { title: 'STATUS', cell: ({ status }) => status },
    ],
    'Somebody else has published the same meanwhile.',
  );
  const refused = files.filter(({ needsMigration }) => needsMigration);
  if (refused.length > 0)
    out.note(`The schema refuses ${counted(refused.length, 'file')}, as the server only warns of that.`);
}

export const pull = command({
  path: 'param pull',
  summary: 'write what the scopes give now into a folder, as param push takes it',
  description:
    'Writes FOLDER/parameters: of each scope the file that nodes get with the highest published version of the ' +
    'configuration. Pushed again it makes nothing. Files with other content are written over; at a terminal it asks ' +
    'before. What else is in the folder stays, and is named. Exits with 1 where a file cannot be written by its name.',
  arguments: [{ name: 'folder', summary: 'the folder, new or not' }],
  options: {
    configuration: {
      value: 'NAME',
      summary: 'those of this configuration; without it, of all that you may read',
      isRepeatable: true,
    },
    force: { summary: 'write over files without asking' },
  },
  examples: ['hawserctl param pull .', 'hawserctl param pull ./site --configuration web'],
  async run({ api, ask, out, cwd, arguments: given, options }) {
    const folder = resolve(cwd, given.folder);
    const names =
      options.configuration.length > 0
        ? [...new Set(options.configuration)]
        : (await api.all('/api/v1/configurations')).map(({ name }) => name);
    const pulled: PulledFile[] = [];
    const hidden: string[] = [];
    for (const name of names) {
      out.progress(`Reading the parameters of ${name}`);
      const found = await readGiven(api, name);
      pulled.push(...found.files);
      hidden.push(...found.hidden);
    }
    const unfit = pulled.filter(({ path }) => !isFit(path)).map(({ path }) => path);
    const contents = toContents(pulled.filter(({ path }) => !unfit.includes(path)));
    const place = await inspectTarget(folder, contents);
    const { changed, replaced, twins } = await compareWithFolder(folder, contents);
    const lost = [...replaced, ...twins];
    if (lost.length > 0 && ask.canAsk && !options.force)
      await ask.confirm(`${counted(lost.length, 'file')} in ${folder} would be replaced. Go on?`);
    if (changed.length > 0) await writeContents(place, changed);
    for (const path of twins) await rm(join(folder, path));
    const others = await otherFiles(folder, names, contents);
    const written = changed.map(({ path }) => path);
    out.answer({ folder, files: contents.map(({ path }) => path), written, hidden, unfit, others }, () => {
      const more = replaced.length > 0 ? `, ${replaced.length} of them in place of other content` : '';
      out.text(`${counted(contents.length, 'file')} in ${folder}: ${written.length} written${more}.`);
    });
    if (twins.length > 0) out.note(`Deleted, as the other form of it was written: ${listed(twins)}.`);
    if (hidden.length > 0) out.note(`Left out, as you may not read it: ${someOf(hidden, MOST)}.`);
    if (others.length > 0)
      out.note(
        `These stay, though no scope gives them, and a push would make drafts of them: ${listed(others)}.`,
      );
    if (unfit.length === 0) return EXIT.done;
    out.note(`Not written, as not every system can have files of these names: ${listed(unfit)}.`);
    return EXIT.failed;
  },
});

interface PulledFile {
  path: string;
  content: Buffer;
  executable: false;
}

const listed = (paths: readonly string[]) => someOf(paths.map(printableLine), MOST);

/** What the scopes of a configuration give, and those of which the caller may not know it. @throws Failure */
async function readGiven(api: Api, name: string): Promise<{ files: PulledFile[]; hidden: string[] }> {
  const path = { name };
  const configuration = await unlessMissing(api.get('/api/v1/configurations/{name}', { path }));
  if (configuration === null)
    throw new Failure(
      `${noSuch('configuration', name)} Its highest published version says which files are given, so this needs Read on it.`,
    );
  const query = { status: 'Published' as const, ofDeletedNode: false };
  const all = await unlessMissing(api.all('/api/v1/configurations/{name}/parameter-files', { path, query }));
  const shown = new Set((all ?? []).map(scopeText));
  const series = new Map<string, ParameterFile[]>();
  for (const file of all ?? []) {
    if (file.rollout && !countsAsGiven(file.rollout)) continue;
    const scope = scopeText(file);
    series.set(scope, [...(series.get(scope) ?? []), file]);
  }
  const configurationVersion = configuration.latestPublishedVersion ?? configuration.latestVersion ?? '1.0.0';
  const files: PulledFile[] = [];
  for (const versions of series.values()) {
    const chosen = chooseParameterFile(versions, { configurationVersion, prereleaseChannel: null });
    if (chosen) files.push(await readFileOf(api, name, chosen.file));
  }
  const hidden = await hiddenScopes(api, configuration, shown);
  return { files, hidden: hidden.map((scope) => `${name} ${scope}`) };
}

async function readFileOf(api: Api, name: string, file: ParameterFile): Promise<PulledFile> {
  const { scopeTypeId, configurationId, scopeValue, scopeTypeName: scopeType, isPassthrough } = file;
  const query = scopeValue === null ? {} : { scopeValue };
  const found = await readVersion(api, { path: { scopeTypeId, configurationId }, query }, file.version);
  if (found === null)
    throw new Failure(`not_found: Version ${file.version} of ${name} ${scopeText(file)} is gone.`);
  const path = treePathOf({ configurationName: name, scopeType, scopeValue, isPassthrough });
  return { path, content: Buffer.from(found.content ?? ''), executable: false };
}

/**
 * The scopes that lists leave out, because the caller may not read them. Of nodes, which may be many, each is asked for only
 * where a clone would hold something that the caller may not read.
 */
async function hiddenScopes(
  api: Api,
  { id: configurationId, name }: Schemas['Configuration'],
  shown: ReadonlySet<string>,
): Promise<string[]> {
  const hidden: string[] = [];
  let unlisted: string | null = null;
  for (const { id: scopeTypeId, name: scopeTypeName } of await api.all('/api/v1/scope-types')) {
    const values = await valuesOf(api, scopeTypeId, name);
    // Who may not list the nodes cannot be told which, nor whether there are any where something else is hidden.
    if (values === null) unlisted = scopeTypeName;
    for (const scopeValue of values ?? []) {
      const scope = scopeText({ scopeTypeName, scopeValue });
      if (shown.has(scope)) continue;
      const query = { take: 1, ...(scopeValue !== null && { scopeValue }) };
      const asked = api.get('/api/v1/parameters/{scopeTypeId}/{configurationId}/versions', {
        path: { scopeTypeId, configurationId },
        query,
      });
      if ((await unlessMissing(asked)) === null) hidden.push(scope);
    }
  }
  if (unlisted !== null) hidden.push(hidden.length === 0 ? unlisted : `${unlisted} (perhaps)`);
  return hidden;
}

/** The values of a scope type that may be hidden; null where there are some that nobody tells the caller. */
async function valuesOf(api: Api, scopeTypeId: string, name: string): Promise<(string | null)[] | null> {
  if (scopeTypeId === DEFAULT_SCOPE_TYPE_ID) return [null];
  if (scopeTypeId !== NODE_SCOPE_TYPE_ID) {
    const values = await api.all('/api/v1/scope-types/{scopeTypeId}/values', { path: { scopeTypeId } });
    return values.map(({ value }) => value);
  }
  if (!(await isPartlyHidden(api, name))) return [];
  const nodes = await unlessRefused(api.all('/api/v1/nodes'), 'forbidden');
  return nodes === null ? null : nodes.map(({ fqdn }) => fqdn);
}

/** Whether there are files that the caller may not read, as a clone of the parameters would have them too. */
async function isPartlyHidden(api: Api, name: string): Promise<boolean> {
  const clone = `/git/parameters/${encodeURIComponent(name)}.git/info/refs?service=git-upload-pack`;
  try {
    await api.raw('GET', clone);
    return false;
  } catch (error) {
    if (error instanceof ApiProblem) return error.code === 'partial_read';
    throw error;
  }
}

/** Gives null where the server refuses it with this code. */
async function unlessRefused<T>(asked: Promise<T>, code: string): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ApiProblem && error.code === code) return null;
    throw error;
  }
}

/** Whether every system can have a file of this path, as the server asks for. */
function isFit(path: string): boolean {
  try {
    return !isLitter(path) && new UploadTree(MAX_FILES).add(path) === path;
  } catch {
    return false;
  }
}

/** What has to be written, what of it is there with other content, and the other forms of the same scopes. */
async function compareWithFolder(folder: string, contents: Contents) {
  const changed = [];
  const replaced: string[] = [];
  const twins: string[] = [];
  for (const file of contents) {
    const present = await readIfThere(join(folder, file.path));
    if (present === null || !present.equals(file.content)) changed.push(file);
    if (present !== null && !present.equals(file.content)) replaced.push(file.path);
    const named = parseTreePath(file.path);
    const twin = named && treePathOf({ ...named, isPassthrough: !named.isPassthrough });
    if (twin && (await readIfThere(join(folder, twin))) !== null) twins.push(twin);
  }
  return { changed, replaced, twins };
}

const readIfThere = (file: string) => unlessAbsent(file, readFile(file));

/** @returns null where the path is not there. @throws Failure where it cannot be read */
async function unlessAbsent<T>(path: string, reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw new Failure(`${path} cannot be read: ${code}.`);
  }
}

/** Files of these configurations in the folder that no scope gives. */
async function otherFiles(folder: string, names: readonly string[], contents: Contents): Promise<string[]> {
  const given = new Set(contents.map(({ path }) => path));
  const place = join(folder, PARAMETERS_FOLDER);
  const found = (await unlessAbsent(place, readdir(place, { recursive: true }))) ?? [];
  const paths = found.map((path) => `${PARAMETERS_FOLDER}/${path.replaceAll('\\', '/')}`);
  const isOther = (path: string) => {
    const named = parseTreePath(path);
    return named !== null && names.includes(named.configurationName) && !given.has(path);
  };
  return paths.filter(isOther).sort();
}
