/** What the routes share that compare two versions of one thing. */

import { z } from 'zod';
import { MAX_CONTEXT } from '../../domain/file-diff.ts';
import { type Answer, namesValidator, notModified } from '../../http/answer.ts';
import type { RequestFacts } from '../../http/route.ts';
import { Checksum, given, wholeNumber } from '../../http/schemas.ts';
import { notFound } from '../../lib/errors.ts';
import { sha256Hex } from '../../lib/hash.ts';
import type { ComparedFiles } from '../../resolve/comparer.ts';
import { NO_FILES } from '../../resolve/comparer.ts';
import type { GitStore, RepositoryRef, VersionDetails, VersionRef } from '../../versions/store.ts';

/** `?from=&to=` of every comparison. */
export const TwoVersions = z.object({
  from: given(z.string()).meta({
    description: 'Left out: the highest published version below `to`, or nothing where there is none',
  }),
  to: z.string().min(1),
});

/** `?context=` of the difference of one file. */
export const Context = wholeNumber(0, MAX_CONTEXT)
  .default(3)
  .meta({ description: 'How many unchanged lines are shown around a change' });

/** The versions that a request names. Nothing is compared with `to` where `from` is null. */
export interface ComparedVersions {
  from: VersionRef | null;
  to: VersionRef;
}

/** The part of an index of versions that this asks. */
interface Index {
  get(version: string): VersionRef | undefined;
  highestPublishedBelow(ref: VersionRef): VersionRef | undefined;
}

/** @throws HawserError not_found for a version that there is not */
export function findTwoVersions(index: Index, query: z.output<typeof TwoVersions>): ComparedVersions {
  const to = requireVersion(index, query.to);
  const from = query.from === undefined ? index.highestPublishedBelow(to) : requireVersion(index, query.from);
  return { from: from ?? null, to };
}

function requireVersion(index: Index, version: string): VersionRef {
  const ref = index.get(version);
  if (ref === undefined) throw notFound('No such version');
  return ref;
}

/** The files of a version, as they are compared. @param details null for no version */
export function comparedFiles(
  store: GitStore,
  repository: RepositoryRef,
  details: VersionDetails | null,
): ComparedFiles {
  if (details === null) return NO_FILES;
  return {
    files: details.files,
    infos: (files) => store.fileInfos(repository, files),
    read: ({ oid }) => store.blob(repository, oid),
  };
}

/** A version as comparisons name it. */
export function toComparedVersion({ version, status, commit }: VersionDetails) {
  return { version, status, commit };
}

/** An ETag of what follows from two versions, which is known before they are compared. @param what is asked about them */
export function validatorOf({ from, to }: ComparedVersions, ...what: readonly (string | number)[]): string {
  const named = [from, to].map((ref) => ref && [ref.version, ref.status, ref.oid]);
  return sha256Hex(JSON.stringify([...named, ...what])).slice(0, 40);
}

/** Answers 304 to a caller who has the content already, without making it. */
export async function unlessHeld(
  facts: RequestFacts,
  validator: string,
  headers: Record<string, string>,
  make: () => Promise<Answer>,
): Promise<Answer> {
  const held = facts.header('if-none-match');
  if (held !== undefined && namesValidator(held, `"${validator}"`)) return notModified(validator, headers);
  const answer = await make();
  return { ...answer, headers: { ...answer.headers, ...headers }, etag: `"${validator}"` };
}

/** Either of the versions that are compared. */
export const ComparedVersionView = z.object({
  version: z.string(),
  status: z.enum(['Draft', 'Published']),
  commit: z.string().meta({ description: 'Git commit id' }),
});

const CHECKSUM = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';
/** These are the examples of the API description. */
export const FILE_CHANGE = {
  path: 'checks/os.dsc.yaml',
  previousPath: null,
  change: 'Modified',
  isBinary: false,
  sizeBefore: 131,
  sizeAfter: 133,
  checksumBefore: CHECKSUM,
  checksumAfter: CHECKSUM.split('').reverse().join(''),
  executableBefore: false,
  executableAfter: false,
  additions: 1,
  deletions: 1,
};
const FILE_DIFF = {
  ...{ path: 'checks/os.dsc.yaml', previousPath: null, change: 'Modified' },
  ...{ isBinary: false, isTooLarge: false },
  hunks: [
    {
      ...{ oldStart: 5, oldLines: 2, newStart: 5, newLines: 2 },
      lines: [
        { kind: 'Context', oldNumber: 5, newNumber: 5, text: '    properties:' },
        { kind: 'Removed', oldNumber: 6, newNumber: null, text: '      family: Linux' },
        { kind: 'Added', oldNumber: null, newNumber: 6, text: '      family: Windows' },
      ],
    },
  ],
  endsWithoutNewline: { before: false, after: false },
};

const previousPath = z
  .string()
  .nullable()
  .meta({ description: 'The path before the change, where it was another' });
const LineCount = z
  .int()
  .nullable()
  .meta({ description: 'Null for a binary file, and for one that is too large' });
const Size = z.int().nullable().meta({ description: 'Bytes; null where the file is not there' });

export const FileChangeView = z
  .object({
    path: z.string(),
    previousPath,
    change: z.enum(['Added', 'Removed', 'Modified', 'Renamed']),
    isBinary: z.boolean().meta({ description: 'Whether either side has a NUL in its first 8,000 bytes' }),
    sizeBefore: Size,
    sizeAfter: Size,
    checksumBefore: Checksum.nullable(),
    checksumAfter: Checksum.nullable(),
    executableBefore: z.boolean().nullable(),
    executableAfter: z.boolean().nullable(),
    additions: LineCount,
    deletions: LineCount,
  })
  .meta({ id: 'FileChange', examples: [FILE_CHANGE] });

const LineNumber = z.int().nullable();

export const FileDiffView = z
  .object({
    path: z.string(),
    previousPath,
    change: z.enum(['Added', 'Removed', 'Modified', 'Renamed', 'Unchanged']),
    isBinary: z.boolean(),
    isTooLarge: z.boolean().meta({ description: 'Whether either side is above 1 MiB or 20,000 lines' }),
    hunks: z
      .array(
        z.object({
          oldStart: z.int(),
          oldLines: z.int(),
          newStart: z.int(),
          newLines: z.int(),
          lines: z.array(
            z.object({
              kind: z.enum(['Context', 'Added', 'Removed']),
              oldNumber: LineNumber,
              newNumber: LineNumber,
              text: z.string().meta({ description: 'Without the line feed; a carriage return stays' }),
            }),
          ),
        }),
      )
      .meta({ description: 'Empty where a side is binary or too large' }),
    endsWithoutNewline: z.object({ before: z.boolean(), after: z.boolean() }),
  })
  .meta({ id: 'FileDiff', examples: [FILE_DIFF] });
