/** `hawserctl param set` and `param edit`: make a draft of a scope's parameters, or give one other content. */

import { extname } from 'node:path';
import type { Api } from '../../client/api.ts';
import { compareVersions, nextPatch } from '../../domain/version-order.ts';
import { type Context, command } from '../declaration.ts';
import { editorOf, editText } from '../editor.ts';
import { Failure, UsageError } from '../errors.ts';
import { readText } from '../input.ts';
import { required } from '../values.ts';
import { checkVersion, MESSAGE, messageOf } from './config-kinds.ts';
import { REPLACE, requireOwn } from './draft-owner.ts';
import {
  CONFIGURATION_ARGUMENT,
  type FileSet,
  findSet,
  listVersions,
  type ParameterFile,
  publishedBelow,
  readVersion,
  requireDraft,
  SCOPE,
  sendDraft,
} from './param-files.ts';

type Out = Context['out'];

const JSON_TYPE = 'application/json';
const YAML_TYPE = 'application/yaml';
/** What is edited where a scope has no version yet. */
const EMPTY = 'parameters: {}\n';

export const set = command({
  path: 'param set',
  summary: "make a draft of a scope's parameters, or replace it",
  description:
    'A file whose name ends in .json is JSON; any other, and stdin, is YAML. Nothing is changed where the version has ' +
    'this content already.',
  arguments: [CONFIGURATION_ARGUMENT],
  options: {
    ...SCOPE,
    version: { value: 'VERSION', summary: 'the version of the draft, such as 1.2.0' },
    file: { value: 'FILE', short: 'f', summary: 'the parameters, - for stdin' },
    passthrough: { summary: 'in place of a file: set nothing in this scope on purpose' },
    ...REPLACE,
    ...MESSAGE,
  },
  examples: [
    'hawserctl param set web --scope Environment/prod --version 1.2.0 -f values.yaml',
    'hawserctl param set web --scope Node/web01.example.com --version 1.0.0 -f web01.json',
  ],
  async run(context) {
    const { api, out, options } = context;
    const version = required(options.version, '--version', '--version 1.2.0');
    checkVersion(version);
    if ((options.file === undefined) !== options.passthrough)
      throw new UsageError('Say what to set by -f FILE, or by --passthrough that nothing is set.');
    const files = await findSet(api, context.arguments.name, options.scope);
    const content = options.file === undefined ? null : await readText(context, options.file);
    const contentType = content === null ? null : typeOf(options.file ?? '');
    const found = await readVersion(api, files, version);
    if (found?.content === content && found.contentType === contentType) {
      const { content: _, ...same } = found;
      out.answer(same, () =>
        out.text(`Version ${version} of ${files.label} has this content already. Nothing was changed.`),
      );
      return;
    }
    requireDraft(found ?? undefined, files);
    if (found !== null && !options.replace)
      await requireOwn(api, found, `The draft ${version} of ${files.label}`);
    const body = {
      ...{ version, content, contentType, isPassthrough: content === null },
      ...messageOf(options.message),
    };
    const saved = await sendDraft(api, files, body);
    out.answer(saved, () => showSaved(saved, files, found === null ? 'made' : 'replaced', out));
  },
});

function typeOf(file: string): string {
  return extname(file).toLowerCase() === '.json' ? JSON_TYPE : YAML_TYPE;
}

function showSaved(saved: ParameterFile, { words, label }: FileSet, verb: string, out: Out): void {
  out.text(`The draft ${saved.version} of ${label} is ${verb}.`);
  if (saved.needsMigration)
    out.note(`The schema of the configuration refuses it. It was kept, as the server only warns of that.`);
  out.note(`Next: "hawserctl param publish ${words} --version ${saved.version}" publishes it.`);
}

export const edit = command({
  path: 'param edit',
  summary: "open a scope's parameters in an editor, and keep them as a draft",
  description:
    'Opens the editor that the variable VISUAL or EDITOR names; on Windows that is notepad where neither is set. Without ' +
    '--version the highest version is edited if it is a draft, else a draft ' +
    'of the next patch version is made; a new draft begins as the highest published version below it.',
  arguments: [CONFIGURATION_ARGUMENT],
  options: {
    ...SCOPE,
    version: { value: 'VERSION', summary: 'the version of the draft' },
    ...REPLACE,
    ...MESSAGE,
  },
  examples: ['hawserctl param edit web --scope Environment/prod'],
  async run({ api, out, env, arguments: { name }, options }) {
    if (options.version !== undefined) checkVersion(options.version);
    const editor = editorOf(env);
    const files = await findSet(api, name, options.scope);
    const { version, before, isNew } = await findStart(api, files, options.version);
    if (before !== null && !isNew && !options.replace)
      await requireOwn(api, before, `The draft ${version} of ${files.label}`);
    const contentType = before?.contentType ?? YAML_TYPE;
    const original = before?.content ?? EMPTY;
    const edited = await editText(
      original,
      contentType === JSON_TYPE ? `${name}.json` : `${name}.yaml`,
      editor,
    );
    if (edited.text === original) {
      edited.discard();
      out.answer({ version, changed: false }, () => out.text('Nothing was changed.'));
      return;
    }
    const body = { version, content: edited.text, contentType, ...messageOf(options.message) };
    try {
      // A draft that somebody made meanwhile has no ETag here that could guard it.
      if (isNew && (await readVersion(api, files, version)) !== null)
        throw new Failure(`version_exists: Version ${version} was made by somebody else meanwhile.`);
      const saved = await sendDraft(api, files, body);
      edited.discard();
      out.answer(saved, () => showSaved(saved, files, isNew ? 'made' : 'replaced', out));
    } catch (error) {
      out.note(`Nothing was changed. Your text is kept in ${edited.file}.`);
      throw error;
    }
  },
});

/** Which version is edited, and with what content the editor is opened. @throws Failure */
async function findStart(api: Api, files: FileSet, said: string | undefined) {
  const versions = await listVersions(api, files);
  const [highest] = versions;
  const version =
    said ?? (highest?.status === 'Draft' ? highest.version : nextPatch(highest?.version ?? null));
  const own = versions.find((each) => compareVersions(each.version, version) === 0);
  requireDraft(own, files);
  const base = own ?? publishedBelow(versions, version) ?? highest;
  const read = base && (await readVersion(api, files, base.version));
  return {
    version: own?.version ?? version,
    before: read ?? null,
    isNew: own === undefined,
  };
}
