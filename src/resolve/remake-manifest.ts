/** Makes a manifest again from what is kept of it: the tags and parameter files, each by the id of its object. */

import type { KeptManifest, ManifestContent, ManifestParameterFile } from '../db/manifests.ts';
import { refNameOf } from '../versions/kinds.ts';
import { seriesOf } from '../versions/parameter-files.ts';
import type { RepositoryRef, VersionRef } from '../versions/store.ts';
import { ONLY_SERIES } from '../versions/types.ts';
import type { VersionSource } from '../versions/version-source.ts';
import type { CompositeReader } from './composites.ts';
import type { Manifest } from './manifest.ts';
import type { ManifestMaker, Selection } from './manifest-maker.ts';
import { besideParameters } from './parameters.ts';
import { PLAIN_MERGING, type PlannedMerging, plannedMerging } from './planned-merging.ts';
import type { ConfigurationPlan } from './plans.ts';
import type { SchemaReader } from './schemas.ts';
import { declaredBy } from './secret-names.ts';

export type KeptPart = ManifestContent['parts'][number];

/** A version that a kept manifest names, in the repository that has it. */
export interface KeptVersion {
  repository: RepositoryRef;
  /** It is read by the id of the object, even where the tag has moved since. */
  ref: VersionRef;
}

/** The configuration or composite as a whole. */
export function wholeOf({ isComposite, configurationName, version, content }: KeptManifest): KeptVersion {
  const kind = isComposite ? 'composites' : 'configurations';
  return { repository: { kind, name: configurationName }, ref: refOf(ONLY_SERIES, version, content.tag) };
}

export function versionOfPart({ configurationName: name, version, tag }: KeptPart): KeptVersion {
  return { repository: { kind: 'configurations', name }, ref: refOf(ONLY_SERIES, version, tag) };
}

export function versionOfParameters(configurationName: string, file: ManifestParameterFile): KeptVersion {
  const { scopeTypeName: scopeType, scopeValue: value, version, tagObjectId: objectId } = file;
  const ref = refOf(seriesOf({ scopeType, value }), version, { objectId });
  return { repository: { kind: 'parameters', name: configurationName }, ref };
}

function refOf(series: string, version: string, tag: { objectId: string; commit?: string }): VersionRef {
  const status = 'Published';
  const name = refNameOf({ series, version, status });
  const { objectId: oid, commit = null } = tag;
  return { name, series, version, status, oid, commit, withdrawn: null, rollout: null };
}

export interface RemakeTools {
  store: VersionSource;
  composites: CompositeReader;
  maker: ManifestMaker;
  schemas: SchemaReader;
}

/**
 * Makes the manifest from the objects that the kept one names. The checksums are equal unless something has changed.
 * @throws HawserError `repository_missing`, `repository_damaged`, not_found or `parameter_merge_failed` where it cannot be
 *   made any more
 */
export async function remakeManifest(tools: RemakeTools, kept: KeptManifest): Promise<Manifest> {
  const selections: Selection[] = [];
  for (const part of kept.content.parts) {
    const refs = part.parameters.map((file) => versionOfParameters(part.configurationName, file).ref);
    // The manifest is made once, so nothing of it is remembered by the ids.
    selections.push({ plan: await planOf(tools, part), refs, links: [], values: part.variables ?? null });
  }
  const children = selections.map(({ plan }) => plan);
  const [only] = children;
  if (!kept.isComposite && only) return tools.maker.build(only, selections);
  const { repository, ref: tag } = wholeOf(kept);
  const { entryPoint } = await tools.composites.document(repository, tag);
  return tools.maker.build(
    { kind: 'composite', name: repository.name, tag, entryPoint, children },
    selections,
  );
}

async function planOf({ store, schemas }: RemakeTools, part: KeptPart): Promise<ConfigurationPlan> {
  const { repository, ref: tag } = versionOfPart(part);
  const { name } = repository;
  const { entryPoint, files } = await store.details(repository, tag);
  return {
    kind: 'configuration',
    id: '',
    name,
    tag,
    entryPoint,
    files,
    filesBesideParameters: besideParameters(files),
    parameters: null,
    closed: [],
    merging: await mergingOf(schemas, part, tag),
  };
}

/** What was merged by the first version of merging is so again, whatever is declared. */
export async function mergingOf(
  schemas: SchemaReader,
  part: KeptPart,
  tag: VersionRef,
): Promise<PlannedMerging> {
  if (part.mergeVersion !== 2) return PLAIN_MERGING;
  const name = part.configurationName;
  const declared = await declaredBy(schemas, { name, tag }, `server ${name}`);
  return plannedMerging(declared, (part.variables ?? null) !== null);
}
