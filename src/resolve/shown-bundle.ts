/** The bundle of a group as it is compared and shown, with redacted parameters in place of the real ones. */

import { sha256Hex } from '../lib/hash.ts';
import type { VersionSource } from '../versions/version-source.ts';
import { type ComparedFiles, type ComparedInfo, NO_FILES } from './comparer.ts';
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
    infos: (wanted) => infosOf(readers, side, wanted as BundleFile[]),
    read: (file) => contentOf(readers, side, file as BundleFile),
    keyOf: (file) => shownKey(side, file),
  };
}

/** The facts of the real files, but for those with secrets: theirs are of what is shown. */
async function infosOf(
  readers: BundleReaders,
  side: Side,
  files: readonly BundleFile[],
): Promise<ComparedInfo[]> {
  const infos: ComparedInfo[] = [];
  for (const file of files) {
    const part = file.part === null ? undefined : side.parts[file.part];
    if (part === undefined) infos.push(infoOf(Buffer.from(side.document?.text ?? '')));
    else if (file.isMerged && part.merged?.hasSecrets)
      infos.push({ size: (await contentOf(readers, side, file)).byteLength, sha256: null });
    else if (file.isMerged && part.merged)
      infos.push({ size: part.merged.size, sha256: part.merged.evidence });
    else infos.push(...(await readers.store.fileInfos(repositoryOf(part), [file])));
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
  const { documents, secrets, way } = part;
  const shown = [{ child: null, documents: documents.length, secrets, way }];
  return Buffer.from(await runner.run(CALLER, 'printParameters', { documents, shown }));
}

/** Names what is read of a file. What is shown of merged parameters depends on which of them are secret. */
function shownKey(side: Side, { oid, part, isMerged }: BundleFile): string {
  const secrets = isMerged && part !== null ? side.parts[part]?.secrets : undefined;
  return secrets === undefined ? oid : `${oid} ${JSON.stringify(secrets === 'all' ? secrets : [...secrets])}`;
}

function repositoryOf({ name }: { name: string }) {
  return { kind: 'configurations', name } as const;
}

function infoOf(bytes: Buffer): ComparedInfo {
  return { size: bytes.length, sha256: sha256Hex(bytes) };
}
