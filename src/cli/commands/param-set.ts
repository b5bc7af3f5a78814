/** `hawserctl param set` and `param edit`: make a draft of a scope's parameters, or give one other content. */

import { extname } from 'node:path';
import type { Api } from '../../client/api.ts';
import { spanLeaves } from '../../domain/leaf-spans.ts';
import { escapeToken } from '../../domain/value.ts';
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
  type FileWithContent,
  findSet,
  listVersions,
  type ParameterFile,
  publishedBelow,
  readVersion,
  requireDraft,
  SCOPE,
  sendDraft,
} from './param-files.ts';
import { readSecret } from './secret.ts';

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
    'this content already. With --secret one parameter gets a line that is asked for or read from the file, and all others ' +
    'stay as they are in the draft, or else in the highest published version below it.',
  arguments: [CONFIGURATION_ARGUMENT],
  options: {
    ...SCOPE,
    version: { value: 'VERSION', summary: 'the version of the draft, such as 1.2.0' },
    file: { value: 'FILE', short: 'f', summary: 'the parameters, or the one value; - for stdin' },
    secret: { value: 'NAME', summary: 'the one parameter that is set; its value is never an argument' },
    passthrough: { summary: 'in place of a file: set nothing in this scope on purpose' },
    ...REPLACE,
    ...MESSAGE,
  },
  examples: [
    'hawserctl param set web --scope Environment/prod --version 1.2.0 -f values.yaml',
    'hawserctl param set web --scope Node/web01.example.com --version 1.0.0 -f web01.json',
    'hawserctl param set web --scope Environment/prod --version 1.2.1 --secret password',
  ],
  async run(context) {
    const { api, out, options } = context;
    const version = required(options.version, '--version', '--version 1.2.0');
    checkVersion(version);
    const isGiven = options.file !== undefined || options.secret !== undefined;
    if (isGiven === options.passthrough)
      throw new UsageError(
        'Say what to set by -f FILE or --secret NAME, or by --passthrough that nothing is set.',
      );
    const files = await findSet(api, context.arguments.name, options.scope);
    const found = await readVersion(api, files, version);
    const { content, contentType } = await contentOf(context, files, { ...options, version, found });
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

interface Wanted {
  version: string;
  file: string | undefined;
  secret: string | undefined;
  /** The version that is there already. */
  found: FileWithContent | null;
}

/** What the draft is to hold; null for a passthrough. */
async function contentOf(
  context: Pick<Context, 'api' | 'ask' | 'stdin' | 'cwd'>,
  files: FileSet,
  { version, file, secret, found }: Wanted,
): Promise<{ content: string | null; contentType: string | null }> {
  if (secret === undefined)
    return file === undefined
      ? { content: null, contentType: null }
      : { content: await readText(context, file), contentType: typeOf(file) };
  requireDraft(found ?? undefined, files);
  const below = found === null && publishedBelow(await listVersions(context.api, files), version);
  const base = below ? await readVersion(context.api, files, below.version) : found;
  const value = await readSecret(context, secret, { file, json: false });
  const contentType = base?.contentType ?? YAML_TYPE;
  return { content: withValue(base?.content ?? EMPTY, contentType, secret, String(value)), contentType };
}

/**
 * The text with one parameter of another value. All other bytes stay, so what is encrypted in it does too.
 * @throws Failure for a parameter with members, and where a new one has no place that is surely right
 */
function withValue(content: string, contentType: string, name: string, value: string): string {
  const type = contentType === JSON_TYPE ? 'json' : 'yaml';
  const pointer = `/parameters/${escapeToken(name)}`;
  const [key, quoted] = [JSON.stringify(name), JSON.stringify(value)];
  const { leaves, apply } = spanLeaves(Buffer.from(content), type);
  const leaf = leaves.find((each) => each.pointer === pointer);
  const none = leaves.find((each) => each.pointer === '/parameters');
  if (leaf?.edit && !leaf.isShared) return apply([leaf.edit(quoted)]).toString();
  if (none?.edit && !none.isShared) return apply([none.edit(`{${key}: ${quoted}}`)]).toString();
  const added = content
    .replace(/^(parameters:[^\S\n]*(?:#.*)?\n)([^\S\n]+)(?=[^\s#])/m, (_, head, indent) =>
      [head, indent, `${key}: ${quoted}\n`, indent].join(''),
    )
    .replace(/^(\s*\{\s*"parameters"\s*:\s*\{)/, (head) =>
      type === 'json' ? `${head}${key}: ${quoted}, ` : head,
    );
  const after = spanLeaves(Buffer.from(added), type).leaves;
  const isRight = after.length === leaves.length + 1 && after.some((each) => each.pointer === pointer);
  if (leaf || !isRight)
    throw new Failure(
      `${name} cannot be set alone in this file: use "hawserctl param edit" in place of that.`,
    );
  return added;
}

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
