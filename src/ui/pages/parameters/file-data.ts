/** What the page of a parameter file reads. */

import { signal } from '@preact/signals';
import { ApiProblem, get } from '../../client.ts';
import type { DocumentSchema } from '../../components/editor/settings.ts';
import { apiPath, withQuery } from '../../links.ts';
import { type Resource, useResource } from '../../resource.ts';
import { usePlace } from '../../router.ts';
import type { Configuration, ParameterContent, ParameterFile, ScopeType, Version } from '../../types.ts';
import { MOST, majorOf, type Scope, schemaVersion } from './model.ts';

/** Names a version of a scope's file. */
export interface FileName extends Scope {
  name: string;
  version: string;
  /** It is not there yet. */
  isNew: boolean;
  /** The version whose content a new one begins with. */
  from: string | null;
}

export interface FileData {
  configuration: Resource<Configuration>;
  /** All versions of the scope, the highest first. */
  series: Resource<ParameterFile[]>;
  /** The file, or that from which a new one is copied. */
  file: Resource<ParameterContent>;
  /** Null data: there is none. */
  schema: Resource<DocumentSchema | null>;
  /** The version of the configuration whose schema it is; undefined while nobody knows one. */
  schemaVersion: string | undefined;
  /** The scope's files in the API; null until its ids are known. */
  path: string | null;
  /** What the page cannot do without. */
  needed: Resource<unknown>[];
}

/** Files that were saved on this page, by path, until they are read. The page goes on with them. */
const saved = signal<ReadonlyMap<string, { data: ParameterContent; etag: string | null }>>(new Map());

/** @param below a deed on the version, such as `/publish` */
export function versionPath(
  path: string,
  { version, scopeValue }: { version: string } & Pick<Scope, 'scopeValue'>,
  below = '',
) {
  return withQuery(`${path}/versions/${encodeURIComponent(version)}${below}`, { scopeValue });
}

/** Reads a version that was just saved, with its ETag. */
export async function readSaved(path: string): Promise<{ data: ParameterContent; etag: string | null }> {
  const reply = await get<ParameterContent>(path);
  if (reply === null) throw new ApiProblem(0, { code: 'unreachable', detail: 'The server sent no file.' });
  const { data, etag } = reply;
  saved.value = new Map([[path, { data, etag }]]);
  return { data, etag };
}

export function useFileData({ name, version, isNew, from, scopeTypeName, scopeValue }: FileName): FileData {
  const of = apiPath('configurations', name);
  const configuration = useResource<Configuration>(of);
  const types = useResource<ScopeType[]>(withQuery('/scope-types', { take: MOST }));
  const versions = useResource<Version[]>(withQuery(`${of}/versions`, { take: MOST }));
  const filter = { scopeTypeName, scopeValue, take: MOST };
  const series = useResource<ParameterFile[]>(withQuery(`${of}/parameter-files`, filter));
  const type = types.data?.find((each) => each.name.toLowerCase() === scopeTypeName.toLowerCase());
  const id = configuration.data?.id ?? series.data?.[0]?.configurationId;
  const path = type === undefined || id === undefined ? null : apiPath('parameters', type.id, id);
  const shown = isNew ? from : version;
  const filePath = path !== null && shown ? versionPath(path, { version: shown, scopeValue }) : null;
  const file = withSaved(useResource<ParameterContent>(filePath), filePath);
  const isKnown = versions.state !== 'loading';
  // While the page is being left, the address is that of the next one.
  const place = usePlace();
  const isNameless = version === '' && place.path.endsWith('/parameters/file');
  const isPublished = series.data?.some((each) => each.version === version && each.status === 'Published');
  const isDraft = isNew || !isPublished;
  const meant = schemaVersion(versions.data ?? [], majorOf(version), isDraft);
  const schemaPath = withQuery(`${of}/parameters`, { version: meant, optional: 'true' });
  const schema = useResource<DocumentSchema | null>(isKnown ? schemaPath : null, { poll: false });
  return {
    ...{ configuration, series, file, schema, path },
    schemaVersion: meant,
    needed: [
      ...(types.data !== null && type === undefined ? [noSuch('scope type')] : [types, series]),
      ...(id === undefined && series.state === 'ready' ? [configuration] : []),
      ...(isNameless ? [noSuch('version')] : shown === null ? [] : [file]),
    ],
  };
}

function noSuch(what: string): Resource<unknown> {
  const problem = new ApiProblem(404, { code: 'not_found', detail: `There is no such ${what}.` });
  return { state: 'error', data: null, total: null, etag: null, problem, reload: async () => undefined };
}

function withSaved(file: Resource<ParameterContent>, path: string | null): Resource<ParameterContent> {
  const known = path === null ? undefined : saved.value.get(path);
  if (known === undefined || file.state !== 'loading') return file;
  return { ...file, state: 'ready', ...known };
}
