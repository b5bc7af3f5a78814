/** Reads what a preview has kept, for the threads for questions: all of it may be a hundred megabytes. */

import { LRUCache } from 'lru-cache';
import type { Reading } from '../db/reading.ts';
import { type FileDiff, narrowHunks } from '../domain/file-diff.ts';
import { MINUTE } from '../lib/clock.ts';
import { conflict, notFound } from '../lib/errors.ts';
import type { Fleet } from './fleet.ts';
import { Lines } from './kept-lines.ts';
import { FLAGS, type KeptFiles } from './preview-details.ts';
import type { KeptColumn, KeptNode, PreviewChange, ShownGroup } from './preview-types.ts';

/** A group as lists show it, with what only its details show. */
export type FoundGroup = { id: string } & ShownGroup;

export interface FoundNode {
  nodeId: string;
  fqdn: string;
  groupId: string | null;
  change: PreviewChange;
}

/** What a caller asks of a preview. */
export interface PreviewQuestion {
  id: string;
  /** Tells of each `ContentOfNodes`, by its number, whether the caller may read it. */
  visible: readonly boolean[];
}

export interface PagePart {
  take: number;
  skip: number;
}

export interface NodeFilter {
  change?: PreviewChange | undefined;
  groupId?: string | undefined;
}

/** The bytes of previews that have been read a short while ago. Whoever reads page by page reads the same again. */
const CACHE = { maxSize: 192 * 1024 * 1024, ttl: MINUTE, ttlAutopurge: true };

export function previewQuestions(fleet: () => Fleet) {
  const known = new LRUCache<string, Lines>({ ...CACHE, sizeCalculation: ({ bytes }) => bytes.length + 1 });
  const linesOf = async (id: string, column: KeptColumn): Promise<Lines> => {
    const key = `${column} ${id}`;
    const lines = known.get(key) ?? new Lines(await fleet().database.read(readingColumn(id, column)));
    known.set(key, lines);
    return lines;
  };
  return {
    /** The groups that the caller may see. They have the ids that they have for everybody. */
    async previewGroups({ id, visible, take, skip }: PreviewQuestion & PagePart): Promise<FoundGroup[]> {
      const lines = await linesOf(id, 'groups');
      if (!visible.includes(false))
        return Array.from(lines.from(skip, take), (line, at) => toGroup(line, skip + at));
      const groups: FoundGroup[] = [];
      for (let at = 0; at < lines.count && groups.length < skip + take; at += 1) {
        const group = toGroup(lines.at(at), at);
        if (visible[group.content]) groups.push(group);
      }
      return groups.slice(skip);
    },

    /** Undefined where the caller sees no such group. */
    async previewGroup({ id, visible, groupId }: PreviewQuestion & { groupId: string }) {
      const lines = await linesOf(id, 'groups');
      if (!/^[1-9]\d{0,9}$/.test(groupId) || Number(groupId) > lines.count) return undefined;
      const group = toGroup(lines.at(Number(groupId) - 1), Number(groupId) - 1);
      return visible[group.content] ? group : undefined;
    },

    /** The nodes that the filter meets and the caller may see, by fqdn. */
    async previewNodes({
      id,
      visible,
      filter,
      take,
      skip,
    }: PreviewQuestion & PagePart & { filter: NodeFilter }) {
      const lines = await linesOf(id, 'nodes');
      const { change, groupId } = filter;
      if (change === undefined && groupId === undefined && !visible.includes(false))
        return {
          rows: Array.from(lines.from(skip, take), (line) => toNode(JSON.parse(line))),
          total: lines.count,
        };
      const rows: FoundNode[] = [];
      let total = 0;
      for (const line of lines.from(0)) {
        const kept: KeptNode = JSON.parse(line);
        const node = toNode(kept);
        if (!visible[kept[4]] || (change ?? node.change) !== node.change) continue;
        if (groupId !== undefined && groupId !== node.groupId) continue;
        if (total >= skip && rows.length < take) rows.push(node);
        total += 1;
      }
      return { rows, total };
    },

    /**
     * The details of a group as JSON: an object with `fileChanges`, `parameters` and, where the preview is narrowed,
     * `mergedParameters`.
     * @throws HawserError conflict `parameter_merge_failed` if they would be too long
     */
    async previewDetails({ id, line }: { id: string; line: number }): Promise<Uint8Array> {
      const text = (await linesOf(id, 'details')).at(line);
      if (text.startsWith('{"tooLong"')) throw conflict('parameter_merge_failed', JSON.parse(text).tooLong);
      return Buffer.from(text);
    },

    /**
     * The difference of a file of a group as JSON; null for a path that is in neither bundle.
     * @throws HawserError conflict `narrow_preview` if it was not kept
     */
    async previewFile({ id, line, path, context }: FileQuestion): Promise<Uint8Array | null> {
      const lines = await linesOf(id, 'details');
      const { diffs, lists, made, isCut }: KeptFiles = JSON.parse(lines.at(line + 1));
      const diff = new Map(diffs).get(path);
      if (diff !== undefined) return narrowed(JSON.parse(lines.at(diff)), context);
      if (isCut) throw narrowPreview();
      const of = lists.find(
        ([folder, at]) => path.startsWith(folder) && flagsIn(lines, at).has(path.slice(folder.length)),
      );
      const flags = of ? flagsIn(lines, of[1]).get(path.slice(of[0].length)) : new Map(made).get(path);
      return flags === undefined ? null : Buffer.from(JSON.stringify(unchanged(path, flags)));
    },
  };
}

interface FileQuestion {
  id: string;
  /** The line of the group's details. */
  line: number;
  path: string;
  context: number;
}

/** @returns what answers a question about a group for which no more is kept than the list shows */
export function narrowPreview() {
  const message =
    'The preview has kept only the counts of this group. Ask for a preview of the same changes with nodeIds, ' +
    'which name up to 20 nodes, such as those of sampleNodes';
  return conflict('narrow_preview', message);
}

/** @throws HawserError not_found if the hour is over meanwhile */
function* readingColumn(id: string, column: KeptColumn): Reading<Uint8Array> {
  const parts: Uint8Array[] = [];
  yield {
    sql: `select ${column} from preview_results where preview_id = ? order by position`,
    values: [id],
    take: ([part]: [Uint8Array]) => void parts.push(part),
  };
  if (parts.length === 0) throw notFound('No such preview');
  return Buffer.concat(parts);
}

function toGroup(line: string, at: number): FoundGroup {
  return { id: String(at + 1), ...JSON.parse(line) };
}

function toNode([nodeId, fqdn, groupId, change]: KeptNode): FoundNode {
  return { nodeId, fqdn, groupId: groupId === null ? null : String(groupId), change };
}

function narrowed(diff: FileDiff, context: number): Uint8Array {
  return Buffer.from(JSON.stringify({ ...diff, hunks: narrowHunks(diff.hunks, context) }));
}

const flagsIn = (lines: Lines, at: number) => new Map<string, number>(JSON.parse(lines.at(at)));

function unchanged(path: string, flags: number): FileDiff {
  const lacksNewline = (flags & FLAGS.noNewline) > 0;
  return {
    ...{ path, previousPath: null, change: 'Unchanged' },
    ...{ isBinary: (flags & FLAGS.binary) > 0, isTooLarge: (flags & FLAGS.tooLarge) > 0 },
    ...{ hunks: [], endsWithoutNewline: { before: lacksNewline, after: lacksNewline } },
  };
}
