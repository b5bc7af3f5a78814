/** What a reader sees of a preview that is done: nodes and groups of which this caller, with this token, may read all now. */

import type { Db } from '../../db/database.ts';
import type { ContentOfNodes, PreviewChange, PreviewCounts } from '../../resolve/preview-types.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { type Readable, readableResources, readerOf } from '../../security/rights.ts';
import { type PreviewRow, readPiece } from './queries.ts';

const COUNTED = { Changed: 'changed', Unchanged: 'unchanged', Unresolvable: 'unresolvable' } as const;

export class VisiblePart {
  private readonly contents: readonly ContentOfNodes[];
  /** Tells of each content, at the place of its number, whether the reader may read it. */
  private readonly flags: readonly boolean[];
  private readonly row: PreviewRow;

  private constructor(row: PreviewRow, contents: readonly ContentOfNodes[], flags: readonly boolean[]) {
    this.row = row;
    this.contents = contents;
    this.flags = flags;
  }

  static async of(db: Db, principal: UserPrincipal, row: PreviewRow): Promise<VisiblePart> {
    const readable = await readableResources(db, principal);
    const kept = await readPiece(db, row.id, 'contents', 0);
    if (kept === undefined) return new VisiblePart(row, [unknown(row)], [mayReadAnything(readable)]);
    const contents: ContentOfNodes[] = JSON.parse(kept);
    return new VisiblePart(row, contents, contents.map(readerOf(readable)));
  }

  get isAll(): boolean {
    return !this.flags.includes(false);
  }

  has(content: number): boolean {
    return this.flags[content] ?? this.isAll;
  }

  get groupCount(): number {
    return this.sum(({ groups }) => groups);
  }

  /** The number of nodes with a change; of all without it. */
  countOf(change?: PreviewChange): number {
    if (change !== undefined) return this.sum((content) => content[COUNTED[change]]);
    return this.sum(({ changed, unchanged, unresolvable }) => changed + unchanged + unresolvable);
  }

  /** The nodes that this reader does not see are in `notVisible` alone. */
  get counts(): PreviewCounts {
    const { nodes: all, not_visible } = this.row;
    const nodes = this.countOf();
    return {
      nodes,
      changed: this.countOf('Changed'),
      unchanged: this.countOf('Unchanged'),
      unresolvable: this.countOf('Unresolvable'),
      notVisible: not_visible + all - nodes,
    };
  }

  private sum(of: (content: ContentOfNodes) => number): number {
    return this.contents.reduce((sum, content, at) => sum + (this.flags[at] ? of(content) : 0), 0);
  }
}

/** Of a preview that an earlier release made nobody knows what it is made of. */
function unknown({ changed, unchanged, unresolvable, group_count }: PreviewRow): ContentOfNodes {
  return { configurations: [], composites: [], changed, unchanged, unresolvable, groups: group_count ?? 0 };
}

function mayReadAnything({ configuration, composite, parameters }: Readable): boolean {
  return [configuration, composite, parameters].every((ids) => ids === 'all');
}
