/** `hawserctl param diff`, `preview`, `delete`, `withdraw` and `restore`: what a version of a scope's parameters changes, and taking it back. */

import type { Schemas } from '../../client/api-types.ts';
import { compareVersions } from '../../domain/version-order.ts';
import { type Context, command, YES } from '../declaration.ts';
import { Failure } from '../errors.ts';
import { type Contents, NOTHING, toContents } from '../folder/contents.ts';
import { patchOf } from '../folder/differences.ts';
import { required } from '../values.ts';
import { showPatch } from './config-compared.ts';
import { checkVersion } from './config-kinds.ts';
import { NODES, showPreview, tryingOf } from './config-preview.ts';
import {
  CONFIGURATION_ARGUMENT,
  type FileSet,
  type FileWithContent,
  findSet,
  listVersions,
  type ParameterFile,
  publishedBelow,
  readVersion,
  SCOPE,
  VERSION_PATH,
} from './param-files.ts';
import { type Effect, WITHDRAW_OPTIONS, withdrawVersion } from './withdrawing.ts';

type Api = Context['api'];

const VERSION = {
  version: { value: 'VERSION', summary: 'the version; without it, the highest one' },
} as const;

const PUBLISHED = { version: { value: 'VERSION', summary: 'the published version' } } as const;

export const diff = command({
  path: 'param diff',
  summary: "show what a version of a scope's parameters changes",
  description: 'Compares it with the published version below it, as a unified diff.',
  arguments: [CONFIGURATION_ARGUMENT],
  options: { ...SCOPE, ...VERSION },
  examples: ['hawserctl param diff web --scope Environment/prod --version 1.2.0'],
  async run({ api, out, arguments: { name }, options }) {
    const files = await findSet(api, name, options.scope);
    const { chosen, below } = await choose(api, files, options.version);
    const [after, before] = [await read(api, files, chosen), below && (await read(api, files, below))];
    if (out.isJson) return out.json({ from: before, to: after });
    const patch = await patchOf(contentsOf(before), contentsOf(after));
    out.note(`${chosen.version} compared with ${below ? below.version : 'nothing'}, as published below it.`);
    showPatch(patch, out);
  },
});

export const preview = command({
  path: 'param preview',
  summary: "see which nodes change when a draft of a scope's parameters is published",
  description:
    'Nothing is changed. Exits with 1 where some node would get an error or nothing in place of what it gets now.',
  arguments: [CONFIGURATION_ARGUMENT],
  options: { ...SCOPE, ...VERSION, ...NODES },
  examples: ['hawserctl param preview web --scope Environment/prod --version 1.2.0'],
  async run(context) {
    const { api, options, arguments: given } = context;
    const files = await findSet(api, given.name, options.scope);
    const { chosen } = await choose(api, files, options.version);
    const what = `Publishing version ${chosen.version} of ${files.label}`;
    return showPreview(context, tryingOf(context, [publishingOfFile(given.name, chosen)]), what);
  },
});

export const remove = command({
  path: 'param delete',
  summary: "delete a draft of a scope's parameters",
  arguments: [CONFIGURATION_ARGUMENT],
  options: { ...SCOPE, version: { value: 'VERSION', summary: 'the draft' }, ...YES },
  examples: ['hawserctl param delete web --scope Environment/prod --version 1.2.0'],
  async run({ api, ask, out, arguments: { name }, options }) {
    const version = required(options.version, '--version', '--version 1.2.0');
    checkVersion(version);
    const files = await findSet(api, name, options.scope);
    const given = { path: { ...files.path, version }, query: files.query };
    // Its ETag guards what is deleted.
    await api.get(VERSION_PATH, given);
    await ask.confirm(`Delete version ${version} of ${files.label}?`);
    await api.delete(VERSION_PATH, given);
    out.answer({ version, deleted: true }, () =>
      out.text(`The draft ${version} of ${files.label} is deleted.`),
    );
  },
});

export const withdraw = command({
  path: 'param withdraw',
  summary: 'take published parameters of a scope back, so that they are offered to nobody any more',
  description:
    'The file and its history stay, and nodes get the next lower version of the scope that fits at their next poll, or ' +
    'nothing of this scope. Tells how many nodes are offered it, and asks.',
  arguments: [CONFIGURATION_ARGUMENT],
  options: { ...SCOPE, ...PUBLISHED, ...WITHDRAW_OPTIONS },
  examples: [
    'hawserctl param withdraw web --scope Environment/prod --version 1.2.0 --dry-run',
    'hawserctl param withdraw web --scope Environment/prod --version 1.2.0 -m "The port is taken"',
  ],
  async run(context) {
    const { api, arguments: given } = context;
    const { files, version, named } = await findPublished(context, given.name);
    const send = (more: { json: { reason: string } } | { query: { dryRun: true } }) =>
      api.put(`${VERSION_PATH}/withdraw`, {
        ...named,
        ...more,
        query: { ...named.query, ...('query' in more && more.query) },
      });
    return withdrawVersion(context, {
      label: `version ${version} of ${files.label}`,
      restore: `hawserctl param restore ${files.words} --version ${version}`,
      look: async () => (await send({ query: { dryRun: true } })) as Effect,
      withdraw: (reason) => send({ json: { reason } }),
    });
  },
});

export const restore = command({
  path: 'param restore',
  summary: 'offer withdrawn parameters of a scope again',
  arguments: [CONFIGURATION_ARGUMENT],
  options: { ...SCOPE, ...PUBLISHED },
  examples: ['hawserctl param restore web --scope Environment/prod --version 1.2.0'],
  async run(context) {
    const { api, out, arguments: given } = context;
    const { files, version, named } = await findPublished(context, given.name);
    await api.delete(`${VERSION_PATH}/withdraw`, named);
    out.answer({ version, restored: true }, () =>
      out.text(
        `Version ${version} of ${files.label} is offered again. Nodes that it is for get it at their next poll.`,
      ),
    );
  },
});

/** Reads the version, whose ETag guards what is done with it. */
async function findPublished(
  { api, options }: { api: Api; options: { scope: string | undefined; version: string | undefined } },
  name: string,
) {
  const version = required(options.version, '--version', '--version 1.2.0');
  checkVersion(version);
  const files = await findSet(api, name, options.scope);
  const named = { path: { ...files.path, version }, query: files.query };
  await api.get(VERSION_PATH, named);
  return { files, version, named };
}

/** The change that publishes a draft, for a preview. */
export function publishingOfFile(
  configurationName: string,
  { scopeTypeName, scopeValue, version }: Pick<ParameterFile, 'scopeTypeName' | 'scopeValue' | 'version'>,
): Schemas['NewPreview']['changes'][number] {
  return { kind: 'PublishParameters', configurationName, scopeTypeName, scopeValue, version };
}

/** The version that is meant, and the published one below it. @throws Failure */
async function choose(api: Api, files: FileSet, said: string | undefined) {
  if (said !== undefined) checkVersion(said);
  const versions = await listVersions(api, files);
  const chosen =
    said === undefined ? versions[0] : versions.find(({ version }) => compareVersions(version, said) === 0);
  if (chosen === undefined)
    throw new Failure(
      said === undefined
        ? `not_found: There are no versions of ${files.label}.`
        : `not_found: There is no version ${said} of ${files.label}.`,
    );
  return { chosen, below: publishedBelow(versions, chosen.version) ?? null };
}

async function read(api: Api, files: FileSet, { version }: ParameterFile): Promise<FileWithContent> {
  const found = await readVersion(api, files, version);
  if (found === null) throw new Failure(`not_found: Version ${version} of ${files.label} is gone.`);
  return found;
}

/** A passthrough has no content, and is compared as no file. */
function contentsOf(file: FileWithContent | null): Contents {
  if (file === null || file.content === null) return NOTHING;
  const path = file.contentType === 'application/json' ? 'parameters.json' : 'parameters.yaml';
  return toContents([{ path, content: Buffer.from(file.content), executable: false }]);
}
