/**
 * Where the leaves of a parameter file stand in its text, so that the text of a leaf can be replaced and all other bytes stay.
 * A leaf is any value but a mapping with keys.
 */

import {
  type CST,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Pair,
  type ParsedNode,
  Scalar,
  type YAMLMap,
} from 'yaml';
import { decodeDocument } from './document-text.ts';
import { jsonPlaces, readJson } from './json-text.ts';
import type { DocumentType } from './parameter-document.ts';
import { WantedPlaces } from './text-places.ts';
import { escapeToken, isMapping, type Mapping, type Value } from './value.ts';
import { readYamlNodes } from './yaml-reader.ts';

/** A change of a text: what stands between the offsets becomes `text`. */
export interface TextEdit {
  start: number;
  end: number;
  text: string;
}

export interface LeafSpan {
  /** JSON Pointer (RFC 6901). */
  pointer: string;
  value: Value;
  /** Whether an anchor, an alias or a merge key is at, around or within the leaf. */
  isShared: boolean;
  /** The change that puts a text in double quotes in the place of the leaf; null for what stands behind an alias. */
  edit: ((quoted: string) => TextEdit) | null;
}

/** A parameter file with the places of its leaves, in the order of the text. */
export interface SpannedDocument {
  document: Mapping;
  leaves: readonly LeafSpan[];
  /** The bytes of the file after changes of leaves. */
  apply(edits: readonly TextEdit[]): Buffer;
}

const MERGE_KEY = '<<';
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

/** @throws HawserError as `readDocument` */
export function spanLeaves(bytes: Uint8Array, type: DocumentType): SpannedDocument {
  const source = decodeDocument(bytes);
  const bom = BOM.equals(bytes.subarray(0, BOM.length)) ? BOM : Buffer.alloc(0);
  const { document, leaves, originOf } = type === 'json' ? spanJson(source) : spanYaml(source);
  const lineEnd = source.includes('\r\n') ? '\r\n' : '\n';
  const apply = (edits: readonly TextEdit[]) => {
    let [text, at] = ['', 0];
    for (const edit of edits) {
      text += source.slice(at, originOf(edit.start)) + edit.text.replaceAll('\n', lineEnd);
      at = originOf(edit.end);
    }
    return Buffer.concat([bom, Buffer.from(text + source.slice(at))]);
  };
  return { document, leaves, apply };
}

interface Spans extends Omit<SpannedDocument, 'apply'> {
  /** The offset in the text as it came, for one in the text that was read. */
  originOf(offset: number): number;
}

function spanJson(source: string): Spans {
  const document = readJson(source);
  const wanted = new WantedPlaces();
  const found: { pointer: string; value: Value; place: WantedPlaces }[] = [];
  const walk = (mapping: Mapping, steps: readonly string[]) => {
    for (const [key, value] of mapping) {
      const own = [...steps, key];
      if (isMapping(value) && value.size > 0) walk(value, own);
      else found.push({ pointer: pointerOf(own), value, place: wanted.want(own) });
    }
  };
  walk(document, []);
  jsonPlaces(source, wanted);
  const leaves = found.map(({ pointer, value, place: { place } }) => {
    const { value: start = 0, end = start } = place ?? {};
    return { pointer, value, isShared: false, edit: (text: string) => ({ start, end, text }) };
  });
  return { document, leaves, originOf: (offset) => offset };
}

const pointerOf = (steps: readonly string[]) => steps.map((step) => `/${escapeToken(step)}`).join('');

function spanYaml(source: string): Spans {
  const { text, root, document } = readYamlNodes(source);
  const leaves: LeafSpan[] = [];
  if (root !== null && isMap(root))
    new YamlWalk(text, leaves).mapping(root as YAMLMap.Parsed, document, '', root.anchor !== undefined);
  return { document, leaves, originOf: origins(source) };
}

/** The reader drops the carriage return of each end of a line. */
function origins(source: string): (offset: number) => number {
  const breaks: number[] = [];
  for (let at = source.indexOf('\r\n'); at !== -1; at = source.indexOf('\r\n', at + 2))
    breaks.push(at - breaks.length);
  return (offset) => {
    let [low, high] = [0, breaks.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((breaks[middle] as number) < offset) low = middle + 1;
      else high = middle;
    }
    return offset + low;
  };
}

type YamlPair = Pair<ParsedNode, ParsedNode | null> & { srcToken?: CST.CollectionItem };

class YamlWalk {
  private readonly text: string;
  private readonly leaves: LeafSpan[];

  constructor(text: string, leaves: LeafSpan[]) {
    this.text = text;
    this.leaves = leaves;
  }

  /** @param isShared whether an anchor, an alias or a merge key is around it */
  mapping(node: YAMLMap.Parsed, value: Mapping, pointer: string, isShared: boolean): void {
    const isAround = isShared || value.has(MERGE_KEY);
    // Duplicate keys are refused, so both have the same order.
    const pairs = node.items as YamlPair[];
    for (const [at, [key, item]] of [...value].entries())
      this.value(pairs[at] as YamlPair, node, item, `${pointer}/${escapeToken(key)}`, isAround);
  }

  private value(
    pair: YamlPair,
    parent: YAMLMap.Parsed,
    value: Value,
    pointer: string,
    isShared: boolean,
  ): void {
    const node = pair.value;
    const isAnchored = isShared || (node !== null && (isAlias(node) || node.anchor !== undefined));
    if (!isMapping(value) || value.size === 0) {
      const edit =
        node !== null && isAlias(node) ? null : (quoted: string) => this.edit(pair, parent, quoted);
      this.leaves.push({ pointer, value, isShared: isAnchored || isSharedWithin(node), edit });
    } else if (node !== null && isMap(node)) this.mapping(node as YAMLMap.Parsed, value, pointer, isAnchored);
    else this.aliased(value, pointer);
  }

  /** What an alias stands for has no text here. */
  private aliased(mapping: Mapping, pointer: string): void {
    for (const [key, value] of mapping) {
      const own = `${pointer}/${escapeToken(key)}`;
      if (isMapping(value) && value.size > 0) this.aliased(value, own);
      else this.leaves.push({ pointer: own, value, isShared: true, edit: null });
    }
  }

  private edit({ key, value, srcToken }: YamlPair, parent: YAMLMap.Parsed, quoted: string): TextEdit {
    const sep = srcToken?.sep ?? [];
    const colon = sep.find(({ type }) => type === 'map-value-ind');
    const tag = sep.find(({ type }) => type === 'tag');
    if (colon === undefined) return this.withColon(key, parent, quoted);
    const behind = colon.offset + 1;
    const token = value?.srcToken;
    const isEmpty = value === null || (isScalar(value) && value.type === Scalar.PLAIN && value.source === '');
    if (isEmpty) {
      const start = tag?.offset ?? behind;
      const end = tag ? tag.offset + tag.source.length : behind;
      return { start, end, text: tag ? quoted : ` ${quoted}` };
    }
    if (token?.type === 'block-scalar') return this.overBlock(token, tag?.offset, quoted);
    const start = tag?.offset ?? value.range[0];
    const end = this.endOf(value);
    if (token?.type !== 'block-seq' || tag !== undefined || token.indent > columnOf(this.text, key.range[0]))
      return { start, end, text: quoted };
    // A list may stand right below its key, and a text may not. What is between the two are comments.
    const between = this.text.slice(behind, start).trimEnd();
    return { start: behind, end, text: ` ${quoted}${between}` };
  }

  /** A key alone, such as `{key}` or `? key`. */
  private withColon(key: ParsedNode, parent: YAMLMap.Parsed, quoted: string): TextEdit {
    const end = key.range[1];
    if (parent.flow) return { start: end, end, text: `: ${quoted}` };
    const indent = ' '.repeat(columnOf(this.text, parent.range[0]));
    return { start: end, end, text: `\n${indent}: ${quoted}` };
  }

  /** The comment behind the header of a block stays, and so do the empty lines behind it. */
  private overBlock(token: CST.BlockScalar, tagAt: number | undefined, quoted: string): TextEdit {
    const start = tagAt ?? token.offset;
    const isKept = token.props.some(
      ({ type, source }: CST.Token & { source?: string }) =>
        type === 'block-scalar-header' && source?.includes('+'),
    );
    const note = token.props.find(({ type }) => type === 'comment') as CST.SourceToken | undefined;
    const body = token.props.at(-1) as CST.SourceToken;
    const from = body.offset + body.source.length;
    const content = isKept ? token.source : token.source.replace(/\n[ \n]*$/, '\n');
    const end = from + content.length;
    // The end of the last line stays.
    return {
      start,
      end: this.text[end - 1] === '\n' ? end - 1 : end,
      text: `${quoted}${note ? ` ${note.source}` : ''}`,
    };
  }

  /** Where the last part of a value ends, without the comments behind it. */
  private endOf(node: ParsedNode): number {
    const token = node.srcToken;
    if (isSeq(node) && token?.type === 'block-seq') {
      const last = node.items.at(-1) as ParsedNode | undefined;
      const dash = token.items.at(-1)?.start.findLast(({ type }) => type === 'seq-item-ind');
      return Math.max(last ? this.endOf(last) : 0, (dash?.offset ?? 0) + 1);
    }
    if (isMap(node) && token?.type === 'block-map') {
      const pair = node.items.at(-1) as YamlPair;
      const colon = pair.srcToken?.sep?.find(({ type }) => type === 'map-value-ind');
      return Math.max(pair.value ? this.endOf(pair.value) : 0, pair.key.range[1], (colon?.offset ?? -1) + 1);
    }
    const end = node.range[1];
    return token?.type === 'block-scalar' ? this.text.slice(0, end).trimEnd().length : end;
  }
}

function isSharedWithin(node: ParsedNode | null): boolean {
  if (node === null) return false;
  if (isAlias(node) || node.anchor !== undefined) return true;
  if (isSeq(node)) return (node.items as ParsedNode[]).some(isSharedWithin);
  if (!isMap(node)) return false;
  return (node.items as YamlPair[]).some(
    ({ key, value }) =>
      isSharedWithin(key) || (isScalar(key) && key.source === MERGE_KEY) || isSharedWithin(value),
  );
}

function columnOf(text: string, offset: number): number {
  return offset - (text.lastIndexOf('\n', offset - 1) + 1);
}
