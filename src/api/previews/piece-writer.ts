/** Keeps what a preview finds, piece by piece: the form in which its groups and nodes are stored. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Db } from '../../db/database.ts';
import type { PreviewCounts, PreviewNode, PreviewPiece } from '../../resolve/preview-types.ts';
import { type CountColumns, insertPiece, type PieceRow, updateCounts } from './queries.ts';

/** A node as it is kept. The change is a place in `CHANGES`. */
export type KeptNode = readonly [
  nodeId: string,
  fqdn: string,
  groupId: number | null,
  change: number,
  content: number,
];

export const CHANGES = ['Changed', 'Unchanged', 'Unresolvable'] as const;

/** A longer text is kept in several pieces. So many characters are written in a millisecond. */
const LONGEST = 128 * 1024;

export function toColumns({ notVisible, ...counts }: PreviewCounts): CountColumns {
  return { ...counts, not_visible: notVisible };
}

/** Writes the pieces of one preview one after the other, each in a transaction of its own. */
export class PieceWriter {
  private readonly db: Db;
  private readonly id: string;
  private readonly positions = new Map<PieceKind, number>();

  constructor(db: Db, id: string) {
    this.db = db;
    this.id = id;
  }

  /** Resolves when the piece is written. */
  async write(piece: PreviewPiece): Promise<void> {
    switch (piece.kind) {
      case 'counts':
        return updateCounts(this.db, this.id, toColumns(piece.counts));
      case 'groups': {
        const { groups, packed } = piece;
        for (const texts of gathered(groups.map(({ shown }) => shown)))
          await this.insert('groups', `[${texts.join()}]`, { count: texts.length });
        return this.insert('packed', packed, { count: groups.length });
      }
      case 'nodes':
        return this.insert('nodes', JSON.stringify(piece.nodes.map(toKeptNode)), tally(piece.nodes));
      case 'files':
        for (const text of cut(piece.files)) await this.insert('files', text);
        return;
      case 'contents':
        return this.insert('contents', JSON.stringify(piece.contents), { count: piece.contents.length });
    }
  }

  private async insert(
    kind: PieceKind,
    content: string,
    { count, changed = 0, unresolvable = 0 }: Tally = ONE,
  ): Promise<void> {
    const position = this.positions.get(kind) ?? 0;
    this.positions.set(kind, position + 1);
    const row: PieceRow = { preview_id: this.id, kind, position, count, changed, unresolvable, content };
    await insertPiece(this.db, row);
    // Lets polls through between two pieces.
    await nextTurn();
  }
}

export type PieceKind = 'groups' | 'packed' | 'nodes' | 'files' | 'contents';

type Tally = Pick<PieceRow, 'count'> & Partial<Pick<PieceRow, 'changed' | 'unresolvable'>>;

const ONE = { count: 1 };

function tally(nodes: readonly PreviewNode[]): Tally {
  const number = (change: PreviewNode['change']) => nodes.filter((node) => node.change === change).length;
  return { count: nodes.length, changed: number('Changed'), unresolvable: number('Unresolvable') };
}

const toKeptNode = ({ nodeId, fqdn, groupId, change, content }: PreviewNode): KeptNode => [
  nodeId,
  fqdn,
  groupId,
  CHANGES.indexOf(change),
  content,
];

/** Puts texts together, as many as are not longer than one piece, and at least one. */
function* gathered(texts: readonly string[]): Generator<string[]> {
  let together: string[] = [];
  let length = 0;
  for (const text of texts) {
    if (together.length > 0 && length + text.length > LONGEST) {
      yield together;
      [together, length] = [[], 0];
    }
    together.push(text);
    length += text.length;
  }
  if (together.length > 0) yield together;
}

/** Cuts a text into pieces, none of which ends in the middle of a character. */
function* cut(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const isInside = /[\uD800-\uDBFF]/.test(text.charAt(at + LONGEST - 1));
    const end = at + LONGEST - (isInside ? 1 : 0);
    yield text.slice(at, end);
    at = end;
  }
}
