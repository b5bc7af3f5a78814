/**
 * Finds again what a manifest was made of, as long as the repositories have it: for the values of parameters at a time, and for
 * comparisons. What a node is offered is found in the same way, by the record that is made of its manifest.
 */

import type { Db } from '../db/database.ts';
import type { ManifestParameterFile, ManifestRecord } from '../db/manifests.ts';
import type { VariableValues } from '../domain/variables.ts';
import { majorOf } from '../domain/version-order.ts';
import { HawserError } from '../lib/errors.ts';
import { seriesOf } from '../versions/parameter-files.ts';
import { SortedVersions } from '../versions/sorted-versions.ts';
import type { RepositoryRef, SeriesIndex, VersionRef } from '../versions/store.ts';
import type { VersionSource } from '../versions/version-source.ts';
import type { CompositeReader } from './composites.ts';
import type { Delivery, GivenFile } from './delivery.ts';
import type { ManifestMaker } from './manifest-maker.ts';
import { besideParameters } from './parameters.ts';
import type { ConfigurationPlan, Plan } from './plans.ts';
import { type KeptPart, mergingOf } from './remake-manifest.ts';
import type { SchemaReader } from './schemas.ts';

export interface ContentTools {
  store: VersionSource;
  composites: CompositeReader;
  maker: ManifestMaker;
  schemas: SchemaReader;
}

/** The scopes of files as they are called now. */
interface Scopes {
  types: ReadonlyMap<string, { name: string; precedence: number }>;
  values: ReadonlyMap<string, string>;
}

/**
 * All that a manifest was made of.
 * @throws HawserError gone `past_gone`, which names what is not there any more; what reading versions throws
 */
export async function contentOf(tools: ContentTools, db: Db, record: ManifestRecord): Promise<Delivery> {
  const { store, composites, maker } = tools;
  const { checksum, configurationName, isComposite, version, content } = record;
  const scopes = await readScopes(db);
  const children: ConfigurationPlan[] = [];
  const files: GivenFile[][] = [];
  for (const part of content.parts) {
    children.push(await planOf(tools, db, part));
    files.push(await filesOf(store, part, scopes));
  }
  const [only] = children;
  const plan = isComposite ? await compositeOf() : only;
  if (plan === undefined) throw pastGone(`what ${configurationName} ${version} consisted of`);
  // Each part keeps the variables of the node that were replaced in it.
  const values = Object.assign({}, ...content.parts.map(({ variables }) => variables)) as VariableValues;
  const delivery = await maker.deliver(plan, files, values);
  // A version that was deleted may have been made anew, with other files.
  if (delivery.manifest.checksum !== checksum)
    throw pastGone(`what the checksum ${checksum} of ${configurationName} ${version} was made of`);
  return delivery;

  async function compositeOf(): Promise<Plan> {
    const repository = { kind: 'composites', name: configurationName } as const;
    const tag = await versionOf(store, repository, version, content.tag.objectId);
    const { entryPoint } = await composites.document(repository, tag);
    return { kind: 'composite', name: configurationName, tag, entryPoint, children };
  }
}

export const pastGone = (what: string) =>
  new HawserError('gone', 'past_gone', `The server does not have ${what} any more`);

const WORDS = { configurations: 'the configuration', composites: 'the composite configuration' };

async function versionOf(
  store: VersionSource,
  repository: RepositoryRef & { kind: keyof typeof WORDS },
  version: string,
  objectId: string,
): Promise<VersionRef> {
  const found = await orGone(() => store.versions(repository));
  const ref = found?.get(version);
  if (ref?.status === 'Published' && ref.oid === objectId) return ref;
  throw pastGone(`version ${version} of ${WORDS[repository.kind]} ${repository.name}`);
}

async function planOf({ store, schemas }: ContentTools, db: Db, part: KeptPart): Promise<ConfigurationPlan> {
  const { configurationName: name, version, parameters } = part;
  const repository = { kind: 'configurations', name } as const;
  const tag = await versionOf(store, repository, version, part.tag.objectId);
  const { entryPoint, files } = await store.details(repository, tag);
  return {
    ...{ kind: 'configuration', id: '', name, tag, entryPoint, files },
    filesBesideParameters: besideParameters(files),
    parameters:
      parameters.length > 0 || (await usesParameters(db, name)) ? await seriesIn(store, name) : null,
    closed: [],
    merging: await mergingOf(schemas, part, tag),
  };
}

async function usesParameters(db: Db, name: string): Promise<boolean> {
  const row = await db
    .selectFrom('configurations')
    .select('use_server_managed_parameters as flag')
    .where('name', '=', name)
    .executeTakeFirst();
  return row?.flag === 1;
}

async function seriesIn(store: VersionSource, name: string): Promise<SeriesIndex> {
  return (await orGone(() => store.parameters.index(name))) ?? { series: [], of: () => SortedVersions.EMPTY };
}

async function filesOf(store: VersionSource, part: KeptPart, scopes: Scopes): Promise<GivenFile[]> {
  const { configurationName: name, version, parameters } = part;
  if (parameters.length === 0) return [];
  const index = await seriesIn(store, name);
  return parameters.map((kept, at) => {
    const names = nameNow(kept, scopes);
    const file = index
      ?.of(seriesOf({ scopeType: names.scopeTypeName, value: names.scopeValue }))
      .get(kept.version);
    if (file?.status !== 'Published') throw pastGone(describe(name, kept));
    return {
      ...names,
      ...{ scopeTypeId: kept.scopeTypeId ?? '', scopeValueId: kept.scopeValueId ?? null },
      precedence: scopes.types.get(kept.scopeTypeId ?? '')?.precedence ?? at,
      ...{ file, isFallback: majorOf(kept.version) !== majorOf(version) },
    };
  });
}

/** A scope that was renamed since has its files under its new name. */
function nameNow(
  { scopeTypeName, scopeValue, scopeTypeId = '', scopeValueId = null }: ManifestParameterFile,
  { types, values }: Scopes,
) {
  return {
    scopeTypeName: types.get(scopeTypeId)?.name ?? scopeTypeName,
    scopeValue: values.get(scopeValueId ?? '') ?? scopeValue,
  };
}

function describe(name: string, { scopeTypeName, scopeValue, version }: ManifestParameterFile): string {
  const scope = scopeValue === null ? scopeTypeName : `${scopeTypeName}/${scopeValue}`;
  return `the parameter file ${scope} ${version} of ${name}`;
}

async function readScopes(db: Db): Promise<Scopes> {
  const types = await db.selectFrom('scope_types').select(['id', 'name', 'precedence']).execute();
  const values = await db.selectFrom('scope_values').select(['id', 'value']).execute();
  return {
    types: new Map(types.map(({ id, ...type }) => [id, type])),
    values: new Map(values.map(({ id, value }) => [id, value])),
  };
}

/** Undefined where the repository was deleted. */
async function orGone<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof HawserError && error.code === 'repository_missing') return undefined;
    throw error;
  }
}
