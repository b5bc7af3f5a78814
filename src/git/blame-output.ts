/** Reads what `git blame --incremental` prints (git-blame, "Incremental output"). */

import { SECOND } from '../lib/clock.ts';
import { Pace } from '../lib/pace.ts';
import { sortInSteps } from '../lib/paced-sort.ts';

/** Adjacent lines of a file that one commit made what they are. */
export interface BlamedLines {
  /** The number of the first line; the first of a file is 1. */
  startLine: number;
  lineCount: number;
  commit: string;
  /** The name of the commit's author. */
  author: string;
  /** Milliseconds since the epoch. Git knows whole seconds only. */
  authoredAt: number;
}

type Range = Pick<BlamedLines, 'startLine' | 'lineCount' | 'commit'>;
type Authorship = Pick<BlamedLines, 'author' | 'authoredAt'>;

/** Begins an entry: the commit, the number of the line in it, and the range of lines in the file as it is. */
const ENTRY = /^([0-9a-f]{40}) \d+ (\d+) (\d+)$/;
/** Ends an entry. Git quotes the file's name, so it is in one line. */
const LAST = 'filename ';

/** Takes the lines of the output one by one. Git prints entries in the order in which it finds them. */
export class BlameOutput {
  private readonly ranges: Range[] = [];
  /** The key is the commit. Git tells of each commit once, in its first entry. */
  private readonly authorships = new Map<string, Authorship>();
  private current: Range | null = null;

  take(line: string): void {
    if (this.current === null) this.begin(line);
    else if (line.startsWith(LAST)) this.current = null;
    else this.note(this.current, line);
  }

  /** All of the file in the order of its lines. Adjacent entries of one commit become one. */
  async finish(): Promise<BlamedLines[]> {
    const pace = new Pace();
    const found: BlamedLines[] = [];
    for (const range of await sortInSteps(this.ranges, (a, b) => a.startLine - b.startLine)) {
      const last = found.at(-1);
      if (last?.commit === range.commit) last.lineCount += range.lineCount;
      else found.push({ ...range, ...this.authorshipOf(range.commit) });
      if (pace.isDue) await pace.rest();
    }
    return found;
  }

  private begin(line: string): void {
    const [, commit, startLine, lineCount] = ENTRY.exec(line) ?? [];
    if (commit === undefined) throw new Error('git blame has printed what is no entry');
    this.current = { startLine: Number(startLine), lineCount: Number(lineCount), commit };
    this.ranges.push(this.current);
  }

  private note({ commit }: Range, line: string): void {
    const cut = line.indexOf(' ');
    const [key, value] = [line.slice(0, cut), line.slice(cut + 1)];
    if (key === 'author') this.authorships.set(commit, { ...this.authorshipOf(commit), author: value });
    if (key === 'author-time')
      this.authorships.set(commit, { ...this.authorshipOf(commit), authoredAt: timeOf(value) });
  }

  private authorshipOf(commit: string): Authorship {
    return this.authorships.get(commit) ?? { author: '', authoredAt: 0 };
  }
}

/** A commit that was made by hand may name seconds that no date can hold. They become 0. */
function timeOf(seconds: string): number {
  const time = Number(seconds) * SECOND;
  return Number.isFinite(new Date(time).getTime()) ? time : 0;
}
