/** `hawserctl param`: the parameter files of a configuration, by scope. */

import { command } from '../declaration.ts';
import { Failure } from '../errors.ts';
import { applyFilters, FILTER } from '../filters.ts';
import { dateTime } from '../formats.ts';
import { scopeText, splitScope } from '../scopes.ts';
import { required } from '../values.ts';
import { checkVersion, MESSAGE, messageOf } from './config-kinds.ts';
import { diff, preview, publishingOfFile, remove, restore, withdraw } from './param-deeds.ts';
import { explain } from './param-explain.ts';
import {
  CONFIGURATION_ARGUMENT,
  filesOfDeletedNodes,
  findSet,
  isOffered,
  listVersions,
  type ParameterFile,
  SCOPE,
  VERSION_PATH,
} from './param-files.ts';
import { pull, push } from './param-folder.ts';
import { grant, grants } from './param-grants.ts';
import { edit, set } from './param-set.ts';
import { lookAtEffect, PUBLISH_OPTIONS } from './publish-effect.ts';

const list = command({
  path: 'param list',
  summary: 'list the parameter files of all scopes of a configuration',
  arguments: [CONFIGURATION_ARGUMENT],
  options: {
    scope: { value: 'SCOPE', summary: 'those of this scope alone, or of all scopes of a type' },
    ...FILTER,
  },
  examples: [
    'hawserctl param list web --scope Environment',
    'hawserctl param list web --filter status=Draft',
  ],
  async run({ api, out, arguments: { name }, options }) {
    const [scopeTypeName, value] = options.scope === undefined ? [] : splitScope(options.scope, '--scope');
    const query = { scopeTypeName, scopeValue: value ?? undefined };
    const all = await api.all('/api/v1/configurations/{name}/parameter-files', { path: { name }, query });
    const chosen = options.filter.length === 0 ? all : applyFilters(all, options.filter);
    const ofDeleted = out.isJson ? new Set<string>() : await filesOfDeletedNodes(api, name, chosen);
    out.answer(chosen, () =>
      out.table(
        chosen,
        [
          { title: 'SCOPE', cell: scopeText },
          { title: 'VERSION', cell: ({ version }) => version },
          { title: 'STATUS', cell: (file: ParameterFile) => statusOf(file, ofDeleted) },
          { title: 'CREATED', cell: ({ createdAt }) => dateTime(createdAt) },
          { title: 'BY', cell: ({ createdBy }) => createdBy },
          { title: 'PUBLISHED', cell: ({ publishedAt }) => dateTime(publishedAt) },
        ],
        'There are no such parameter files.',
      ),
    );
  },
});

/** @param ofDeleted the ids of files of nodes that were deleted */
function statusOf(file: ParameterFile, ofDeleted: ReadonlySet<string>): string {
  const { id, status, withdrawn, isPassthrough, needsMigration } = file;
  const notes = [
    ofDeleted.has(id) && 'of a deleted node',
    isPassthrough && 'passthrough',
    needsMigration && 'refused by the schema',
  ];
  return [withdrawn ? 'Withdrawn' : status, ...notes].filter(Boolean).join(', ');
}

const get = command({
  path: 'param get',
  summary: "print a scope's parameters",
  description:
    'Without --version these are the highest published ones, or the highest draft where nothing is published.',
  arguments: [CONFIGURATION_ARGUMENT],
  options: { ...SCOPE, version: { value: 'VERSION', summary: 'this version, drafts too' } },
  examples: ['hawserctl param get web --scope Environment/prod > values.yaml'],
  async run({ api, out, arguments: { name }, options }) {
    if (options.version !== undefined) checkVersion(options.version);
    const files = await findSet(api, name, options.scope);
    const version = options.version ?? topOf(await listVersions(api, files));
    if (version === null) throw new Failure(`not_found: There are no versions of ${files.label}.`);
    const given = { path: { ...files.path, version }, query: files.query };
    const found = await api.get(VERSION_PATH, given);
    if (out.isJson) return out.json(found);
    if (found.content === null) out.note(`Version ${version} is a passthrough, which sets nothing.`);
    // A terminal must not obey what the file holds, and a file must get it byte by byte.
    else if (out.isTerminal) out.text(found.content);
    else out.bytes(Buffer.from(found.content));
    if (options.version === undefined)
      out.note(`This is version ${version} (${found.withdrawn ? 'Withdrawn' : found.status}).`);
  },
});

function topOf(versions: readonly ParameterFile[]): string | null {
  const draft = versions.find(({ status }) => status === 'Draft');
  return (versions.find(isOffered) ?? draft ?? versions[0])?.version ?? null;
}

const publish = command({
  path: 'param publish',
  summary: "publish a draft of a scope's parameters, which nodes get at their next poll",
  description:
    'Looks first at what nodes would get, and asks where some would get new parameter problems or lose what they have.',
  arguments: [CONFIGURATION_ARGUMENT],
  options: { ...SCOPE, version: { value: 'VERSION', summary: 'the draft' }, ...MESSAGE, ...PUBLISH_OPTIONS },
  examples: ['hawserctl param publish web --scope Environment/prod --version 1.2.0 -m "Port 8443"'],
  async run(context) {
    const { api, out, options } = context;
    const { name } = context.arguments;
    const version = required(options.version, '--version', '--version 1.2.0');
    checkVersion(version);
    const files = await findSet(api, name, options.scope);
    const given = { path: { ...files.path, version }, query: files.query };
    // Its ETag guards what is published.
    const draft = await api.get(VERSION_PATH, given);
    const label = `version ${version} of ${files.label}`;
    if (!options['no-preview']) await lookAtEffect(context, [publishingOfFile(name, draft)], label);
    const done = await api.put(`${VERSION_PATH}/publish`, { ...given, json: messageOf(options.message) });
    out.answer(done, () => {
      out.text(
        `Version ${version} of ${files.label} is published. Nodes that it is for get it at their next poll.`,
      );
      out.note('Next: "hawserctl param explain NODE" tells where the values of a node come from.');
    });
  },
});

export const PARAM_COMMANDS = [
  list,
  get,
  set,
  edit,
  diff,
  preview,
  publish,
  withdraw,
  restore,
  remove,
  push,
  pull,
  explain,
  grants,
  grant,
];
