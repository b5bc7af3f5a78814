/** The bundle of a group as it is compared and shown, with redacted parameters in place of the real ones. */

import type { BlobInfo } from '../git/types.ts';
import { sha256Hex } from '../lib/hash.ts';
import type { VersionSource } from '../versions/version-source.ts';
import { type ComparedFiles, NO_FILES } from './comparer.ts';
import type { DocumentRunner } from './documents.ts';
import { type BundleFile, filesOfBundle } from './preview-files.ts';
import { CALLER, type Side } from './preview-sides.ts';

export interface BundleReaders {
  store: VersionSource;
  documents: DocumentRunner;
}

export interface ShownBundle extends ComparedFiles {
  files: readonly BundleFile[];
  keyOf(file: BundleFile): string;
}

/** The files of what a node gets, as they are compared and shown. */
export function shownBundle(readers: BundleReaders, side: Side | null): ShownBundle {
  if (side === null) return { ...NO_FILES, files: [], keyOf: ({ oid }) => oid };
  return {
    files: filesOfBundle(side),
    infos: (wanted) => infosOf(readers.store, side, wanted as BundleFile[]),
    read: (file) => contentOf(readers, side, file as BundleFile),
    keyOf: (file) => shownKey(side, file),
  };
}

/** The facts of the real files. */
async function infosOf(store: VersionSource, side: Side, files: readonly BundleFile[]): Promise<BlobInfo[]> {
  const infos: BlobInfo[] = [];
  for (const file of files) {
    const part = file.part === null ? undefined : side.parts[file.part];
    if (part === undefined) infos.push(infoOf(Buffer.from(side.document?.text ?? '')));
    else if (file.isMerged && part.merged) infos.push({ size: part.merged.size, sha256: part.merged.sha256 });
    else infos.push(...(await store.fileInfos(repositoryOf(part), [file])));
  }
  return infos;
}

/** The bytes as they may be shown: merged parameters are redacted. */
async function contentOf(
  { store, documents: runner }: BundleReaders,
  side: Side,
  file: BundleFile,
): Promise<Uint8Array> {
  const part = file.part === null ? undefined : side.parts[file.part];
  if (part === undefined) return Buffer.from(side.document?.text ?? '');
  if (!file.isMerged) return store.blob(repositoryOf(part), file.oid);
  const { documents, secrets } = part;
  const shown = [{ child: null, documents: documents.length, secrets }];
  return Buffer.from(await runner.run(CALLER, 'printParameters', { documents, shown }));
}

/** Names what is read of a file. What is shown of merged parameters depends on which of them are secure. */
function shownKey(side: Side, { oid, part, isMerged }: BundleFile): string {
  const secrets = isMerged && part !== null ? side.parts[part]?.secrets : undefined;
  return secrets === undefined ? oid : `${oid} ${JSON.stringify(secrets === 'all' ? secrets : [...secrets])}`;
}

function repositoryOf({ name }: { name: string }) {
  return { kind: 'configurations', name } as const;
}

function infoOf(bytes: Buffer): BlobInfo {
  return { size: bytes.length, sha256: sha256Hex(bytes) };
}
