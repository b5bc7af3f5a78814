/**
 * The names of all nodes in memory, some 6 MB for 100,000, so that parts of names are found quickly. They are read when
 * first asked for. The change feed tells of nodes that were deleted, and new nodes have higher numbers than those before.
 */

import { firstIndex } from '../lib/binary-search.ts';
import { FairQueue } from '../lib/fair-queue.ts';
import { NameSearch, type Names } from '../lib/name-search.ts';
import { Pace } from '../lib/pace.ts';
import type { ChangeFeed } from './change-feed.ts';
import type { NameRow, NodeReader } from './node-reader.ts';

export interface FoundNames {
  total: number;
  /** The names; null where there are more than were asked for. */
  names: readonly string[] | null;
}

/** Names that are read at a time. This takes some 2 ms. */
const READ = 4_000;
/** Names that are looked at before it is asked whether others should go first. */
const LOOKED_AT = 5_000;
/** The memory grows by this part, so that it is not copied for each new name. */
const GROWTH = 1.1;
/** No host name has as many bytes. */
const MAX_PART = 254;

export class NodeNames {
  private readonly reader: Pick<NodeReader, 'namesAfter'>;
  private readonly feed: ChangeFeed;
  private bytes = Buffer.alloc(0);
  private starts = new Uint32Array(1);
  private numbers = new Uint32Array(0);
  private count = 0;
  private gone = 0;
  /** Rises when all names are forgotten. What is being read then would be added to nothing. */
  private clearings = 0;
  /** The numbers of nodes that went while names are being read, which may have theirs; null while none are. */
  private goneMeanwhile: Set<number> | null = null;
  /** What was found last. Whoever goes through its pages asks for the same again. */
  private last: { part: string; most: number; of: string; found: FoundNames } | null = null;
  /** One reading at a time; those who come meanwhile find little left to read. */
  private readonly turns = new FairQueue({ slots: 1 });

  constructor(reader: Pick<NodeReader, 'namesAfter'>, feed: ChangeFeed) {
    this.reader = reader;
    this.feed = feed;
    feed.subscribe({
      onChange: (kind, key) => {
        if (kind === 'nodes') this.remove(Number(key));
      },
      onLost: () => this.clear(),
    });
  }

  /**
   * Finds the nodes whose name has this part, in any case.
   * @param most how many names are wanted
   * @param caller is the one in whose turn names are read
   */
  async find(part: string, most: number, caller: string): Promise<FoundNames> {
    const pattern = Buffer.from(part.toLowerCase());
    if (pattern.length > MAX_PART) return { total: 0, names: [] };
    return this.turns.run(caller, async () => {
      await this.readNew();
      const of = `${this.numbers[this.count - 1]} ${this.count} ${this.gone}`;
      const { last } = this;
      if (last?.part === part && last.most === most && last.of === of) return last.found;
      const found = await this.search(new NameSearch(pattern), most);
      this.last = { part, most, of, found };
      return found;
    });
  }

  private async search(search: NameSearch, most: number): Promise<FoundNames> {
    // New arrays replace these ones if names are forgotten meanwhile.
    const { count } = this;
    const all = { bytes: this.bytes, starts: this.starts };
    const found: string[] = [];
    let total = 0;
    const pace = new Pace();
    for (let from = 0; from < count; from += LOOKED_AT) {
      search.forEach(all, from, Math.min(from + LOOKED_AT, count), (index) => {
        total += 1;
        if (total <= most) found.push(nameOf(all, index));
      });
      if (pace.isDue) await pace.rest();
    }
    return { total, names: total > most ? null : found };
  }

  private async readNew(): Promise<void> {
    const pace = new Pace();
    for (;;) {
      // A node that goes after this is told of later.
      await this.feed.catchUp('now');
      if (await this.readSome()) return;
      if (pace.isDue) await pace.rest();
    }
  }

  /** Tells whether there are no more. */
  private async readSome(): Promise<boolean> {
    const { clearings } = this;
    const gone = new Set<number>();
    this.goneMeanwhile = gone;
    try {
      const rows = await this.reader.namesAfter(this.numbers[this.count - 1] ?? 0, READ);
      if (clearings !== this.clearings) return false;
      this.append(gone.size === 0 ? rows : rows.filter(([number]) => !gone.has(number)));
      return rows.length < READ;
    } finally {
      this.goneMeanwhile = null;
    }
  }

  private append(rows: readonly NameRow[]): void {
    if (rows.length === 0) return;
    const text = Buffer.from(`${rows.map(([, fqdn]) => fqdn).join('\n')}\n`);
    const used = this.starts[this.count] as number;
    this.reserve(used + text.length, this.count + rows.length);
    text.copy(this.bytes, used);
    let start = used;
    for (const [number, fqdn] of rows) {
      this.numbers[this.count] = number;
      this.count += 1;
      start += fqdn.length + 1;
      this.starts[this.count] = start;
    }
  }

  private reserve(bytes: number, names: number): void {
    if (bytes > this.bytes.length) {
      const larger = Buffer.alloc(Math.ceil(bytes * GROWTH));
      this.bytes.copy(larger);
      this.bytes = larger;
    }
    if (names <= this.numbers.length) return;
    const capacity = Math.ceil(names * GROWTH);
    const numbers = new Uint32Array(capacity);
    numbers.set(this.numbers);
    this.numbers = numbers;
    const starts = new Uint32Array(capacity + 1);
    starts.set(this.starts);
    this.starts = starts;
  }

  /** A name of zero bytes is found by nobody. Once many have gone, all are read anew. */
  private remove(number: number): void {
    this.goneMeanwhile?.add(number);
    const { numbers, starts, count } = this;
    const at = firstIndex(numbers.subarray(0, count) as unknown as readonly number[], (one) => one >= number);
    if (at >= count || numbers[at] !== number) return;
    this.bytes.fill(0, starts[at] as number, (starts[at + 1] as number) - 1);
    this.gone += 1;
    if (this.gone > count / 2) this.clear();
  }

  private clear(): void {
    this.bytes = Buffer.alloc(0);
    this.starts = new Uint32Array(1);
    this.numbers = new Uint32Array(0);
    this.count = 0;
    this.gone = 0;
    this.clearings += 1;
  }
}

function nameOf({ bytes, starts }: Names, index: number): string {
  return bytes.toString('latin1', starts[index], (starts[index + 1] as number) - 1);
}
