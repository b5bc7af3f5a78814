/** `hawserctl param explain`: where each value of a node's parameters comes from, and what it hides. */

import { textOf } from '../../client/api.ts';
import type { Schemas } from '../../client/api-types.ts';
import { ApiProblem } from '../../client/errors.ts';
import { printJson, readJson } from '../../domain/json-text.ts';
import { isMapping, type Mapping, type Value } from '../../domain/value.ts';
import { command } from '../declaration.ts';
import { Failure, UsageError } from '../errors.ts';
import { dateTime } from '../formats.ts';
import { scopeText } from '../scopes.ts';
import { findNode } from './node-choice.ts';
import { findConfigurationId } from './param-files.ts';

type Provenance = Schemas['ParameterProvenance'];
type Origin = Provenance['provenance'][string];

interface Row {
  path: string;
  origin: Origin;
  value: string;
  hides: string;
}

export const explain = command({
  path: 'param explain',
  summary: 'see who set each value of the parameters that a node gets, and what it hides',
  description:
    'What a value hides stands nearest first; a list that files make together names what it joins instead. Values are ' +
    'shown as JSON, so that the text "1" and the number 1 differ.',
  arguments: [
    { name: 'node', summary: 'the fqdn or the id' },
    {
      name: 'path',
      summary: 'only what is there and below, such as port or /parameters/tls/port',
      isOptional: true,
    },
  ],
  options: {
    configuration: { value: 'NAME', summary: 'the child, for a node that is assigned a composite' },
  },
  examples: [
    'hawserctl param explain web01.example.com',
    'hawserctl param explain web01.example.com tls/port',
  ],
  async run({ api, out, arguments: { node, path }, options }) {
    const { id: nodeId } = await findNode(api, node);
    const name = options.configuration;
    const configurationId = name === undefined ? undefined : await findConfigurationId(api, name);
    const given = { path: { nodeId }, query: { configurationId } };
    const found = await api.get('/api/v1/nodes/{nodeId}/parameters/provenance', given).catch(advise);
    if (path === undefined && out.isJson) return out.json(found);
    const rows = rowsOf(found).filter((row) => path === undefined || isAt(row.path, path));
    if (rows.length === 0 && path !== undefined)
      throw new Failure(`not_found: ${node} has no parameter at ${pointerOf(path)}.`);
    if (out.isJson) return out.json(found);
    out.table(
      rows,
      [
        { title: 'PATH', cell: (row) => row.path },
        { title: 'VALUE', cell: ({ value }) => value },
        { title: 'SCOPE', cell: ({ origin }) => scopeText(origin) },
        { title: 'VERSION', cell: ({ origin }) => origin.resolvedVersion },
        { title: 'SET IN', cell: ({ origin }) => origin.version },
        { title: 'WHO', cell: ({ origin }) => origin.author },
        { title: 'WHEN', cell: ({ origin }) => dateTime(origin.committedAt) },
        { title: 'HIDES', cell: ({ hides }) => hides },
      ],
      'No scope sets a parameter for this node.',
    );
    for (const [pointer, by] of Object.entries(found.unset))
      if (path === undefined || isAt(pointer, path)) out.note(`Unset by ${scopeText(by)}: ${pointer}`);
    for (const { path: at, message } of found.problems) out.note(`Problem: ${at || '/'}: ${message}`);
  },
});

/** The API speaks of an id there, and people have a name. */
function advise(error: unknown): never {
  if (error instanceof ApiProblem && error.code === 'configuration_id_required')
    throw new UsageError(
      'The node is assigned a composite, so say one of its configurations by --configuration.',
    );
  throw error;
}

/** Numbers keep all their digits, which `JSON.parse` would lose. */
function rowsOf(found: Provenance): Row[] {
  const exact = mappingAt(readJson(textOf(found) ?? JSON.stringify(found)), 'provenance');
  return Object.entries(found.provenance).map(([path, origin]) => {
    const own = mappingAt(exact, path);
    const hidden = (own.get('overriddenValues') ?? []) as readonly Mapping[];
    const hides = origin.overriddenValues.map(
      (scope, at) => `${textAt(hidden[at], 'value')} (${scopeText(scope)})`,
    );
    // The nearest ones are those that the value is made of, beside the one that it is shown for.
    const joined = Math.max(0, (origin.mergedFrom?.length ?? 0) - 1);
    const all = hides.map((text, at) => (at < joined ? `joins ${text}` : text));
    return { path, origin, value: textAt(own, 'value'), hides: all.join(', ') };
  });
}

function mappingAt(mapping: Mapping, key: string): Mapping {
  const value = mapping.get(key);
  return isMapping(value) ? value : new Map<string, Value>();
}

function textAt(mapping: Mapping | undefined, key: string): string {
  return printJson(mapping?.get(key) ?? null);
}

function isAt(pointer: string, path: string): boolean {
  const wanted = pointerOf(path);
  return pointer === wanted || pointer.startsWith(`${wanted}/`);
}

/** A path without its first slash is one below `/parameters`. */
function pointerOf(path: string): string {
  return (path.startsWith('/') ? path : `/parameters/${path}`).replace(/\/$/, '');
}
