/** What commands print: tables, texts, differences and JSON on stdout, and everything else on stderr. */

import { inspect } from 'node:util';
import { textOf } from '../client/api.ts';
import { withoutSecrets } from './errors.ts';
import { printable, printableLine } from './printable.ts';
import { layOut } from './table.ts';

export type Style = 'bold' | 'cyan' | 'green' | 'red' | 'yellow';
type Cell = string | number | boolean | null | undefined;

/** One column of a table: its heading, and what it shows of an item. */
export interface Column<T> {
  title: string;
  cell(item: T): Cell;
}

export interface Streams {
  stdout: NodeJS.WritableStream & { isTTY?: boolean; columns?: number };
  stderr: NodeJS.WritableStream & { isTTY?: boolean };
}

export interface OutSettings extends Streams {
  isJson: boolean;
  /** NO_COLOR is set, and not empty. */
  isPlain: boolean;
}

export class Out {
  /** Whether `--json` was said. */
  readonly isJson: boolean;
  private readonly settings: OutSettings;
  private isProgressShown = false;

  constructor(settings: OutSettings) {
    this.isJson = settings.isJson;
    this.settings = settings;
  }

  /**
   * Prints an answer of the API: as it is with `--json`, else as `show` does.
   * @param answer or what is made of several, which is printed as JSON too
   */
  answer<T extends object>(answer: T, show: (answer: T) => void): void {
    if (this.isJson) this.json(answer);
    else show(answer);
  }

  /** Whether somebody looks at what is printed. */
  get isTerminal(): boolean {
    return this.settings.stdout.isTTY === true;
  }

  /** Prints a table of the items, or `none` where there are none. */
  table<T>(items: readonly T[], columns: readonly Column<T>[], none: string): void {
    if (items.length === 0) {
      this.note(none);
      return;
    }
    const rows = items.map((item) => columns.map(({ cell }) => toCell(cell(item))));
    const { columns: width = 80 } = this.settings.stdout;
    const [heading = '', ...lines] = layOut(
      [columns.map(({ title }) => title), ...rows],
      this.isTerminal ? width : null,
    );
    this.write(`${[this.styled('bold', heading), ...lines].join('\n')}\n`);
  }

  /** Prints names and values below each other. */
  fields(fields: Readonly<Record<string, Cell>>): void {
    const lines = layOut(
      Object.entries(fields).map(([name, value]) => [`${name}:`, toCell(value)]),
      null,
    );
    this.write(`${lines.join('\n')}\n`);
  }

  /** Prints lines of text; an empty one is an empty line. */
  text(text: string): void {
    this.write(`${printable(text).trimEnd()}\n`);
  }

  /** Prints JSON: an answer of the API as it came. */
  json(value: unknown): void {
    const text = typeof value === 'object' && value !== null ? textOf(value) : null;
    this.write(`${printableJson(text ?? JSON.stringify(value, null, 2))}\n`);
  }

  /** Prints a unified diff. */
  diff(text: string): void {
    const lines = printable(text).trimEnd().split('\n');
    this.write(`${lines.map((line) => this.styledLine(line)).join('\n')}\n`);
  }

  /** Writes bytes as they are, such as a file. */
  bytes(bytes: Uint8Array): void {
    this.endProgress();
    this.settings.stdout.write(bytes);
  }

  /** Says something beside the result, on stderr. */
  note(text: string): void {
    this.endProgress();
    this.settings.stderr.write(`${withoutSecrets(printable(text))}\n`);
  }

  /** Shows how far something is, on a terminal alone, until something else is printed. */
  progress(text: string): void {
    const { stderr } = this.settings;
    if (!stderr.isTTY) return;
    this.endProgress();
    stderr.write(printableLine(text));
    this.isProgressShown = true;
  }

  /** Takes what `progress` shows away. */
  endProgress(): void {
    // The cursor goes to the start of the line, and the line is cleared.
    if (this.isProgressShown) this.settings.stderr.write('\r\u001b[K');
    this.isProgressShown = false;
  }

  /** Gives text a colour or weight where stdout is a terminal that shows them. */
  styled(style: Style, text: string): string {
    const [start, end] = inspect.colors[style] ?? [0, 0];
    return this.hasColours ? `\u001b[${start}m${text}\u001b[${end}m` : text;
  }

  private get hasColours(): boolean {
    return this.isTerminal && !this.settings.isPlain;
  }

  private styledLine(line: string): string {
    if (/^(\+\+\+|---|diff |index )/.test(line)) return this.styled('bold', line);
    if (line.startsWith('+')) return this.styled('green', line);
    if (line.startsWith('-')) return this.styled('red', line);
    return line.startsWith('@@') ? this.styled('cyan', line) : line;
  }

  private write(text: string): void {
    this.endProgress();
    this.settings.stdout.write(text);
  }
}

function toCell(value: Cell): string {
  if (value === null || value === undefined || value === '') return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return printableLine(String(value));
}

/** JSON may hold these as they are. Escaped they mean the same, and a terminal does not obey them. */
function printableJson(json: string): string {
  return printable(json.replaceAll('\r', ' '));
}
