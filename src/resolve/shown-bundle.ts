/** The bundle of a kept group as it is compared and shown, with redacted parameters in place of the real ones. */

import type { BlobInfo } from '../git/types.ts';
import { sha256Hex } from '../lib/hash.ts';
import type { VersionRef } from '../versions/types.ts';
import type { VersionSource } from '../versions/version-source.ts';
import { type Bundle, type BundleFile, filesOfBundle } from './bundle-files.ts';
import { type ComparedFiles, NO_FILES } from './comparer.ts';
import type { DocumentSource } from './document-source.ts';
import type { DocumentRunner } from './documents.ts';
import type { KeptPart, KeptRef, KeptSide } from './kept-groups.ts';
import { besideParameters } from './parameters.ts';

/** A part with the documents that are merged for it, without the secure values of proposed files. */
export interface ReadPart {
  kept: KeptPart;
  documents: readonly DocumentSource[];
}

export interface ReadSide {
  document: KeptSide['document'];
  parts: readonly ReadPart[];
}

export interface BundleReaders {
  /** What is stored, without any proposal. */
  store: VersionSource;
  documents: DocumentRunner;
}

/** The files of what a node gets, as they are compared and shown. */
export async function shownBundle(
  readers: BundleReaders,
  caller: string,
  side: ReadSide | null,
): Promise<ComparedFiles> {
  if (side === null) return NO_FILES;
  const files = filesOfBundle(await bundleOf(readers.store, side));
  return {
    files,
    infos: (wanted) => infosOf(readers.store, side, wanted as BundleFile[]),
    read: (file) => contentOf(readers, caller, side, file as BundleFile),
    keyOf: (file) => shownKey(side, file as BundleFile),
  };
}

async function bundleOf(store: VersionSource, { document, parts }: ReadSide): Promise<Bundle> {
  const listed: Bundle['parts'][number][] = [];
  for (const { kept } of parts) {
    const { name, tag, merged } = kept;
    const { files } = await store.details(repositoryOf(kept), toVersionRef(tag));
    listed.push({ name, merged, files: merged ? besideParameters(files) : files });
  }
  return { document, parts: listed };
}

/** The facts of the real files. Those of merged parameters are kept. */
async function infosOf(
  store: VersionSource,
  side: ReadSide,
  files: readonly BundleFile[],
): Promise<BlobInfo[]> {
  const infos: BlobInfo[] = [];
  for (const file of files) {
    const kept = file.part === null ? undefined : side.parts[file.part]?.kept;
    if (kept === undefined) infos.push(infoOf(Buffer.from(side.document?.text ?? '')));
    else if (file.isMerged && kept.merged) infos.push({ size: kept.merged.size, sha256: kept.merged.sha256 });
    else infos.push(...(await store.fileInfos(repositoryOf(kept), [file])));
  }
  return infos;
}

/** The bytes as they may be shown: merged parameters are redacted. */
async function contentOf(
  readers: BundleReaders,
  caller: string,
  side: ReadSide,
  file: BundleFile,
): Promise<Uint8Array> {
  const part = file.part === null ? undefined : side.parts[file.part];
  if (part === undefined) return Buffer.from(side.document?.text ?? '');
  if (!file.isMerged) return readers.store.blob(repositoryOf(part.kept), file.oid);
  const { documents, kept } = part;
  const shown = [{ child: null, documents: documents.length, secrets: kept.secrets }];
  return Buffer.from(await readers.documents.run(caller, 'printParameters', { documents, shown }));
}

/** Names what is read of a file. What is shown of merged parameters depends on which of them are secure. */
function shownKey(side: ReadSide, { oid, part, isMerged }: BundleFile): string {
  const secrets = isMerged && part !== null ? side.parts[part]?.kept.secrets : undefined;
  return secrets === undefined ? oid : `${oid} ${JSON.stringify(secrets === 'all' ? secrets : [...secrets])}`;
}

function repositoryOf({ name }: KeptPart) {
  return { kind: 'configurations', name } as const;
}

/** The ref by which the objects of a version are read. No ref of this name need be there. */
export function toVersionRef(ref: KeptRef): VersionRef {
  return { ...ref, name: '', commit: null, withdrawn: null, rollout: null };
}

function infoOf(bytes: Buffer): BlobInfo {
  return { size: bytes.length, sha256: sha256Hex(bytes) };
}
