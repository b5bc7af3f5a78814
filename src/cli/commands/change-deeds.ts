/** The deeds of a change set as a command says them, by options or as a file, and as it shows them. */

import type { Schemas } from '../../client/api-types.ts';
import type { Context } from '../declaration.ts';
import { Failure, UsageError } from '../errors.ts';
import { readData } from '../input.ts';
import type { Column } from '../out.ts';
import { findScopeValue, splitScope } from '../scopes.ts';
import { counted } from '../values.ts';
import { checkVersion } from './config-kinds.ts';
import { chooseNodes, NODE_FILTER } from './node-choice.ts';

export type Deed = Schemas['NewChangeSet']['deeds'][number];
type ShownDeed = Schemas['ChangeSet']['deeds'][number];

export const DEED_OPTIONS = {
  publish: { value: 'NAME@VERSION', isRepeatable: true, summary: 'publish a draft of a configuration' },
  'publish-composite': {
    value: 'NAME@VERSION',
    isRepeatable: true,
    summary: 'publish a draft of a composite',
  },
  'publish-parameters': {
    value: 'NAME:SCOPE@VERSION',
    isRepeatable: true,
    summary: "publish a draft of a scope's parameters, such as web:Environment/prod@1.2.0",
  },
  assign: { value: 'NAME', summary: 'assign a configuration to the nodes' },
  'assign-composite': { value: 'NAME', summary: 'assign a composite to the nodes' },
  tag: { value: 'TYPE/VALUE', isRepeatable: true, summary: 'tag the nodes, such as Environment/prod' },
  untag: { value: 'TYPE/VALUE', isRepeatable: true, summary: 'take a tag from the nodes' },
  node: { value: 'NODE', isRepeatable: true, summary: 'a node by its name (fqdn) or id' },
  ...NODE_FILTER,
  file: {
    ...{ value: 'FILE', short: 'f' },
    summary: 'deeds of any kind as JSON or YAML, under "deeds", as the API takes them; - is stdin',
  },
} as const;

type DeedContext = Context<readonly [], typeof DEED_OPTIONS>;
type Surroundings = Pick<DeedContext, 'api' | 'options' | 'stdin' | 'cwd'>;

/**
 * The deeds of the file, then those of the options: what is published comes first.
 * @throws UsageError, also where there are none; Failure where the file or something that is named cannot be found
 */
export async function readDeeds(context: Surroundings): Promise<Deed[]> {
  const { options } = context;
  const deeds: Deed[] = options.file === undefined ? [] : await readDeedFile(context, options.file);
  for (const text of options.publish) {
    const [configurationName, version] = splitVersion(text, '--publish');
    deeds.push({ kind: 'PublishConfiguration', configurationName, version });
  }
  for (const text of options['publish-composite']) {
    const [compositeName, version] = splitVersion(text, '--publish-composite');
    deeds.push({ kind: 'PublishComposite', compositeName, version });
  }
  for (const text of options['publish-parameters']) deeds.push(publishingFile(text));
  deeds.push(...(await deedsOnNodes(context)));
  if (deeds.length === 0)
    throw new UsageError('Say what the change does: by --publish, --tag and others, or in a file by -f.');
  return deeds;
}

/** What is wrong with a deed, the server says. */
async function readDeedFile(surroundings: Surroundings, file: string): Promise<Deed[]> {
  const data = await readData(surroundings, file);
  const { deeds = data } = (data ?? {}) as { deeds?: unknown };
  if (!Array.isArray(deeds)) throw new Failure(`${file} has no list of deeds.`);
  return deeds as Deed[];
}

function splitVersion(text: string, option: string): [name: string, version: string] {
  const at = text.lastIndexOf('@');
  if (at < 1) throw new UsageError(`${option}: say the version too, such as ${text.replace('@', '')}@1.2.0.`);
  const version = text.slice(at + 1);
  checkVersion(version);
  return [text.slice(0, at), version];
}

function publishingFile(text: string): Deed {
  const option = '--publish-parameters';
  const [file, version] = splitVersion(text, option);
  const [configurationName = '', scope = '', ...more] = file.split(':');
  if (configurationName === '' || scope === '' || more.length > 0)
    throw new UsageError(`${option}: "${text}" is no file; one is written as web:Environment/prod@1.2.0.`);
  const [scopeTypeName, scopeValue] = splitScope(scope, option);
  return { kind: 'PublishParameters', configurationName, scopeTypeName, scopeValue, version };
}

async function deedsOnNodes({ api, options }: Surroundings): Promise<Deed[]> {
  const { assign, 'assign-composite': composite, tag, untag, node, filter } = options;
  const isAsked = assign !== undefined || composite !== undefined || tag.length + untag.length > 0;
  if (!isAsked) {
    if (node.length + filter.length > 0)
      throw new UsageError('Say what is done to the nodes: --assign, --assign-composite, --tag or --untag.');
    return [];
  }
  if (assign !== undefined && composite !== undefined)
    throw new UsageError('A node has one assignment: say --assign or --assign-composite.');
  const nodeIds = (await chooseNodes(api, node, filter)).map(({ id }) => id);
  if (nodeIds.length === 0) throw new Failure('No node meets the filter. Nothing was done.');
  const deeds: Deed[] = [];
  const configurationName = assign ?? composite;
  for (const text of untag)
    deeds.push({ kind: 'Untag', nodeIds, scopeValueId: (await findScopeValue(api, text, '--untag')).id });
  for (const text of tag)
    deeds.push({ kind: 'Tag', nodeIds, scopeValueId: (await findScopeValue(api, text, '--tag')).id });
  if (configurationName !== undefined)
    deeds.push({ kind: 'Assign', nodeIds, configurationName, isComposite: composite !== undefined });
  return deeds;
}

export const DEED_COLUMNS: readonly Column<[number, ShownDeed]>[] = [
  { title: 'NO', cell: ([place]) => place + 1 },
  { title: 'DEED', cell: ([, { kind }]) => kind },
  { title: 'WHAT', cell: ([, deed]) => whatOf(deed) },
];

/** What a deed of any kind names, in a few words. */
function whatOf(deed: ShownDeed): string {
  const members: Record<string, unknown> = deed;
  const text = (name: string) => {
    const value = members[name];
    return typeof value === 'string' || typeof value === 'boolean' ? String(value) : null;
  };
  const { nodeIds, majorVersion, scopeTypeIds, parameters, steps } = members;
  return [
    text('configurationName') ?? text('compositeName'),
    text('scopeTypeName') && [text('scopeTypeName'), text('scopeValue')].filter(Boolean).join('/'),
    text('version') ?? (typeof majorVersion === 'number' ? `${majorVersion}.x` : null),
    text('scopeValueId') ?? text('scopeTypeId') ?? text('configurationMode'),
    text('useServerManagedParameters'),
    Array.isArray(scopeTypeIds) ? counted(scopeTypeIds.length, 'scope type') : null,
    Array.isArray(parameters) ? `with ${counted(parameters.length, 'parameter file')}` : null,
    Array.isArray(steps) ? `in ${counted(steps.length, 'step')}` : null,
    Array.isArray(nodeIds) ? `on ${counted(nodeIds.length, 'node')}` : null,
    text('reason') && `(${text('reason')})`,
  ]
    .filter(Boolean)
    .join(' ');
}
