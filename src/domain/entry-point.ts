/**
 * Reads the entry point of a configuration as dsc does, and tells what it finds: the one reader for uploads, publishing,
 * previews, editors and `hawserctl config check`. The rules stand in docs/versions.md.
 */

import { type FieldError, HawserError } from '../lib/errors.ts';
import { decodeUtf8, excerpt, isList } from './document-text.ts';
import { isExpression, parametersIn } from './dsc-expressions.ts';
import { checkDocument, checkResources } from './dsc-structures.ts';
import { type Finding, type FindingCode, inOrder, isError, type Severity } from './findings.ts';
import { jsonPlaces, readJson } from './json-text.ts';
import { readStrategy } from './merge-strategies.ts';
import { typeNamed } from './parameter-definitions.ts';
import { LineIndex, type Steps, WantedPlaces } from './text-places.ts';
import { escapeToken, isMapping, type Mapping, type Value } from './value.ts';
import { readLocatedYaml, type UnreadTag } from './yaml-reader.ts';

/**
 * The greatest length in characters. A mebibyte of YAML takes a second to read and some 60 MiB of memory.
 */
export const MAX_ENTRY_POINT_LENGTH = 16 * 1024 * 1024;
const MAX_ENTRY_POINT_PARTS = 3_000_000;
/** More findings than these would help nobody. Errors come first. */
const MAX_FINDINGS = 1_000;

/** A finding of a document whose path and whose neighbours are not known. */
export type DocumentFinding = Omit<Finding, 'file'>;

/** A file that the document includes by a relative path. */
export interface Include {
  /** As the document names it. */
  target: string;
  path: string;
  line: number | null;
  column: number | null;
}

export interface EntryPoint {
  /** In order of line. */
  findings: readonly DocumentFinding[];
  includes: readonly Include[];
  /** Null if the document has an Error, but for `bad_merge`: what it says is unknown then. */
  document: Mapping | null;
}

/** What a reader gives of a text that it can read. */
interface Read {
  /** The text that offsets are in. */
  text: string;
  document: Mapping;
  tags: readonly UnreadTag[];
  /** Sets the places of all parts that are wanted. */
  locate(wanted: WantedPlaces): void;
}

/** Something found in a document, before its place is known. */
interface Found {
  steps: Steps;
  /** Whether it is about the key of a member, or about its value. */
  on: 'key' | 'value';
  severity: Severity;
  code: FindingCode;
  message: string;
}

/** What the readers refuse is a fault of syntax, but for these. */
const CODES: Readonly<Record<string, FindingCode>> = {
  invalid_utf8: 'document_encoding',
  several_documents: 'document_shape',
  not_a_mapping: 'document_shape',
};

/** Types of resources, in lower case, whose properties are a document of their own. */
const GROUPS = ['microsoft.dsc/group', 'microsoft.dsc/assertion'];
const INCLUDE = 'microsoft.dsc/include';
const INCLUDED = ['configurationFile', 'parametersFile'];

export function readEntryPoint(bytes: Uint8Array): EntryPoint {
  try {
    return look(bytes);
  } catch (error) {
    if (!(error instanceof HawserError) || error.kind !== 'invalid') throw error;
    return { findings: [toFinding(error)], includes: [], document: null };
  }
}

function look(bytes: Uint8Array): EntryPoint {
  const text = decode(bytes);
  if (typeof text !== 'string') return { findings: [text], includes: [], document: null };
  const read = readText(text);
  const walk = new Walk(read.document);
  const lines = new LineIndex(read.text);
  const wanted = new WantedPlaces();
  const places = walk.found.map(({ steps }) => wanted.want(steps));
  const included = walk.includes.map(({ steps }) => wanted.want(steps));
  read.locate(wanted);
  const lineOf = ({ place }: WantedPlaces, on: 'key' | 'value') =>
    place === null
      ? { line: null, column: null }
      : lines.at((on === 'key' ? place.key : null) ?? place.value);
  const findings = walk.found.map(({ steps, on, ...found }, at) => ({
    ...found,
    path: pointerOf(steps),
    ...lineOf(places[at] as WantedPlaces, on),
  }));
  const unread = read.tags.map((tag) => ({ ...describeTag(tag), ...lines.at(tag.offset) }));
  const includes = walk.includes.map(({ steps, target }, at) => ({
    ...{ target, path: pointerOf(steps) },
    ...lineOf(included[at] as WantedPlaces, 'value'),
  }));
  const all = bounded([...findings, ...unread]);
  return { findings: all, includes, document: all.some(isUnknowable) ? null : read.document };
}

/** How parameters merge counts as absent where it is faulty, and all else the document says is known. */
function isUnknowable(finding: DocumentFinding): boolean {
  return isError(finding) && finding.code !== 'bad_merge';
}

function bounded(findings: readonly DocumentFinding[]): readonly DocumentFinding[] {
  const kept = [...findings.filter(isError), ...findings.filter((each) => !isError(each))];
  return inOrder(kept.slice(0, MAX_FINDINGS));
}

/** The text without the byte order mark, or what is wrong with its bytes. */
function decode(bytes: Uint8Array): string | DocumentFinding {
  if (isUtf16(bytes)) {
    const message =
      'The document is UTF-16, and dsc reads UTF-8 only. Save it as UTF-8: in editors by "Save with encoding", ' +
      'in Windows PowerShell by `Set-Content -Encoding utf8`.';
    return { severity: 'Error', code: 'document_encoding', message, path: null, line: 1, column: 1 };
  }
  const text = decodeUtf8(bytes);
  if (text.length <= MAX_ENTRY_POINT_LENGTH) return text;
  const message =
    `The document has more than ${MAX_ENTRY_POINT_LENGTH} characters, which is more than is read here. Divide it, ` +
    'and include the parts with Microsoft.DSC/Include.';
  return { severity: 'Error', code: 'document_syntax', message, path: null, line: null, column: null };
}

/** By its byte order mark, or by the zero that each sign of ASCII has in UTF-16. */
function isUtf16([first, second, third, fourth]: Uint8Array): boolean {
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return true;
  return (first === 0 && second !== 0 && third === 0) || (first !== 0 && second === 0 && fourth === 0);
}

/** JSON, or else YAML, whatever the file is called. */
function readText(text: string): Read {
  try {
    const document = readJson(text);
    return { text, document, tags: [], locate: (wanted) => jsonPlaces(text, wanted) };
  } catch (error) {
    if (codeOf(error) !== 'invalid_json') throw error;
    return readYamlOr(text, error);
  }
}

/** @param fault why the text is no JSON. It is told of a text that is neither, and begins as JSON does. */
function readYamlOr(text: string, fault: unknown): Read {
  try {
    return readLocatedYaml(text, MAX_ENTRY_POINT_PARTS);
  } catch (error) {
    const isMeantAsJson = /^\s*[{[]/.test(text) && codeOf(error) === 'invalid_yaml';
    throw isMeantAsJson ? fault : error;
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof HawserError ? faultOf(error)?.code : undefined;
}

function faultOf({ data }: HawserError): FieldError | undefined {
  return (data['errors'] as readonly FieldError[] | undefined)?.[0];
}

/** What a reader has refused. */
function toFinding(error: HawserError): DocumentFinding {
  const fault = faultOf(error);
  return {
    severity: 'Error',
    code: CODES[fault?.code ?? ''] ?? 'document_syntax',
    message: (fault?.message ?? error.message).replace(/^Line \d+, column \d+: /, ''),
    path: null,
    line: fault?.line ?? null,
    column: fault?.column ?? null,
  };
}

function describeTag({ tag, steps }: UnreadTag): Omit<DocumentFinding, 'line' | 'column'> {
  const message = `The tag ${tag} means nothing here: the value is taken as the text behind it.`;
  return { severity: 'Warning', code: 'tag_not_read', message, path: pointerOf(steps) };
}

function pointerOf(steps: Steps): string {
  return steps.map((step) => `/${escapeToken(String(step))}`).join('');
}

/** Walks through a document and its groups once, and notes what it finds. */
class Walk {
  readonly found: Found[] = [];
  readonly includes: { steps: Steps; target: string }[] = [];

  constructor(document: Mapping) {
    checkDocument(document, (steps, found) => this.tell(steps, found));
    this.lookAtParameters(document, []);
    this.lookAtMerging(document);
    const declared = declaredIn(document, new Set());
    this.lookAtResources(document.get('resources'), ['resources'], declared);
    for (const [key, value] of document) {
      if (key === 'resources') continue;
      if (key === 'functions') this.lookAtFunctions(value);
      else this.lookForParameters(value, [key], declared);
    }
  }

  private tell(
    steps: Steps,
    found: Omit<Found, 'steps' | 'on'>,
    on: Found['on'] = found.code === 'unknown_member' ? 'key' : 'value',
  ): void {
    this.found.push({ ...found, steps, on });
  }

  private warn(steps: Steps, code: FindingCode, message: string, on?: Found['on']): void {
    this.tell(steps, { severity: 'Warning', code, message }, on);
  }

  private lookAtParameters(document: Mapping, above: Steps): void {
    const parameters = document.get('parameters');
    if (!isMapping(parameters)) return;
    for (const [name, definition] of parameters) {
      if (!isMapping(definition) || !/^secure(?:string|object)$/i.test(String(definition.get('type'))))
        continue;
      const value = definition.get('defaultValue') ?? null;
      if (value === null || (typeof value === 'string' && isExpression(value))) continue;
      const message =
        'The default value of a secure parameter stands in the clear in every clone. Set it in a parameter file.';
      this.warn([...above, 'parameters', name, 'defaultValue'], 'secret_default', message, 'key');
    }
  }

  /** Parameters of groups are none that scopes set. */
  private lookAtMerging(document: Mapping): void {
    const parameters = document.get('parameters');
    if (!isMapping(parameters)) return;
    for (const [name, definition] of parameters) {
      if (!isMapping(definition)) continue;
      const { faults } = readStrategy(definition, typeNamed(definition.get('type')));
      for (const { steps, message } of faults) {
        const sentence = `${message}. What stands here counts as absent: see docs/merging.md.`;
        this.tell(['parameters', name, ...steps], {
          severity: 'Error',
          code: 'bad_merge',
          message: sentence,
        });
      }
    }
  }

  private lookAtResources(list: Value | undefined, steps: Steps, declared: ReadonlySet<string>): void {
    if (list === undefined || !isList(list)) return;
    const names = new Set<string>();
    for (const [at, resource] of list.entries()) {
      const here = [...steps, at];
      if (!isMapping(resource)) continue;
      this.lookAtName(resource, here, names);
      this.lookAtResource(resource, here, declared);
    }
  }

  private lookAtName(resource: Mapping, steps: Steps, names: Set<string>): void {
    const [type, name = ''] = [resource.get('type'), resource.get('name')];
    if (typeof type !== 'string' || typeof name !== 'string') return;
    const key = `${type.toLowerCase()} ${name}`;
    if (names.has(key)) {
      const message =
        'A resource before this one in the list has the same type and name. Give it another name.';
      this.warn(steps, 'duplicate_name', message);
    }
    names.add(key);
  }

  private lookAtResource(resource: Mapping, steps: Steps, declared: ReadonlySet<string>): void {
    const type = String(resource.get('type')).toLowerCase();
    const properties = resource.get('properties');
    if (type === INCLUDE && isMapping(properties)) this.lookAtInclude(properties, [...steps, 'properties']);
    const isGroup = GROUPS.includes(type);
    for (const [key, value] of resource) {
      const here = [...steps, key];
      if (key === 'resources') this.lookAtResources(value, here, declared);
      else if (key === 'properties' && isGroup && isMapping(value)) this.lookAtGroup(value, here, declared);
      else this.lookForParameters(value, here, declared);
    }
  }

  /** The properties of a group hold resources as a document does, and may declare parameters of their own. */
  private lookAtGroup(properties: Mapping, steps: Steps, above: ReadonlySet<string>): void {
    const declared = declaredIn(properties, above);
    for (const [key, value] of properties) {
      const here = [...steps, key];
      if (key !== 'resources') {
        this.lookForParameters(value, here, declared);
        continue;
      }
      checkResources(value, here, (at, found) => this.tell(at, found));
      this.lookAtResources(value, here, declared);
    }
    this.lookAtParameters(properties, steps);
  }

  private lookAtInclude(properties: Mapping, steps: Steps): void {
    for (const member of INCLUDED) {
      const target = properties.get(member);
      if (typeof target !== 'string' || target === '' || target.startsWith('[')) continue;
      // An absolute path begins with a slash, of either kind, or with a drive.
      if (/^(?:[\\/]|[A-Za-z]:)/.test(target)) continue;
      this.includes.push({ steps: [...steps, member], target });
    }
  }

  /** In the output of a function its own parameters count, and no others. */
  private lookAtFunctions(functions: Value): void {
    if (!isList(functions)) return;
    for (const [at, space] of functions.entries()) {
      const members = isMapping(space) ? space.get('members') : undefined;
      if (!isMapping(members)) continue;
      for (const [name, member] of members)
        if (isMapping(member)) this.lookAtFunction(member, ['functions', at, 'members', name]);
    }
  }

  private lookAtFunction(member: Mapping, steps: Steps): void {
    const parameters = member.get('parameters') ?? null;
    const names = isList(parameters) ? parameters.map((each) => isMapping(each) && each.get('name')) : [];
    const own = new Set(names.filter((name) => typeof name === 'string'));
    this.lookForParameters(member.get('output') ?? null, [...steps, 'output'], own);
  }

  private lookForParameters(value: Value, steps: Steps, declared: ReadonlySet<string>): void {
    if (typeof value === 'string') {
      if (!isExpression(value)) return;
      for (const name of new Set(parametersIn(value)))
        if (!declared.has(name)) this.warn(steps, 'undeclared_parameter', undeclared(name));
    } else if (isList(value))
      for (const [at, item] of value.entries()) this.lookForParameters(item, [...steps, at], declared);
    else if (isMapping(value))
      for (const [key, item] of value) this.lookForParameters(item, [...steps, key], declared);
  }
}

function undeclared(name: string): string {
  return `The document does not declare the parameter ${excerpt(name)}. Declare it in \`parameters\`, or correct its name.`;
}

function declaredIn(document: Mapping, above: ReadonlySet<string>): ReadonlySet<string> {
  const parameters = document.get('parameters');
  return isMapping(parameters) ? new Set([...above, ...parameters.keys()]) : above;
}
