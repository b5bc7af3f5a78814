/** Parameter files on the server: how commands name them, read them and send drafts. */

import type { Api } from '../../client/api.ts';
import type { Schemas } from '../../client/api-types.ts';
import { compareVersions } from '../../domain/version-order.ts';
import { Failure } from '../errors.ts';
import { findScope } from '../scopes.ts';
import { required } from '../values.ts';
import { noSuch, unlessMissing } from './config-kinds.ts';

export type ParameterFile = Schemas['ParameterFile'];
export type FileWithContent = Schemas['ParameterFileWithContent'];

export const VERSION_PATH = '/api/v1/parameters/{scopeTypeId}/{configurationId}/versions/{version}';

export const CONFIGURATION_ARGUMENT = { name: 'name', summary: 'the configuration' } as const;
export const SCOPE = {
  scope: {
    value: 'SCOPE',
    summary: 'Default, TYPE/VALUE such as Environment/prod, or Node/FQDN',
  },
} as const;

/** The files of one scope. */
export interface FileSet {
  path: { scopeTypeId: string; configurationId: string };
  query: { scopeValue?: string };
  /** It is how a command line names them, such as `web --scope Environment/prod`. */
  words: string;
  /** It is how sentences name them, such as `the parameters of web for Environment/prod`. */
  label: string;
}

/** @throws UsageError, Failure */
export async function findSet(api: Api, name: string, scope: string | undefined): Promise<FileSet> {
  const wanted = required(scope, '--scope', '--scope Environment/prod');
  const { type, value } = await findScope(api, wanted);
  const place = value === null ? type.name : `${type.name}/${value}`;
  return {
    path: { scopeTypeId: type.id, configurationId: await findConfigurationId(api, name) },
    query: value === null ? {} : { scopeValue: value },
    words: `${name} --scope ${place}`,
    label: `the parameters of ${name} for ${place}`,
  };
}

/** @throws Failure */
export async function findConfigurationId(api: Api, name: string): Promise<string> {
  const path = { name };
  const found = await unlessMissing(api.get('/api/v1/configurations/{name}', { path }));
  if (found !== null) return found.id;
  // Who may read the parameters alone learns the id from one of their files.
  const query = { take: 1 };
  const files = await unlessMissing(
    api.get('/api/v1/configurations/{name}/parameter-files', { path, query }),
  );
  if (files?.[0] === undefined) throw new Failure(noSuch('configuration', name));
  return files[0].configurationId;
}

/** The versions of one scope, highest first. */
export function listVersions(api: Api, { path, query }: FileSet): Promise<ParameterFile[]> {
  return api.all('/api/v1/parameters/{scopeTypeId}/{configurationId}/versions', { path, query });
}

/** The ids of files that are offered to nobody, because their node was deleted. Nothing is asked where no file is of a node. */
export async function filesOfDeletedNodes(
  api: Api,
  name: string,
  files: readonly ParameterFile[],
): Promise<Set<string>> {
  if (!files.some(({ scopeTypeName }) => scopeTypeName === 'Node')) return new Set();
  const query = { scopeTypeName: 'Node', ofDeletedNode: true };
  const path = { name };
  const found = await api.all('/api/v1/configurations/{name}/parameter-files', { path, query });
  return new Set(found.map(({ id }) => id));
}

/** The highest version below one that is published and not withdrawn. @param versions the highest first */
export function publishedBelow(
  versions: readonly ParameterFile[],
  version: string,
): ParameterFile | undefined {
  return versions.find((each) => isOffered(each) && compareVersions(each.version, version) < 0);
}

/** Whether a version is published and not withdrawn. */
export function isOffered({ status, withdrawn }: ParameterFile): boolean {
  return status === 'Published' && withdrawn === null;
}

/** @returns null where there is no such version */
export async function readVersion(
  api: Api,
  { path, query }: Pick<FileSet, 'path' | 'query'>,
  version: string,
): Promise<FileWithContent | null> {
  return unlessMissing(api.get(VERSION_PATH, { path: { ...path, version }, query }));
}

/** Makes a draft, or replaces one. @throws ApiProblem where the version is no longer as it was read */
export async function sendDraft(
  api: Api,
  { path, query }: FileSet,
  draft: Omit<Schemas['NewParameterFile'], 'scopeValue'>,
): Promise<ParameterFile> {
  const etag = api.tagOf(VERSION_PATH, { path: { ...path, version: draft.version }, query });
  const { body } = await api.raw('PUT', `/api/v1/parameters/${path.scopeTypeId}/${path.configurationId}`, {
    headers: {
      Accept: 'application/json',
      'Content-Type': 'application/json',
      ...(etag !== undefined && { 'If-Match': etag }),
    },
    body: Buffer.from(JSON.stringify({ ...draft, ...query })),
  });
  return JSON.parse(body.toString('utf8'));
}

/** @throws Failure for a version that cannot be changed any more */
export function requireDraft(file: ParameterFile | undefined, { label }: FileSet): void {
  if (file?.status === 'Published')
    throw new Failure(
      `published_version: Version ${file.version} of ${label} is published, so it stays. Say another version.`,
    );
}
