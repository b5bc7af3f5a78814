/** Parameter files on the server: how commands name them, read them and send drafts. */

import type { Api } from '../../client/api.ts';
import type { Schemas } from '../../client/api-types.ts';
import { putIfUnchanged } from '../conditional.ts';
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

/** @returns null where there is no such version */
export async function readVersion(
  api: Api,
  { path, query }: Pick<FileSet, 'path' | 'query'>,
  version: string,
): Promise<{ file: FileWithContent; etag: string | undefined } | null> {
  const given = { path: { ...path, version }, query };
  const received = await unlessMissing(api.download(VERSION_PATH, given, 'application/json'));
  return received && { file: JSON.parse(received.body.toString('utf8')), etag: received.headers.etag };
}

/** @param etag of the draft that was read; undefined where there was none */
export async function sendDraft(
  api: Api,
  { path, query }: FileSet,
  draft: Omit<Schemas['NewParameterFile'], 'scopeValue'>,
  etag: string | undefined,
): Promise<ParameterFile> {
  const { scopeTypeId, configurationId } = path;
  const answer = await putIfUnchanged(api, `/api/v1/parameters/${scopeTypeId}/${configurationId}`, etag, {
    ...draft,
    ...query,
  });
  return answer as ParameterFile;
}

/** @throws Failure for a version that cannot be changed any more */
export function requireDraft(file: ParameterFile | undefined, { label }: FileSet): void {
  if (file?.status === 'Published')
    throw new Failure(
      `published_version: Version ${file.version} of ${label} is published, so it stays. Say another version.`,
    );
}
