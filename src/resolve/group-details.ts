/** Tells everything about one group of a preview when somebody asks: from what is kept, and from objects of Git. */

import { findOnBothSides } from '../domain/file-changes.ts';
import { isMissingObject } from '../git/objects.ts';
import { compareBytes } from '../lib/byte-order.ts';
import { conflict, HawserError } from '../lib/errors.ts';
import { sha256Hex } from '../lib/hash.ts';
import { scopeOf } from '../versions/parameter-files.ts';
import type { ComparedFiles, Comparer } from './comparer.ts';
import type { DocumentSource } from './document-tasks.ts';
import { storedSource } from './documents.ts';
import { behind, fileName, type KeptProposal, pairParts } from './group-sides.ts';
import type { ListedLeaf } from './group-tasks.ts';
import { type KeptFile, type KeptGroup, type KeptSide, unpackGroup } from './kept-groups.ts';
import type { ParameterReader } from './parameters.ts';
import {
  type BundleReaders,
  type ReadPart,
  type ReadSide,
  shownBundle,
  toVersionRef,
} from './shown-bundle.ts';

/** Where a group is kept: in a text of `packGroups`, beside the text of the proposed files of the preview. */
export interface KeptText {
  piece: string;
  /** The place of the group in the piece. */
  at: number;
  files: string;
}

interface ReadGroup {
  before: ReadSide | null;
  after: ReadSide | null;
}

/** The number of unchanged lines around a change. */
const CONTEXT = 3;

export interface DetailsReaders extends BundleReaders {
  /** A reader over the same store. */
  parameters: ParameterReader;
  comparer: Comparer;
}

export class GroupDetails {
  private readonly readers: DetailsReaders;

  constructor(readers: DetailsReaders) {
    this.readers = readers;
  }

  /**
   * The details as JSON: `fileChanges`, `parameters`, and `mergedParameters` if they are wanted. Of a group that gets
   * nothing or an error after the changes, the lists are empty.
   * @throws HawserError conflict `content_gone` if what is shown has been deleted with its repository;
   *   `parameter_merge_failed` if the list of parameters would be too long
   */
  details(caller: string, text: KeptText, withMerged: boolean): Promise<Buffer> {
    return orGone(async () => {
      const kept = unpack(text);
      const isListed = kept.after !== null;
      const group = isListed || withMerged ? await this.read(kept, text) : { before: null, after: null };
      const files = isListed ? await this.fileChanges(caller, group) : [];
      const parameters = isListed ? await this.listParameters(caller, group) : [];
      let json = `{"fileChanges":${JSON.stringify(files)},"parameters":[${parameters.join()}]`;
      if (withMerged) {
        const [before, after] = [
          await this.mergedParameters(caller, group.before),
          await this.mergedParameters(caller, group.after),
        ];
        json += `,"mergedParameters":${JSON.stringify({ before, after })}`;
      }
      return Buffer.from(`${json}}`);
    });
  }

  /**
   * The difference of one file between the two bundles, as JSON (`FileDiff`). Null if neither bundle has the path, or
   * there is no bundle after the changes.
   * @throws HawserError conflict `content_gone`
   */
  fileDiff(caller: string, text: KeptText, path: string, context = CONTEXT): Promise<Buffer | null> {
    return orGone(async () => {
      const kept = unpack(text);
      if (kept.after === null) return null;
      const [before, after] = await this.comparedFiles(caller, await this.read(kept, text));
      const file = findOnBothSides(path, before.files, after.files);
      if (file === null) return null;
      return this.readers.comparer.fileDiff({ id: caller }, before, after, {
        file,
        head: file,
        context,
      });
    });
  }

  private async read(group: KeptGroup, { files }: KeptText): Promise<ReadGroup> {
    const proposals: KeptProposal[] = JSON.parse(files);
    const readSide = async (side: KeptSide | null): Promise<ReadSide | null> => {
      if (side === null) return null;
      const parts: ReadPart[] = [];
      for (const kept of side.parts) {
        const documents: DocumentSource[] = [];
        for (const file of kept.files) documents.push(await this.documentOf(kept.name, file, proposals));
        parts.push({ kept, documents });
      }
      return { document: side.document, parts };
    };
    return { before: await readSide(group.before), after: await readSide(group.after) };
  }

  private async documentOf(
    name: string,
    { ref, proposed }: KeptFile,
    proposals: readonly KeptProposal[],
  ): Promise<DocumentSource> {
    if (proposed !== null) {
      const bytes = Buffer.from(proposals[proposed]?.text ?? '');
      return storedSource(sha256Hex(bytes), bytes, 'yaml');
    }
    const source = await this.readers.parameters.source(name, toVersionRef(ref));
    if (source === null) throw new Error('a file that is merged has no content');
    return source;
  }

  private async fileChanges(caller: string, group: ReadGroup) {
    const [before, after] = await this.comparedFiles(caller, group);
    return this.readers.comparer.changes({ id: caller }, before, after);
  }

  private async listParameters(caller: string, group: ReadGroup): Promise<string[]> {
    const listed: { path: string; json: string }[] = [];
    for (const { child, before, after } of pairParts(group.before, group.after)) {
      const leaves = await this.readers.documents.run(caller, 'listLeaves', {
        ...{ beforeDocuments: before?.documents ?? null, afterDocuments: after?.documents ?? null },
        ...{ before: before && factsOf(before), after: after && factsOf(after) },
      });
      for (const leaf of leaves) {
        const path = child === null ? leaf.path : behind(child, leaf.path);
        listed.push({ path, json: printLeaf(path, leaf, before, after) });
      }
    }
    return listed.sort((a, b) => compareBytes(a.path, b.path)).map(({ json }) => json);
  }

  /** The YAML text; null if there is no side. */
  private async mergedParameters(caller: string, side: ReadSide | null): Promise<string | null> {
    if (side === null) return null;
    const isComposite = side.document !== null;
    return this.readers.documents.run(caller, 'printParameters', {
      documents: side.parts.flatMap(({ documents }) => documents),
      shown: side.parts.map(({ kept: { name, secrets }, documents }) => {
        return { child: isComposite ? name : null, documents: documents.length, secrets };
      }),
    });
  }

  private async comparedFiles(
    caller: string,
    { before, after }: ReadGroup,
  ): Promise<[ComparedFiles, ComparedFiles]> {
    return [await shownBundle(this.readers, caller, before), await shownBundle(this.readers, caller, after)];
  }
}

function unpack({ piece, at }: KeptText): KeptGroup {
  const group = unpackGroup(piece, at);
  if (group === undefined) throw new Error('the piece has no such group');
  return group;
}

function factsOf({ kept: { name, files, secrets } }: ReadPart) {
  return { files: files.map(({ ref }) => fileName(name, ref)), secrets };
}

function printLeaf(
  path: string,
  { values, beforeSource, afterSource }: ListedLeaf,
  before: ReadPart | null,
  after: ReadPart | null,
): string {
  const sources = [sourceOf(before, beforeSource), sourceOf(after, afterSource)].map((each) =>
    JSON.stringify(each),
  );
  return `{"path":${JSON.stringify(path)},${values},"beforeSource":${sources[0]},"afterSource":${sources[1]}}`;
}

function sourceOf(part: ReadPart | null, source: number | null) {
  const ref = source === null ? undefined : part?.kept.files[source]?.ref;
  if (ref === undefined) return null;
  const { scopeType: scopeTypeName, value: scopeValue } = scopeOf(ref.series);
  return { scopeTypeName, scopeValue, version: ref.version };
}

/** Turns the absence of a repository, or of objects in it, into an answer: it was deleted, and perhaps made anew. */
async function orGone<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof HawserError) || !isGone(error)) throw error;
    const message =
      'What the preview shows of it has been deleted since, with its configuration; make the preview anew';
    throw conflict('content_gone', message);
  }
}

function isGone(error: HawserError): boolean {
  if (error.code === 'repository_missing' || error.kind === 'not_found') return true;
  return error.code === 'repository_damaged' && isMissingObject(error);
}
