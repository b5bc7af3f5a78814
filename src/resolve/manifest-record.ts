/** What is kept of a manifest, so that its checksum can be traced back to tags long after. */

import type { ManifestContent, ManifestParameterFile, ManifestRecord, ManifestTag } from '../db/manifests.ts';
import { toTimestamp } from '../lib/clock.ts';
import { scopeOf } from '../versions/parameter-files.ts';
import type { GitStore, RepositoryKind, VersionRef } from '../versions/store.ts';
import type { Manifest, ManifestPart } from './manifest.ts';

/** @throws HawserError `repository_damaged` if objects cannot be read */
export async function recordOf(store: GitStore, manifest: Manifest): Promise<ManifestRecord> {
  const { checksum, configurationName, version, entryPoint, document } = manifest;
  const isComposite = document !== null;
  const kind = isComposite ? 'composites' : 'configurations';
  const tag = await tagOf(store, kind, configurationName, manifest.tag);
  const parts: ManifestContent['parts'][number][] = [];
  for (const part of manifest.parts) parts.push(await partOf(store, part));
  return { checksum, configurationName, isComposite, version, content: { tag, entryPoint, parts } };
}

async function partOf(
  store: GitStore,
  { configurationName, tag, parameters, mergeVersion, variables }: ManifestPart,
) {
  const files: ManifestParameterFile[] = [];
  for (const [at, ref] of (parameters?.refs ?? []).entries()) {
    const { isPassthrough, sha256 } = await store.parameters.details(configurationName, ref);
    if (isPassthrough) continue;
    const { scopeType: scopeTypeName, value: scopeValue } = scopeOf(ref.series);
    const { version, oid: tagObjectId } = ref;
    const ids = parameters?.scopes[at];
    files.push({ scopeTypeName, scopeValue, version, tagObjectId, checksum: sha256, ...ids });
  }
  return {
    configurationName,
    version: tag.version,
    tag: await tagOf(store, 'configurations', configurationName, tag),
    parameters: files,
    ...{ mergeVersion, variables },
  };
}

async function tagOf(
  store: GitStore,
  kind: RepositoryKind,
  name: string,
  ref: VersionRef,
): Promise<ManifestTag> {
  const { commit, publishedAt, publishedBy, createdAt, createdBy } = await store.details({ kind, name }, ref);
  return {
    objectId: ref.oid,
    commit,
    tagger: publishedBy ?? createdBy,
    taggedAt: toTimestamp(publishedAt ?? createdAt),
  };
}
