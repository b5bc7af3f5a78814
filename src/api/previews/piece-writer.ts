/** Keeps what a preview finds, piece by piece: the form in which its groups and nodes are stored. */

import type { Db } from '../../db/open.ts';
import type { MadeNode, PreviewCounts, PreviewPiece } from './making.ts';
import { type CountColumns, insertPiece, type PieceRow, updateCounts } from './queries.ts';

/** A node as it is kept. The change is a place in `CHANGES`. */
export type KeptNode = readonly [nodeId: string, fqdn: string, groupId: number | null, change: number];

export const CHANGES = ['Changed', 'Unchanged', 'Unresolvable'] as const;

/** A longer text is kept in several pieces. So many characters are written in a millisecond or two. */
const LONGEST = 256 * 1024;

export function toColumns({ notVisible, ...counts }: PreviewCounts): CountColumns {
  return { ...counts, not_visible: notVisible };
}

/** Writes the pieces of one preview one after the other, each in a transaction of its own. */
export class PieceWriter {
  private readonly db: Db;
  private readonly id: string;
  private readonly positions = new Map<string, number>();
  private last: Promise<void> = Promise.resolve();
  /** The newest counts that wait to be written. */
  private counts: PreviewCounts | null = null;

  constructor(db: Db, id: string) {
    this.db = db;
    this.id = id;
  }

  write(piece: PreviewPiece): void {
    switch (piece.kind) {
      case 'counts':
        this.show(piece.counts);
        break;
      case 'groups':
        this.insert('groups', `[${piece.groups.map(({ shown }) => shown).join()}]`, {
          count: piece.groups.length,
        });
        this.insert('packed', piece.packed);
        break;
      case 'nodes':
        this.insert('nodes', JSON.stringify(piece.nodes.map(toKeptNode)), tally(piece.nodes));
        break;
      case 'files':
        for (const text of cut(piece.files)) this.insert('files', text);
    }
  }

  /** Resolves when all of them are written. */
  written(): Promise<void> {
    return this.last;
  }

  private show(counts: PreviewCounts): void {
    const isPlanned = this.counts !== null;
    this.counts = counts;
    if (!isPlanned) this.queue(() => this.writeCounts());
  }

  private async writeCounts(): Promise<void> {
    const { counts } = this;
    this.counts = null;
    if (counts !== null) await updateCounts(this.db, this.id, toColumns(counts));
  }

  private insert(
    kind: PieceKind,
    content: string,
    { count, changed = 0, unresolvable = 0 }: Tally = ONE,
  ): void {
    const position = this.positions.get(kind) ?? 0;
    this.positions.set(kind, position + 1);
    const row: PieceRow = { preview_id: this.id, kind, position, count, changed, unresolvable, content };
    this.queue(() => insertPiece(this.db, row));
  }

  private queue(work: () => Promise<void>): void {
    this.last = this.last.then(work);
    // The failure is that of the preview, which waits for the last piece.
    this.last.catch(() => undefined);
  }
}

/** The packed groups stand under the same positions as the groups. */
export type PieceKind = 'groups' | 'packed' | 'nodes' | 'files';

type Tally = Pick<PieceRow, 'count'> & Partial<Pick<PieceRow, 'changed' | 'unresolvable'>>;

const ONE = { count: 1 };

function tally(nodes: readonly MadeNode[]): Tally {
  const number = (change: MadeNode['change']) => nodes.filter((node) => node.change === change).length;
  return { count: nodes.length, changed: number('Changed'), unresolvable: number('Unresolvable') };
}

const toKeptNode = ({ nodeId, fqdn, groupId, change }: MadeNode): KeptNode => [
  nodeId,
  fqdn,
  groupId,
  CHANGES.indexOf(change),
];

/** Cuts a text into pieces, none of which ends in the middle of a character. */
function* cut(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const isInside = /[\uD800-\uDBFF]/.test(text.charAt(at + LONGEST - 1));
    const end = at + LONGEST - (isInside ? 1 : 0);
    yield text.slice(at, end);
    at = end;
  }
}
