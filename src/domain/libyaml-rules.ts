/**
 * What dsc refuses in a document of YAML 1.2: dsc reads with libyaml, which is a reader of YAML 1.1. Tabs are the most
 * frequent of it, in lines that look empty.
 */

import { CST, type Parser } from 'yaml';

/** libyaml ends a line at each of these, so that what looks like one comment may be members that nobody sees. */
const OTHER_BREAK = /[\x85\u2028\u2029]/;
/** A byte order mark at the beginning of a line is passed over. */
const NOT_TAKEN = /[\x7f-\x84\x86-\x9f\ufffe\uffff]|^\ufeff/m;
const NAME = /^.[\w-]+$/;
const TAB = 'dsc does not read a tab here, also where the line is empty otherwise. Indent by spaces.';
const BAD_NAME = 'dsc reads letters of ASCII, digits, "-" and "_" in the name of an anchor.';

interface Refusal {
  /** The offset in the text. */
  offset: number;
  message: string;
}

/** Looks at the parts of a text, one after the other, as the library's lexer gives them. */
export class LibyamlRules {
  private first: Refusal | null = null;
  /** The number of brackets that are open. Tabs may stand anywhere between them. */
  private brackets = 0;
  /** The header of the block whose text comes next; null if plain text does. */
  private header: string | null = null;
  private isTextNext = false;
  /** Whether a key may come next, so that a tab may not. */
  private isAtStart = true;
  /** The number of spaces that this line begins with. */
  private spaces = 0;
  /** With so many spaces before its tab an empty line still belongs to the plain text above it. */
  private plainIndent = Number.POSITIVE_INFINITY;

  /** What is refused first, of the parts or of the characters of the text. */
  refused(text: string): Refusal | null {
    return this.first ?? refusedCharacter(text);
  }

  /** @param parser has read what stands before this part */
  look(part: string, parser: Parser): void {
    if (this.isTextNext) {
      this.lookAtText(part, parser);
      return;
    }
    const type = CST.tokenType(part);
    if (type === 'scalar') this.isTextNext = true;
    else if (type === 'space') this.lookAtSpace(part, parser.offset);
    else if (type === 'newline') {
      this.isAtStart = true;
      this.spaces = 0;
    } else if (type !== 'doc-mode') {
      if (type === 'block-scalar-header') this.header = part;
      if (type === 'flow-map-start' || type === 'flow-seq-start') this.brackets += 1;
      if (type === 'flow-map-end' || type === 'flow-seq-end') this.brackets -= 1;
      if ((type === 'anchor' || type === 'alias') && !NAME.test(part)) this.refuse(parser.offset, BAD_NAME);
      this.goOn(type === 'seq-item-ind' || type === 'explicit-key-ind');
    }
  }

  private goOn(isAtStart: boolean): void {
    this.isAtStart = isAtStart;
    this.plainIndent = Number.POSITIVE_INFINITY;
  }

  private lookAtSpace(part: string, offset: number): void {
    if (!this.isAtStart || this.brackets > 0) return;
    const tab = part.indexOf('\t');
    this.spaces += tab === -1 ? part.length : tab;
    if (tab !== -1 && this.spaces < this.plainIndent) this.refuse(offset + tab, TAB);
  }

  private lookAtText(part: string, parser: Parser): void {
    const { header } = this;
    const indent = indentOf(parser);
    this.header = null;
    this.isTextNext = false;
    this.goOn(header !== null);
    if (header === null) this.plainIndent = indent + 1;
    const least = header === null ? indent + 1 : blockIndent(part, header, indent);
    // Plain text begins in the line of its key. That of a block begins with a line.
    const lines = header === null ? /(?<=\n) *(?=\t)/g : /^ *(?=\t)/gm;
    for (const { index, 0: spaces } of part.matchAll(lines))
      if (spaces.length < least) this.refuse(parser.offset + index + spaces.length, TAB);
  }

  private refuse(offset: number, message: string): void {
    this.first ??= { offset, message };
  }
}

function refusedCharacter(text: string): Refusal | null {
  const at = text.search(OTHER_BREAK);
  if (at !== -1) {
    const code = text.charCodeAt(at).toString(16).padStart(4, '0');
    const message = `dsc ends a line at the character U+${code.toUpperCase()}. Remove it, or write "\\u${code}" in double quotes.`;
    return { offset: at, message };
  }
  const offset = text.search(NOT_TAKEN);
  return offset === -1 ? null : { offset, message: 'dsc does not take this character here. Remove it.' };
}

/** The indentation of the innermost mapping or list without brackets; -1 outside of all. */
function indentOf({ stack }: Parser): number {
  const block = stack.findLast(({ type }) => type === 'block-map' || type === 'block-seq');
  return block !== undefined && 'indent' in block ? block.indent : -1;
}

/** The indentation of a block's text. It is told from the first line, which then must not begin with a tab. */
function blockIndent(part: string, header: string, indent: number): number {
  const [digit] = /\d/.exec(header) ?? [];
  if (digit !== undefined) return Math.max(indent, 0) + Number(digit);
  const [, spaces = '', sign] = /^( *)([^ \n])/m.exec(part) ?? [];
  return spaces.length + (sign === '\t' ? 1 : 0);
}
