/** What a node runs beside what it is offered, part by part: versions of configurations and of parameter files. */

import type { Api } from '../../client/api.ts';
import type { Schemas } from '../../client/api-types.ts';
import { isSecret, PARAMETERS, redactDocument, type SecretNames } from '../../domain/secrets.ts';
import { isMapping } from '../../domain/value.ts';
import { printYaml } from '../../domain/yaml-printer.ts';
import { readYaml } from '../../domain/yaml-reader.ts';
import { type Contents, toContents } from '../folder/contents.ts';
import { findScopeType, scopeText } from '../scopes.ts';
import { unlessMissing } from './config-kinds.ts';
import { readVersion } from './param-files.ts';

type Details = Schemas['NodeDetails'];
type Manifest = Schemas['Manifest'];
type Resolution = Schemas['ParameterResolution'];

/** Versions of one thing; null where it is not there on this side. */
interface Versions {
  runs: string | null;
  offered: string | null;
}

export interface ComparedPart extends Versions {
  configurationName: string;
  /** Null where only the running side has it. */
  configurationId: string | null;
  /** Files that set something on either side, in the order of merging. */
  parameters: (Versions & { scopeTypeName: string; scopeValue: string | null })[];
  /** Null where the versions are the same, or only one side has it. */
  files: Schemas['FileChange'][] | null;
}

export interface NodeComparison {
  nodeId: string;
  fqdn: string;
  running: Details['running'];
  /** Null where nothing is offered. */
  offered: { checksum: string; configurationName: string; version: string } | null;
  /** Why there is nothing to compare; null where there is. */
  reason: string | null;
  parts: ComparedPart[];
}

/** @throws ApiProblem where what the node is offered may not be read */
export async function compareNode(api: Api, node: Details): Promise<NodeComparison> {
  const { id, fqdn, running, assignment } = node;
  const start = { nodeId: id, fqdn, running, offered: null, parts: [] };
  const path = { nodeId: id };
  if (assignment === null) return { ...start, reason: 'Nothing is assigned to it.' };
  if (assignment.resolvedVersion === null) return { ...start, reason: 'No published version fits.' };
  const offered = await api.get('/api/v1/nodes/{nodeId}/configuration/checksum', { path });
  if (running === null) return { ...start, offered, reason: 'Nothing is known about what it runs.' };
  if (running.checksum === offered.checksum)
    return { ...start, offered, reason: 'It runs exactly what it is offered.' };
  const checksum = { path: { checksum: running.checksum } };
  const manifest = await unlessMissing(api.get('/api/v1/manifests/{checksum}', checksum));
  const reason = 'The server does not keep what it runs any more, or you may not read all of it.';
  if (manifest === null) return { ...start, offered, reason };
  const resolutions = await readResolutions(api, id, { ...assignment, version: offered.version });
  const parts = compareParts(manifest, resolutions);
  for (const part of parts) part.files = await compareFiles(api, part);
  return { ...start, offered, reason: null, parts };
}

/** Of the assigned configuration, or of each child of the composite. */
async function readResolutions(
  api: Api,
  nodeId: string,
  offered: { configurationName: string; isComposite: boolean; version: string },
): Promise<Map<string, Resolution>> {
  const read = (configurationId?: string) =>
    api.get('/api/v1/nodes/{nodeId}/parameters/resolution', {
      path: { nodeId },
      query: { configurationId },
    });
  const { configurationName: name, isComposite, version } = offered;
  if (!isComposite) return new Map([[name, await read()]]);
  const { items } = await api.get('/api/v1/composite-configurations/{name}/versions/{version}', {
    path: { name, version },
  });
  const all = new Map<string, Resolution>();
  for (const { childConfigurationName, childConfigurationId } of items)
    all.set(childConfigurationName, await read(childConfigurationId ?? undefined));
  return all;
}

function compareParts(manifest: Manifest, offered: ReadonlyMap<string, Resolution>): ComparedPart[] {
  const runs = new Map(manifest.parts.map((part) => [part.configurationName, part]));
  return [...new Set([...offered.keys(), ...runs.keys()])].map((configurationName) => {
    const [before, after] = [runs.get(configurationName), offered.get(configurationName)];
    const set = (after?.scopes ?? []).flatMap(({ resolvedVersion: version, isPassthrough, ...scope }) =>
      version === null || isPassthrough ? [] : [{ ...scope, version }],
    );
    return {
      ...{ configurationName, configurationId: after?.configurationId ?? null },
      ...{ runs: before?.version ?? null, offered: after?.configurationVersion ?? null },
      parameters: compareScopes(before?.parameters ?? [], set),
      files: null,
    };
  });
}

interface ScopeVersion {
  scopeTypeName: string;
  scopeValue: string | null;
  version: string;
}

function compareScopes(before: readonly ScopeVersion[], after: readonly ScopeVersion[]) {
  const versions = (files: readonly ScopeVersion[]) =>
    new Map(files.map((file) => [scopeText(file), file.version]));
  const [runs, offered] = [versions(before), versions(after)];
  const scopes = new Map([...after, ...before].map((file) => [scopeText(file), file]));
  return [...scopes].map(([name, { scopeTypeName, scopeValue }]) => ({
    ...{ scopeTypeName, scopeValue },
    ...{ runs: runs.get(name) ?? null, offered: offered.get(name) ?? null },
  }));
}

async function compareFiles(api: Api, part: ComparedPart): Promise<ComparedPart['files']> {
  const { configurationName: name, runs: from, offered: to } = part;
  if (from === null || to === null || from === to) return null;
  const query = { from, to };
  return (await api.get('/api/v1/configurations/{name}/compare', { path: { name }, query })).files;
}

/** The parameter files of a part that differ, as they are on both sides, without the values of secure parameters. */
export async function readContents(
  api: Api,
  part: ComparedPart,
): Promise<{ before: Contents; after: Contents }> {
  const { configurationName, configurationId, parameters } = part;
  const sides = { runs: [] as File[], offered: [] as File[] };
  if (parameters.every(({ runs, offered }) => runs === offered))
    return { before: toContents([]), after: toContents([]) };
  const secrets = await readSecretNames(api, part);
  for (const scope of parameters) {
    if (configurationId === null || scope.runs === scope.offered) continue;
    const { id: scopeTypeId } = await findScopeType(api, scope.scopeTypeName);
    const query = scope.scopeValue === null ? {} : { scopeValue: scope.scopeValue };
    const files = { path: { scopeTypeId, configurationId }, query };
    for (const side of ['runs', 'offered'] as const) {
      const version = scope[side];
      const read = version === null ? null : await readVersion(api, files, version);
      if (read?.content == null) continue;
      const path = `${configurationName}/${scopeText(scope)}/parameters.yaml`;
      sides[side].push({ path, executable: false, content: Buffer.from(redacted(read.content, secrets)) });
    }
  }
  return { before: toContents(sides.runs), after: toContents(sides.offered) };
}

/** Those that are secure on either side are secure on both, as in previews. */
async function readSecretNames(
  api: Api,
  { configurationName: name, runs, offered }: ComparedPart,
): Promise<SecretNames> {
  const names = new Set<string>();
  for (const version of new Set([runs, offered])) {
    if (version === null) continue;
    const given = { path: { name }, query: { version, optional: true } };
    const schema = await unlessMissing(api.get('/api/v1/configurations/{name}/parameters', given));
    // Of what cannot be told any parameter may be secure.
    if (schema === null) return 'all';
    const declared = schema as { properties?: { parameters?: { properties?: Declared } } } | undefined;
    const all = declared?.properties?.parameters?.properties ?? {};
    for (const [parameter, { writeOnly }] of Object.entries(all)) if (writeOnly) names.add(parameter);
  }
  return names;
}

type Declared = Record<string, { writeOnly?: boolean }>;

/** The text stays as it is where it has no secure value. */
function redacted(text: string, secrets: SecretNames): string {
  const document = readYaml(text);
  const block = document.get(PARAMETERS);
  const hasSecrets = isMapping(block) && [...block.keys()].some((name) => isSecret(name, secrets));
  return hasSecrets ? printYaml(redactDocument(document, secrets)) : text;
}

type File = Parameters<typeof toContents>[0][number];
