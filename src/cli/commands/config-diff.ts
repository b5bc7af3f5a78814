/** `hawserctl config diff`: a unified diff of two versions, or of a version and a folder. */

import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isVersion } from '../../domain/version-order.ts';
import { type Context, command } from '../declaration.ts';
import { Failure, UsageError } from '../errors.ts';
import { withBitsOf } from '../folder/contents.ts';
import { compareContents, patchOf } from '../folder/differences.ts';
import { showPatch } from './config-compared.ts';
import { NAME, takeFolder } from './config-folder.ts';
import { CONFIGURATION, checkVersion, noSuch, unlessMissing } from './config-kinds.ts';
import { downloadContents } from './config-push.ts';

const ARGUMENTS = [
  { name: 'folder-or-version', summary: 'a folder, or the version to compare from' },
  {
    name: 'version',
    summary:
      'the version to compare with; without it, the highest for a folder, and the one below for a version',
    isOptional: true,
  },
] as const;

type DiffContext = Context<typeof ARGUMENTS, typeof NAME>;

export const diff = command({
  path: 'config diff',
  summary: 'show what differs between two versions, or between a version and a folder',
  description:
    'Prints a unified diff, which "git apply" takes. A folder is compared with the version as it is, and is the newer ' +
    'side. What is written like a version is one; write ./1.0.0 for a folder of that name.',
  arguments: ARGUMENTS,
  options: NAME,
  examples: [
    'hawserctl config diff ./web',
    'hawserctl config diff ./web 1.1.0',
    'hawserctl config diff 1.1.0 1.2.0 --name web',
  ],
  async run(context) {
    const { cwd, arguments: given } = context;
    const first = given['folder-or-version'];
    if (given.version !== undefined) checkVersion(given.version);
    if (!isVersion(first) && (await isFolder(resolve(cwd, first)))) return diffFolder(context, first);
    if (/[/\\]/.test(first) || first.startsWith('.'))
      throw new Failure(`There is no folder ${resolve(cwd, first)}.`);
    checkVersion(first);
    if (context.options.name === undefined)
      throw new UsageError(
        `There is no folder "${first}" here; if it is a version, say of which configuration by --name.`,
      );
    await diffVersions(context, first, context.options.name);
  },
});

async function diffFolder(context: DiffContext, given: string): Promise<void> {
  const { api, out } = context;
  const { folder, name, contents: own } = await takeFolder(context, given);
  const version = context.arguments.version ?? (await topVersion(api, name));
  const before = await downloadContents(api, name, version);
  const after = process.platform === 'win32' ? withBitsOf(own, before) : own;
  if (out.isJson) out.json({ from: { version }, to: { folder }, ...compareContents(before, after) });
  else showPatch(await patchOf(before, after), out);
}

/** The highest one, drafts too, that is not withdrawn. */
async function topVersion(api: DiffContext['api'], name: string): Promise<string> {
  const path = { name };
  const versions = await unlessMissing(api.all('/api/v1/configurations/{name}/versions', { path }));
  const top = versions?.find(({ withdrawn }) => withdrawn === null);
  if (versions === null) throw new Failure(`${noSuch('configuration', name)} Say its name by --name.`);
  if (top === undefined) throw new Failure(`The ${CONFIGURATION.noun} ${name} has no versions.`);
  return top.version;
}

async function diffVersions(
  { api, out, arguments: given }: DiffContext,
  first: string,
  name: string,
): Promise<void> {
  const query = given.version === undefined ? { to: first } : { from: first, to: given.version };
  const request = { path: { name }, query };
  if (out.isJson) out.json(await api.get('/api/v1/configurations/{name}/compare', request));
  else {
    const { body, headers } = await api.download(
      '/api/v1/configurations/{name}/compare',
      request,
      'text/x-diff',
    );
    showPatch(body, out);
    if (headers['x-hawser-incomplete'] === 'true')
      out.note('Some binary files are only named, so the patch cannot be applied.');
  }
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() ?? false;
}
