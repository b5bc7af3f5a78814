/** What a reader sees of a preview that is done: nodes and groups of which this caller, with this token, may read all now. */

import type { Db } from '../db/database.ts';
import type { ContentOfNodes, PreviewCounts } from '../resolve/preview-types.ts';
import type { UserPrincipal } from '../security/principal.ts';
import { readableResources, readerOf } from '../security/rights.ts';
import { type PreviewRow, readContents } from './preview-rows.ts';

export class VisiblePart {
  /** Tells of each content, at the place of its number, whether the reader may read it. */
  readonly flags: readonly boolean[];
  private readonly contents: readonly ContentOfNodes[];
  private readonly row: PreviewRow;

  private constructor(row: PreviewRow, contents: readonly ContentOfNodes[], flags: readonly boolean[]) {
    this.row = row;
    this.contents = contents;
    this.flags = flags;
  }

  static async of(db: Db, principal: UserPrincipal, row: PreviewRow): Promise<VisiblePart> {
    const readable = await readableResources(db, principal);
    const contents: ContentOfNodes[] = JSON.parse(await readContents(db, row.id));
    return new VisiblePart(row, contents, contents.map(readerOf(readable)));
  }

  get groupCount(): number {
    return this.sum(({ groups }) => groups);
  }

  /** The nodes that this reader does not see are in `notVisible` alone. */
  get counts(): PreviewCounts {
    const { nodes: all, not_visible } = this.row;
    const changed = this.sum((content) => content.changed);
    const unchanged = this.sum((content) => content.unchanged);
    const unresolvable = this.sum((content) => content.unresolvable);
    const nodes = changed + unchanged + unresolvable;
    return { nodes, changed, unchanged, unresolvable, notVisible: not_visible + all - nodes };
  }

  private sum(of: (content: ContentOfNodes) => number): number {
    return this.contents.reduce((sum, content, at) => sum + (this.flags[at] ? of(content) : 0), 0);
  }
}
