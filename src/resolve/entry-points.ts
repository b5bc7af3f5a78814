/** What the entry points of versions say: what is found in them, and which parameters they declare. */

import { LRUCache } from 'lru-cache';
import { PARAMETERS_FILE } from '../domain/bundle-paths.ts';
import { excerpt } from '../domain/document-text.ts';
import type { DocumentFinding, Include } from '../domain/entry-point.ts';
import { type Finding, inOrder } from '../domain/findings.ts';
import { withoutLeadingDot } from '../domain/upload-tree.ts';
import { type Declared, toDeclared, UNKNOWN_SCHEMA } from './declared.ts';
import { type DocumentRunner, storedSource } from './documents.ts';

/** An entry point by itself. What it says of the other files of a version is known of each version alone. */
export interface KnownEntryPoint {
  findings: readonly DocumentFinding[];
  includes: readonly Include[];
  declared: Declared;
}

/** What a version says whose entry point is missing: not that it declares nothing. */
export const NO_ENTRY_POINT: KnownEntryPoint = {
  findings: [
    {
      ...{ severity: 'Error', code: 'document_shape', path: null, line: null, column: null },
      message: 'The version does not hold its entry point. Add the file, or name another one.',
    },
  ],
  includes: [],
  declared: UNKNOWN_SCHEMA,
};

/** The object of an entry point, whose content never changes. */
export interface EntryPointObject {
  oid: string;
  /** The one in whose turn it is read, if it has not been read before. */
  caller: string;
  /** Gives its bytes. */
  load(): Promise<Buffer>;
}

/** The files among which an entry point stands. */
export interface Surroundings {
  entryPoint: string;
  /** Null where they are not known, so that none is missing. */
  files: readonly { path: string }[] | null;
  /** Whether the server puts the parameters beside them. */
  isManaged: boolean;
}

/** The memory for what is known of entry points, in bytes. */
const CACHE_BYTES = 32 * 1024 * 1024;
const BYTES_OF_FINDING = 500;

export class EntryPoints {
  private readonly documents: DocumentRunner;
  private readonly known = new LRUCache<string, KnownEntryPoint>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ findings, includes, declared }) =>
      (findings.length + includes.length + 1) * BYTES_OF_FINDING + sizeOf(declared),
  });

  constructor(documents: DocumentRunner) {
    this.documents = documents;
  }

  /** @throws HawserError what `load` throws */
  async read({ oid, caller, load }: EntryPointObject): Promise<KnownEntryPoint> {
    const known = this.known.get(oid);
    if (known) return known;
    const document = storedSource(oid, await load(), 'yaml');
    const { findings, includes, declaration } = await this.documents.run(caller, 'readEntryPoint', {
      document,
    });
    const declared = declaration === null ? UNKNOWN_SCHEMA : toDeclared(`${oid} parameters`, declaration);
    const read = { findings, includes, declared };
    this.known.set(oid, read);
    return read;
  }
}

function sizeOf(declared: Declared): number {
  return declared.kind === 'defined' ? declared.schema.bytes.byteLength + declared.secure.length * 50 : 0;
}

/** What is found in an entry point among the files of its version. */
export function findingsIn(
  { findings, includes }: Pick<KnownEntryPoint, 'findings' | 'includes'>,
  { entryPoint: file, files, isManaged }: Surroundings,
): readonly Finding[] {
  const held = new Set(includes.length === 0 ? [] : files?.map(({ path }) => path));
  if (isManaged) held.add(PARAMETERS_FILE);
  const isMissing = ({ target }: Include) => files !== null && !held.has(includedPath(target));
  const missing = includes.filter(isMissing).map(toMissing);
  return inOrder([...findings, ...missing].map((finding) => ({ ...finding, file })));
}

/** The path of an included file in the version. dsc resolves it against the folder of the document that it reads. */
function includedPath(target: string): string {
  return withoutLeadingDot(target.replaceAll('\\', '/'));
}

function toMissing({ target, ...place }: Include): DocumentFinding {
  const message = `The version does not hold the file ${excerpt(target)}. Add it, or correct its path.`;
  return { severity: 'Warning', code: 'include_missing', message, ...place };
}

/** The relative includes of a configuration that composites follow, which find nothing there. */
export function includesForFollowers(
  { includes }: Pick<KnownEntryPoint, 'includes'>,
  entryPoint: string,
  [composite = '', ...others]: readonly string[],
): readonly Finding[] {
  const who = others.length === 0 ? composite : `${composite} and ${others.length} more`;
  return includes.map(({ target, ...place }) => ({
    severity: 'Warning',
    code: 'include_in_child',
    message: `The composite ${who} follows this configuration, and dsc does not find ${excerpt(target)} there.`,
    ...place,
    file: entryPoint,
  }));
}

/** The relative includes of a child of a composite. dsc looks for them beside the composite's document. */
export function includesInChild(
  { includes }: Pick<KnownEntryPoint, 'includes'>,
  { child, entryPoint }: { child: string; entryPoint: string },
): readonly Finding[] {
  return includes.map(({ target, ...place }) => ({
    severity: 'Error',
    code: 'include_in_child',
    message:
      `dsc looks for ${excerpt(target)} in the folder of the composite's document, where it is not. ` +
      'Put the resources of the included file into this one, or include it by an absolute path.',
    ...place,
    file: `${child}/${entryPoint}`,
  }));
}
