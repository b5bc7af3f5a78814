/** Reads what a preview found from its pieces, and of these no more than an answer needs. */

import type { Db } from '../../db/database.ts';
import type { KeptText } from '../../resolve/group-details.ts';
import type { PageQuery } from '../crud/rows.ts';
import { CHANGES, type KeptNode, type PieceKind } from './piece-writer.ts';
import { listPieces, type PieceRow, readPiece } from './queries.ts';
import type { VisiblePart } from './visible.ts';

type PieceFacts = Omit<PieceRow, 'preview_id' | 'kind' | 'content'>;

/** A group as the list shows it, and what only its details show. */
export interface FoundGroup {
  id: string;
  nodeCount: number;
  sampleNodes: readonly { nodeId: string; fqdn: string }[];
  change: string;
  code: string | null;
  message: string | null;
  /** The number of what its nodes get, see `VisiblePart`. */
  content: number;
  [member: string]: unknown;
}

export interface FoundNode {
  nodeId: string;
  fqdn: string;
  groupId: string | null;
  change: (typeof CHANGES)[number];
}

export interface NodeFilter {
  change?: FoundNode['change'] | undefined;
  groupId?: string | undefined;
}

/** What of it the reader may see. */
type VisibleContent = Pick<VisiblePart, 'isAll' | 'has' | 'countOf'>;

interface Found {
  rows: FoundNode[];
  total: number;
}

/** The answers show so many nodes of a group by name. */
const SAMPLES = 5;

/** The groups of one preview. Those of one that is not Done are not there. */
export class FoundGroups {
  private readonly db: Db;
  private readonly id: string;
  private readonly visible: VisibleContent;

  constructor(db: Db, id: string, visible: VisibleContent) {
    this.db = db;
    this.id = id;
    this.visible = visible;
  }

  async page({ take, skip }: PageQuery): Promise<FoundGroup[]> {
    if (!this.visible.isAll) return this.pageOfVisible({ take, skip });
    const groups: FoundGroup[] = [];
    const wanted = skip + take;
    let at = 0;
    for (const { position, count } of await listPieces(this.db, this.id, 'groups')) {
      if (at < wanted && at + count > skip) {
        const kept = await this.read(position);
        const [from, to] = [Math.max(0, skip - at), Math.min(count, wanted - at)];
        groups.push(...kept.slice(from, to).map((group, index) => withId(at + from + index + 1, group)));
      }
      at += count;
    }
    return groups;
  }

  /** Undefined where there is no such group. */
  async find(groupId: string): Promise<FoundGroup | undefined> {
    if (!/^[1-9]\d{0,9}$/.test(groupId)) return undefined;
    const place = await this.placeOf('groups', Number(groupId));
    const group = place && (await this.read(place.position))[place.at];
    return group && this.visible.has(group['content'] as number) ? withId(Number(groupId), group) : undefined;
  }

  /** Groups keep their ids, whoever reads them. */
  private async pageOfVisible({ take, skip }: PageQuery): Promise<FoundGroup[]> {
    const groups: FoundGroup[] = [];
    let id = 0;
    for (const { position } of await listPieces(this.db, this.id, 'groups')) {
      for (const group of await this.read(position)) {
        id += 1;
        if (this.visible.has(group['content'] as number)) groups.push(withId(id, group));
      }
      if (groups.length >= skip + take) break;
    }
    return groups.slice(skip, skip + take);
  }

  /** What the details of a group are made of. */
  async keptText({ id }: FoundGroup): Promise<KeptText> {
    const { position = -1, at = -1 } = (await this.placeOf('packed', Number(id))) ?? {};
    const piece = (await readPiece(this.db, this.id, 'packed', position)) ?? '';
    const files: string[] = [];
    for (const part of await listPieces(this.db, this.id, 'files'))
      files.push((await readPiece(this.db, this.id, 'files', part.position)) ?? '');
    return { piece, at, files: files.join('') };
  }

  /** The piece that holds a group, and the place in it, from 0. */
  private async placeOf(kind: PieceKind, groupId: number) {
    let at = groupId - 1;
    for (const { position, count } of await listPieces(this.db, this.id, kind)) {
      if (at < count) return { position, at };
      at -= count;
    }
    return undefined;
  }

  private async read(position: number): Promise<Omit<FoundGroup, 'id'>[]> {
    return JSON.parse((await readPiece(this.db, this.id, 'groups', position)) ?? '[]');
  }
}

/** The nodes of one preview that a filter meets, by fqdn. */
export class FoundNodes {
  private readonly db: Db;
  private readonly id: string;
  private readonly filter: NodeFilter;
  private readonly visible: VisibleContent;

  constructor(db: Db, id: string, filter: NodeFilter, visible: VisibleContent) {
    this.db = db;
    this.id = id;
    this.filter = filter;
    this.visible = visible;
  }

  async page({ take, skip }: PageQuery): Promise<Found> {
    const { change, groupId } = this.filter;
    if (groupId !== undefined) return this.pageOfGroup(groupId, { take, skip });
    if (!this.visible.isAll)
      return { rows: await this.firstOf(skip, take), total: this.visible.countOf(change) };
    const pieces = await listPieces(this.db, this.id, 'nodes');
    const total = pieces.reduce((sum, piece) => sum + this.countIn(piece), 0);
    const rows: FoundNode[] = [];
    let toSkip = skip;
    for (const piece of pieces) {
      const count = this.countIn(piece);
      if (rows.length >= take) break;
      if (count > toSkip)
        rows.push(...(await this.read(piece.position)).slice(toSkip, toSkip + take - rows.length));
      toSkip = Math.max(0, toSkip - count);
    }
    return { rows, total };
  }

  /** Gives all of them in slices. */
  async *whole(): AsyncGenerator<FoundNode[]> {
    for (const { position } of await listPieces(this.db, this.id, 'nodes')) yield this.read(position);
  }

  /** The group knows how many nodes it has, and names the first of them. Others are looked for until the page is full. */
  private async pageOfGroup(groupId: string, { take, skip }: PageQuery): Promise<Found> {
    const found = await new FoundGroups(this.db, this.id, this.visible).find(groupId);
    const { change } = this.filter;
    if (found === undefined || (change !== undefined && change !== found.change))
      return { rows: [], total: 0 };
    const { nodeCount: total, sampleNodes, change: ofGroup } = found;
    if (total <= SAMPLES) {
      const all = sampleNodes.map((node) => ({ ...node, groupId, change: ofGroup as FoundNode['change'] }));
      return { rows: all.slice(skip, skip + take), total };
    }
    return { rows: await this.firstOf(skip, Math.min(take, total - skip)), total };
  }

  /** Those nodes that the filter meets, from one on. */
  private async firstOf(skip: number, take: number): Promise<FoundNode[]> {
    const rows: FoundNode[] = [];
    if (take <= 0) return rows;
    for await (const nodes of this.whole()) {
      rows.push(...nodes);
      if (rows.length >= skip + take) break;
    }
    return rows.slice(skip, skip + take);
  }

  private countIn({ count, changed, unresolvable }: PieceFacts): number {
    switch (this.filter.change) {
      case undefined:
        return count;
      case 'Changed':
        return changed;
      case 'Unresolvable':
        return unresolvable;
      case 'Unchanged':
        return count - changed - unresolvable;
    }
  }

  /** Those nodes of a piece that the filter meets. */
  private async read(position: number): Promise<FoundNode[]> {
    const kept: KeptNode[] = JSON.parse((await readPiece(this.db, this.id, 'nodes', position)) ?? '[]');
    const { change, groupId } = this.filter;
    const nodes = kept.filter(([, , , , content]) => this.visible.has(content)).map(toNode);
    return nodes.filter(
      (node) =>
        (change === undefined || node.change === change) &&
        (groupId === undefined || node.groupId === groupId),
    );
  }
}

function withId(id: number, group: Omit<FoundGroup, 'id'>): FoundGroup {
  return { id: String(id), ...group } as FoundGroup;
}

function toNode([nodeId, fqdn, groupId, change]: KeptNode): FoundNode {
  return {
    nodeId,
    fqdn,
    groupId: groupId === null ? null : String(groupId),
    change: CHANGES[change] ?? 'Unchanged',
  };
}
