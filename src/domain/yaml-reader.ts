/** Reads YAML 1.2 within limits. Plain scalars are read as dsc reads them, which is as serde_yaml 0.9 does. */

import {
  type Alias,
  Composer,
  type CST,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  type ParsedNode,
  Parser,
  Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { type Ambiguity, ambiguityOf } from './ambiguous-scalars.ts';
import {
  excerpt,
  MAX_DEPTH,
  placeOf,
  refuse,
  requireMapping,
  requireShortNumber,
  requireWellFormed,
  tooComplex,
  visible,
} from './document-text.ts';
import { LibyamlRules } from './libyaml-rules.ts';
import { isNumber, readFloat, readInteger } from './number-text.ts';
import type { Steps, WantedPlaces } from './text-places.ts';
import { escapeToken, type Mapping, type Value } from './value.ts';

/**
 * The greatest number of parts of the text: words, spaces, punctuation. The cost of reading depends on their number, not
 * on bytes: some 2 µs and 400 bytes of memory each. A leaf on a line of its own has 8 parts, with a comment 10.
 */
export const MAX_PARTS = 300_000;

/** The number of nodes that aliases may add to a document. Long texts count as several nodes. */
export const MAX_ALIAS_WEIGHT = 100_000;

/** So many are enough to be told at once. */
const MAX_AMBIGUOUS = 100;
const CHARACTERS_PER_WEIGHT = 16;
const LONGEST_MESSAGE = 200;

const TAGS = 'tag:yaml.org,2002:';
const CORE_TAG = /^tag:yaml\.org,2002:(?:str|null|bool|int|float|map|seq)$/;
const NULL = /^(?:~|null|Null|NULL)?$/;
const TRUE = /^(?:true|True|TRUE)$/;
const FALSE = /^(?:false|False|FALSE)$/;

/** These characters are not allowed anywhere in a stream, quoted or not (YAML 1.2.2, 5.1). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\0-\x08\x0b\x0c\x0e-\x1f]/;

/** What a text may hold. */
interface Limits {
  maxParts: number;
  /** The directives that are read, and in words. */
  directive: RegExp;
  directives: string;
  /** What libyaml refuses, where dsc gets the text itself. */
  libyaml: LibyamlRules | null;
}

const PARAMETER_FILES: Limits = {
  maxParts: MAX_PARTS,
  directive: /^%(?:YAML\s+1\.2|TAG)(?:\s|$)/,
  directives: '"%YAML 1.2" and "%TAG"',
  libyaml: null,
};
/** dsc reads both versions in the same way. */
const ENTRY_POINTS = {
  directive: /^%(?:YAML\s+1\.[12]|TAG)(?:\s|$)/,
  directives: '"%YAML 1.1", "%YAML 1.2" and "%TAG"',
};

const OPTIONS = {
  // All scalars arrive as text. Their types are told here, so that digits and spellings are not lost.
  schema: 'failsafe',
  resolveKnownTags: false,
  // The library compares every key with every other one, which takes quadratic time. Here a Map finds duplicates.
  uniqueKeys: false,
} as const;

type ComposerOptions = ConstructorParameters<typeof Composer>[0];

const WITH_TOKENS = { ...OPTIONS, keepSourceTokens: true } as const;

/**
 * Reads the one document of a YAML stream. Keys become text as written, so that `1: x` has the key "1". `<<` is a key
 * like any other, because the core schema knows no merging. Aliases become the values that they stand for.
 *
 * @throws HawserError `too_complex`, or `validation_failed`: `invalid_yaml`, `duplicate_key`, `complex_key`, `too_deep`,
 *   `too_many_aliases`, `unknown_alias`, `unknown_tag`, `several_documents`, `unknown_directive`, `invalid_text`,
 *   `number_too_long`, `not_a_mapping`
 */
export function readYaml(source: string): Mapping {
  return readParameterYaml(source).document;
}

/** A plain scalar that readers take for different things, and where it stands. */
export interface AmbiguousScalar extends Ambiguity {
  /** A JSON Pointer. */
  path: string;
  text: string;
  /** The offset in the text of the document. */
  offset: number;
}

/** A document, and the values of it that are ambiguous, in their order. Keys are always text. */
export interface ParameterYaml {
  /** With a line feed at the end of each line. All offsets are in it. */
  text: string;
  document: Mapping;
  ambiguous: readonly AmbiguousScalar[];
}

/** Reads a document as `readYaml` does, and tells which of its values readers take for different things. */
export function readParameterYaml(source: string): ParameterYaml {
  const ambiguous: AmbiguousScalar[] = [];
  const { text, document } = read(source, PARAMETER_FILES, { ambiguous });
  return { text, document, ambiguous };
}

/** A document as the nodes of the library, with the tokens that they were made of. */
export interface YamlNodes extends Pick<ParameterYaml, 'text' | 'document'> {
  root: ParsedNode | null;
}

/** Reads a document as `readYaml` does, for whoever changes parts of its text. */
export function readYamlNodes(source: string): YamlNodes {
  return read(source, PARAMETER_FILES, {}, WITH_TOKENS);
}

/** A tag that is not one of the core ones. */
export interface UnreadTag {
  tag: string;
  steps: Steps;
  offset: number;
}

/** A document, and what is known of its text. */
export interface LocatedYaml {
  /** With a line feed at the end of each line. All offsets are in it. */
  text: string;
  document: Mapping;
  tags: readonly UnreadTag[];
  /** Finds the places of the parts that are wanted. */
  locate(wanted: WantedPlaces): void;
}

/**
 * Reads YAML 1.1 or 1.2 as `readYaml` does, but for tags: the value behind one that is not known is read as without it.
 * What libyaml does not read is refused.
 * @param maxParts the greatest number of words and signs
 * @throws as `readYaml`
 */
export function readLocatedYaml(source: string, maxParts: number): LocatedYaml {
  const tags: UnreadTag[] = [];
  const limits = { ...ENTRY_POINTS, maxParts, libyaml: new LibyamlRules() };
  const { text, root, document } = read(source, limits, { tags });
  return { text, document, tags, locate: (wanted) => locate(root, wanted) };
}

function read(source: string, limits: Limits, notes: Notes, options: ComposerOptions = OPTIONS) {
  const text = source.replace(/\r\n?/g, '\n');
  const control = text.search(CONTROL);
  if (control !== -1) refuse(text, control, 'invalid_yaml', 'Control characters are written as escapes.');
  const root = compose(text, limits, options);
  const value = root && new YamlReader(text, notes).readNode(root, 1);
  const document = requireMapping(text, root?.range[0] ?? 0, value);
  const refused = limits.libyaml?.refused(text) ?? null;
  if (refused) refuse(text, refused.offset, 'invalid_yaml', refused.message);
  return { text, root, document };
}

/** Sets the places of the parts that are wanted of this node. The parts of an alias stand where it does. */
function locate(node: ParsedNode | null, wanted: WantedPlaces): void {
  if (node === null) return;
  const value = node.range[0];
  wanted.place ??= { key: null, value };
  if (isAlias(node)) wanted.fill({ key: null, value });
  else if (isSeq<ParsedNode>(node))
    for (const [at, item] of node.items.entries()) locateIn(wanted, at, null, item);
  else if (isMap<ParsedNode, ParsedNode | null>(node))
    for (const { key, value: item } of node.items)
      if (isScalar(key)) locateIn(wanted, (key as Scalar.Parsed).source, key, item);
}

function locateIn(
  wanted: WantedPlaces,
  step: string | number,
  key: ParsedNode | null,
  node: ParsedNode | null,
): void {
  const part = wanted.in(step);
  if (part === undefined) return;
  part.place = { key: key?.range[0] ?? null, value: (node ?? key)?.range[0] ?? 0 };
  locate(node, part);
}

/** The root node of the document; null for an empty stream. */
function compose(text: string, limits: Limits, options: ComposerOptions): ParsedNode | null {
  const composer = new Composer<ParsedNode>(options);
  const [document] = composer.compose(parse(text, limits), true, text.length);
  if (!document) return null;
  // Tags are checked when the nodes are read.
  const warnings = document.warnings.filter(({ code }) => code !== 'TAG_RESOLVE_FAILED');
  const [first] = [...document.errors, ...warnings].sort((a, b) => a.pos[0] - b.pos[0]);
  if (first) refuse(text, first.pos[0], 'invalid_yaml', wordsOf(first.message));
  return document.contents;
}

/** The library repeats what stands behind the header of a block, which may be a secret that misses its line. */
function wordsOf(message: string): string {
  return visible(message.replace(/(?<=extra characters): .*$/s, '').slice(0, LONGEST_MESSAGE));
}

/** The library's tokens. A second document is refused. */
function* parse(text: string, limits: Limits): Generator<CST.Token> {
  let documents = 0;
  for (const token of parseWithinLimits(text, limits)) {
    if (token.type === 'document') documents += 1;
    if (documents > 1) refuse(text, token.offset, 'several_documents', 'A second document starts here.');
    if (token.type === 'error') refuse(text, token.offset, 'invalid_yaml', token.message);
    if (token.type === 'directive' && !limits.directive.test(token.source))
      refuse(text, token.offset, 'unknown_directive', `Only the directives ${limits.directives} are read.`);
    yield token;
  }
}

/** The library's tokens. Reading ends as soon as a limit is passed, so that the rest costs nothing. */
function* parseWithinLimits(text: string, { maxParts, libyaml }: Limits): Generator<CST.Token> {
  const parser = new Parser();
  let parts = 0;
  for (const part of new Lexer().lex(text)) {
    parts += 1;
    if (parts > maxParts)
      throw tooComplex(
        `${placeOf(text, parser.offset)}: The document has more than ${maxParts} words and signs.`,
      );
    libyaml?.look(part, parser);
    yield* parser.next(part);
    // The stack holds the document, each level, and sometimes a scalar.
    if (parser.stack.length > MAX_DEPTH + 2) refuseDepth(text, parser.offset);
  }
  yield* parser.end();
}

function refuseDepth(text: string, offset: number): never {
  return refuse(text, offset, 'too_deep', `The document is more than ${MAX_DEPTH} levels deep.`);
}

type Content = Scalar.Parsed | YAMLMap.Parsed | YAMLSeq.Parsed;

interface Anchored {
  node: Content;
  value: Value;
  weight: number;
  /** The number of levels of mappings and lists in it. */
  height: number;
}

/** What a reader notes beside the values. What it has no list for it does not look for. */
interface Notes {
  /** Takes the values that are ambiguous. */
  ambiguous?: AmbiguousScalar[] | null;
  /** Takes the tags that are not known. Without it they are refused. */
  tags?: UnreadTag[] | null;
}

class YamlReader {
  private readonly text: string;
  private readonly anchors = new Map<string, Anchored>();
  /** The weight of everything read so far, with aliases counted as the values that they stand for. */
  private weight = 0;
  private aliasWeight = 0;
  /** The deepest level reached within the innermost anchored node that is being read. */
  private deepest = 0;
  /** The keys and places that lead to what is being read. */
  private readonly path: (string | number)[] = [];
  private readonly ambiguous: AmbiguousScalar[] | null;
  private readonly tags: UnreadTag[] | null;

  constructor(text: string, { ambiguous = null, tags = null }: Notes) {
    this.text = text;
    this.ambiguous = ambiguous;
    this.tags = tags;
  }

  readNode(node: ParsedNode, depth: number): Value {
    if (isAlias(node)) return this.readAlias(node, depth);
    if (!node.anchor) return this.readContent(node, depth);
    const { weight, deepest } = this;
    this.deepest = depth - 1;
    const value = this.readContent(node, depth);
    const height = this.deepest - depth + 1;
    // The anchor is set after the content was read, because a node may not contain itself.
    this.anchors.set(node.anchor, { node, value, weight: this.weight - weight, height });
    this.deepest = Math.max(deepest, this.deepest);
    return value;
  }

  private readContent(node: Content, depth: number): Value {
    this.weight += 1;
    if (isScalar(node)) return this.readScalar(node);
    if (depth > MAX_DEPTH) refuseDepth(this.text, node.range[0]);
    this.deepest = Math.max(this.deepest, depth);
    const ownTag = isMap(node) ? `${TAGS}map` : `${TAGS}seq`;
    if (node.tag !== undefined && node.tag !== '!' && node.tag !== ownTag) this.noteTag(node);
    if (isMap(node)) return this.readMapping(node, depth);
    return node.items.map((item, at) => this.readBelow(at, item, depth + 1));
  }

  private readBelow(step: string | number, node: ParsedNode, depth: number): Value {
    this.path.push(step);
    const value = this.readNode(node, depth);
    this.path.pop();
    return value;
  }

  private readMapping(node: YAMLMap.Parsed, depth: number): Mapping {
    const mapping = new Map<string, Value>();
    for (const { key, value } of node.items) {
      const name = this.readKey(key, depth + 1);
      if (mapping.has(name))
        this.refuseAt(key, 'duplicate_key', `The key ${excerpt(name)} stands here again.`);
      mapping.set(name, value ? this.readBelow(name, value, depth + 1) : null);
    }
    return mapping;
  }

  private readKey(node: ParsedNode, depth: number): string {
    // The key is read like any other node, to check it and to set its anchor.
    const known = this.ambiguous?.length ?? 0;
    this.readNode(node, depth);
    this.ambiguous?.splice(known);
    const target = isAlias(node) ? this.resolve(node).node : node;
    if (!isScalar(target))
      return this.refuseAt(node, 'complex_key', 'A key must be text, not a mapping or a list.');
    // libyaml finds no key before the colon.
    if (this.tags !== null && target.source === '' && target.type === Scalar.PLAIN)
      return this.refuseAt(node, 'empty_key', 'A key is missing here.');
    return requireWellFormed(this.text, node.range[0], target.source ?? '');
  }

  private readAlias(node: Alias.Parsed, depth: number): Value {
    const { value, weight, height } = this.resolve(node);
    if (depth + height - 1 > MAX_DEPTH) refuseDepth(this.text, node.range[0]);
    this.deepest = Math.max(this.deepest, depth + height - 1);
    this.weight += weight;
    this.aliasWeight += weight;
    if (this.aliasWeight > MAX_ALIAS_WEIGHT)
      this.refuseAt(node, 'too_many_aliases', 'The aliases make the document too large.');
    return value;
  }

  private resolve(node: Alias.Parsed): Anchored {
    return (
      this.anchors.get(node.source) ??
      // What is behind the star may be a secret that lacks its quotes.
      this.refuseAt(node, 'unknown_alias', 'No anchor before this alias has its name.')
    );
  }

  private readScalar(node: Scalar.Parsed): Value {
    const { source } = node;
    this.weight += Math.floor(source.length / CHARACTERS_PER_WEIGHT);
    switch (node.tag) {
      case undefined:
        return node.type === Scalar.PLAIN ? this.readPlain(node) : this.readText(node);
      case '!':
      case `${TAGS}str`:
        return this.readText(node);
      case `${TAGS}null`:
        return NULL.test(source) ? null : this.refuseTag(node);
      case `${TAGS}bool`:
        return TRUE.test(source) || (FALSE.test(source) ? false : this.refuseTag(node));
      case `${TAGS}int`:
        return readInteger(this.requireShort(node)) ?? this.refuseTag(node);
      case `${TAGS}float`:
        return readFloat(this.requireShort(node)) ?? this.refuseTag(node);
      default:
        this.noteTag(node);
        return this.readText(node);
    }
  }

  private readPlain(node: Scalar.Parsed): Value {
    const { source } = node;
    if (this.ambiguous !== null) noteAmbiguous(this.ambiguous, this.path, node);
    if (NULL.test(source)) return null;
    if (TRUE.test(source)) return true;
    if (FALSE.test(source)) return false;
    if (!isNumber(source)) return this.readText(node);
    return readInteger(this.requireShort(node)) ?? readFloat(source);
  }

  private readText(node: Scalar.Parsed): string {
    return requireWellFormed(
      this.text,
      node.range[0],
      this.isUnended(node) ? node.source.slice(0, -1) : node.source,
    );
  }

  /** Whether a block ends with the document, without the end of a line that the library puts there. dsc does not. */
  private isUnended({ type, source, range: [, end] }: Scalar.Parsed): boolean {
    if (type !== Scalar.BLOCK_LITERAL && type !== Scalar.BLOCK_FOLDED) return false;
    return source.endsWith('\n') && end === this.text.length && /[^ \n] *$/.test(this.text);
  }

  private requireShort(node: Scalar.Parsed): string {
    return requireShortNumber(this.text, node.range[0], node.source);
  }

  /** @throws HawserError for a tag that does not suit the value; for one that is not known, where they are refused */
  private noteTag(node: Content): void {
    if (this.tags === null || CORE_TAG.test(node.tag ?? '')) this.refuseTag(node);
    this.tags.push({ tag: shownTag(node), steps: [...this.path], offset: node.range[0] });
  }

  private refuseTag(node: Content): never {
    // Another one may be a secret that lacks its quotes.
    const tag = CORE_TAG.test(node.tag ?? '') ? ` ${shownTag(node)}` : '';
    return this.refuseAt(
      node,
      'unknown_tag',
      `The tag${tag} is not known here, or does not suit this value.`,
    );
  }

  private refuseAt(node: ParsedNode, code: string, message: string): never {
    return refuse(this.text, node.range[0], code, message);
  }
}

function shownTag({ tag }: Content): string {
  return excerpt(tag?.replace(TAGS, '!!') ?? '');
}

function noteAmbiguous(
  found: AmbiguousScalar[],
  steps: readonly (string | number)[],
  { source: text, range: [offset] }: Scalar.Parsed,
): void {
  const ambiguity = found.length < MAX_AMBIGUOUS ? ambiguityOf(text) : null;
  if (ambiguity === null) return;
  const path = steps.map((step) => `/${escapeToken(String(step))}`).join('');
  found.push({ ...ambiguity, path, text, offset });
}
