/**
 * Encrypts the secure leaves of parameter files that come in, and opens those of files that are stored. These functions and
 * those of sealed-text.ts are the only ones that turn secrets into texts and back (docs/decisions/0077).
 */

import { isList } from '../domain/document-text.ts';
import { printAsWritten, readJsonValue } from '../domain/json-text.ts';
import { type LeafSpan, spanLeaves } from '../domain/leaf-spans.ts';
import { readDocument } from '../domain/parameter-document.ts';
import { isSameValue } from '../domain/same-value.ts';
import { isSecretAt, type SecretNames } from '../domain/secrets.ts';
import {
  escapeToken,
  Float,
  inTheClear,
  isMapping,
  isSealed,
  type Mapping,
  Secret,
  SecretMapping,
  type Value,
} from '../domain/value.ts';
import { conflict, type FieldError, HawserError, internal, invalid } from '../lib/errors.ts';
import { Plaintext } from '../lib/plaintext.ts';
import {
  type EvidenceKey,
  open,
  type SecretKey,
  seal,
  sealedKeyId,
  secretKeyMissing,
} from '../lib/sealed-text.ts';
import type { DocumentSource, SeriesPlace } from './document-source.ts';

/** The keys that are there. */
export interface KeyRing {
  /** Grows whenever the keys change, so that nothing is remembered that was opened by others. */
  readonly generation: number;
  /** Null for a key that is not there. */
  key(id: string): SecretKey | null;
  /** @throws HawserError unavailable `secret_key_missing` */
  evidenceKey(): EvidenceKey;
}

/** An encrypted text that cannot be opened where it stands. */
export interface UnreadableLeaf {
  pointer: string;
  keyId: string;
  /** Whether its key is not there. */
  isKeyMissing: boolean;
}

/** What a parameter file holds of secrets. */
export interface SecretSurvey {
  /** The pointers of secure leaves in the clear. */
  clear: readonly string[];
  /** The ids of the keys of the texts in it. */
  keyIds: readonly string[];
  unreadable: readonly UnreadableLeaf[];
  /** Secure leaves that cannot be encrypted as they are written. */
  faults: readonly FieldError[];
}

const MAX_FAULTS = 100;
/** Texts that dsc replaces on the node by what is stored elsewhere. They are no secrets. */
const PASSED =
  /^\[(?:secret\((?:'(?:[^'\r\n]|'')+')(?:, ?'(?:[^'\r\n]|'')+')?\)|envvar\('(?:[^'\r\n]|'')+'\))\]$/;

/** Begins each text that is encrypted. What lacks it needs no look. */
export const SEALED_BEGIN = 'ENC[';

/** The document with its encrypted texts as secrets, also those within lists. One that does not open says so when it is asked. */
export function openLeaves(document: Mapping, place: SeriesPlace, keys: KeyRing): Mapping {
  return openWithin(document, '', place, keys) as Mapping;
}

function openWithin(value: Value, pointer: string, place: SeriesPlace, keys: KeyRing): Value {
  if (typeof value === 'string') return openText(value, pointer, place, keys);
  if (value === null || typeof value !== 'object') return value;
  if (isList(value)) {
    const items = value.map((item, at) => openWithin(item, `${pointer}/${at}`, place, keys));
    return items.every((item, at) => item === value[at]) ? value : items;
  }
  if (!isMapping(value)) return value;
  let opened: Map<string, Value> | null = null;
  for (const [key, item] of value) {
    const own = openWithin(item, `${pointer}/${escapeToken(key)}`, place, keys);
    if (own === item) continue;
    opened ??= new Map(value);
    opened.set(key, own);
  }
  return opened ?? value;
}

function openText(text: string, pointer: string, place: SeriesPlace, keys: KeyRing): Value {
  const id = text.startsWith(SEALED_BEGIN) ? sealedKeyId(text) : null;
  if (id === null) return text;
  const key = keys.key(id);
  if (key === null) return new Secret(text, { fault: secretKeyMissing(id) });
  try {
    const value = readJsonValue(open(key, { ...place, pointer }, text).reveal());
    return isMapping(value) && value.size === 0 ? new SecretMapping(text) : new Secret(text, { value });
  } catch (error) {
    if (!(error instanceof HawserError)) throw error;
    const isOurs = error.code === 'secret_unreadable';
    return new Secret(text, { fault: isOurs ? error : unreadable(pointer) });
  }
}

/** The error without its cause, which may quote the value. */
function unreadable(pointer: string): HawserError {
  const message = `The encrypted text at ${pointer} holds no value`;
  return new HawserError('conflict', 'secret_unreadable', message, { data: { path: pointer } });
}

/**
 * @param place null for a document without encrypted texts
 * @param secure the names of the parameters whose leaves are secrets; `all` means every leaf of the file
 */
export function surveyLeaves(
  { bytes, type }: DocumentSource,
  { place, secure, keys }: { place: SeriesPlace | null; secure: SecretNames; keys: KeyRing },
): SecretSurvey {
  const { document, leaves } = spanLeaves(bytes, type);
  const faults: FieldError[] = [];
  const clear: string[] = [];
  for (const leaf of leaves) {
    if (!isSecure(leaf, secure)) continue;
    const isStored = typeof leaf.value === 'string' && sealedKeyId(leaf.value) !== null;
    if (!isStored) clear.push(leaf.pointer);
    if (faults.length < MAX_FAULTS) faults.push(...faultsOf(leaf));
  }
  const found = place === null ? [] : collectSealed(openLeaves(document, place, keys));
  return { clear, keyIds: keyIdsIn(found), unreadable: unreadableIn(found, keys), faults };
}

/** What a document that is stored holds of secrets. @param document with its encrypted texts opened */
export function judgeLeaves(
  document: Mapping,
  { secure, keys }: { secure: SecretNames; keys: KeyRing },
): Pick<SecretSurvey, 'clear' | 'keyIds' | 'unreadable'> {
  const clear: string[] = [];
  const walk = (mapping: Mapping, pointer: string) => {
    for (const [key, value] of mapping) {
      const own = `${pointer}/${escapeToken(key)}`;
      if (isMapping(value) && value.size > 0) walk(value, own);
      else if (!isSealed(value) && isSecure({ pointer: own, value }, secure)) clear.push(own);
    }
  };
  walk(document, '');
  const found = collectSealed(document);
  return { clear, keyIds: keyIdsIn(found), unreadable: unreadableIn(found, keys) };
}

function keyIdsIn(found: readonly SealedLeaf[]): string[] {
  return [...new Set(found.map(({ text }) => sealedKeyId(text) ?? ''))];
}

function unreadableIn(found: readonly SealedLeaf[], keys: KeyRing): UnreadableLeaf[] {
  return found.flatMap(({ pointer, text, isOpen }) => {
    const keyId = sealedKeyId(text) ?? '';
    return isOpen ? [] : [{ pointer, keyId, isKeyMissing: keys.key(keyId) === null }];
  });
}

/** Whether the leaf is a secret, in the clear or not. */
function isSecure({ pointer, value }: Pick<LeafSpan, 'pointer' | 'value'>, secure: SecretNames): boolean {
  const isNamed = secure === 'all' || isSecretAt(pointer, secure);
  return isNamed && !(typeof value === 'string' && PASSED.test(value));
}

function faultsOf({ pointer: path, value, isShared }: LeafSpan): FieldError[] {
  const code = 'secret_alias';
  if (isShared) {
    const message =
      'A secret takes no anchor, alias or merge key at, around or within it; write the value itself';
    return [{ path, message, code }];
  }
  if (isInJson(value)) return [];
  return [{ path, message: 'A secret takes no .inf and no .nan, which JSON does not have', code }];
}

function isInJson(value: Value): boolean {
  if (value instanceof Float) return Number.isFinite(value.value);
  return isList(value) ? value.every(isInJson) : !isMapping(value) || [...value.values()].every(isInJson);
}

interface SealedLeaf {
  pointer: string;
  text: string;
  isOpen: boolean;
}

function collectSealed(value: Value, pointer = '', found: SealedLeaf[] = []): SealedLeaf[] {
  if (isSealed(value))
    found.push({ pointer, text: value.text, isOpen: value instanceof SecretMapping || value.isOpen });
  else if (isList(value))
    for (const [at, item] of value.entries()) collectSealed(item, `${pointer}/${at}`, found);
  else if (isMapping(value))
    for (const [key, item] of value) collectSealed(item, `${pointer}/${escapeToken(key)}`, found);
  return found;
}

export interface Sealing {
  place: SeriesPlace;
  secure: SecretNames;
  /** The key that encrypts. */
  key: SecretKey;
  keys: KeyRing;
  /** Earlier content of the file, opened. A leaf that is the same there keeps its text; the first one counts most. */
  earlier: readonly Mapping[];
  /** Whether what another key has encrypted is encrypted anew. */
  rekeys: boolean;
}

/**
 * The file with its secure leaves encrypted. All other bytes stay.
 * @param source as it came in, which `surveyLeaves` finds no fault with
 * @throws HawserError invalid where the file is too large then; conflict `secret_unreadable` for a text within a list that is
 *   to be encrypted anew and is written with escapes
 */
export function sealLeaves({ bytes, type }: DocumentSource, sealing: Sealing): Buffer {
  const { document, leaves, apply } = spanLeaves(bytes, type);
  const texts = new Map<string, string>();
  const edits = leaves.flatMap((leaf) => {
    const { pointer, value, edit } = leaf;
    const isStored = typeof value === 'string' && sealedKeyId(value) !== null;
    const isMeant = isStored ? isToRekey(value, sealing) : isSecure(leaf, sealing.secure);
    if (isMeant && edit === null)
      throw invalid('validation_failed', 'A secret stands behind an alias', faultsOf(leaf));
    if (edit === null) return [];
    if (!isMeant) return [];
    const text = textFor(pointer, value, sealing);
    texts.set(pointer, text);
    return [edit(`"${text}"`)];
  });
  const sealed = rekeyLists(apply(edits), leaves, texts, sealing);
  const written = readDocument(sealed, type).document;
  // The text was changed in places, so it is looked at whether it says what it is to say.
  if (!isSameValue(withTexts(document, '', texts), written))
    throw internal(
      'internal_error',
      'A file with secrets was not encrypted, as it would be read otherwise then',
    );
  return sealed;
}

function textFor(pointer: string, value: Value, sealing: Sealing): string {
  const { place, key, keys, earlier } = sealing;
  const json = printAsWritten(inTheClear(openWithin(value, pointer, place, keys)));
  for (const document of earlier) {
    const known = valueAt(document, pointer);
    if (!isSealed(known) || isToRekey(known.text, sealing)) continue;
    if (known instanceof SecretMapping && json === '{}') return known.text;
    if (known instanceof Secret && known.isOpen && printAsWritten(inTheClear(known)) === json)
      return known.text;
  }
  return seal(key, { ...place, pointer }, new Plaintext(json));
}

/** Whether a text that is stored is to be encrypted anew. */
function isToRekey(text: string, { rekeys, key }: Sealing): boolean {
  return rekeys && sealedKeyId(text) !== key.id;
}

/** A list is one leaf, so what is encrypted within one that is no secret has no place of its own: it is found by its text. */
function rekeyLists(
  bytes: Buffer,
  leaves: readonly LeafSpan[],
  texts: Map<string, string>,
  sealing: Sealing,
): Buffer {
  if (!sealing.rekeys) return bytes;
  let sealed = bytes.toString();
  for (const { pointer: list, value } of leaves) {
    if (texts.has(list) || !isList(value)) continue;
    for (const { pointer, text } of collectSealed(
      openWithin(value, list, sealing.place, sealing.keys),
      list,
    )) {
      if (!isToRekey(text, sealing)) continue;
      if (!sealed.includes(text)) {
        const message = `The encrypted text at ${pointer} is written with escapes; save the file with the text as it is`;
        throw conflict('secret_unreadable', message, { path: pointer });
      }
      const anew = textFor(pointer, text, sealing);
      sealed = sealed.replaceAll(text, anew);
      texts.set(pointer, anew);
    }
  }
  return Buffer.from(sealed);
}

/** The value at a JSON Pointer; undefined where there is none. Lists are entered by their indexes. */
export function valueAt(document: Mapping, pointer: string): Value | undefined {
  let value: Value | undefined = document;
  for (const token of pointer.split('/').slice(1)) {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~');
    if (isMapping(value)) value = value.get(key);
    else if (value !== undefined && isList(value) && /^(?:0|[1-9]\d*)$/.test(key)) value = value[Number(key)];
    else return undefined;
  }
  return value;
}

/**
 * The text for a value at a JSON Pointer.
 * @param json of one value
 * @throws HawserError invalid for a value that no document may hold
 */
export function sealValue(json: string, pointer: string, place: SeriesPlace, key: SecretKey): string {
  return seal(key, { ...place, pointer }, new Plaintext(printAsWritten(readJsonValue(json))));
}

/** The JSON text of a leaf that is a secret, encrypted or in the clear; null for any other value. */
export function revealLeaf(value: Value, pointer: string, secure: SecretNames): string | null {
  if (isSealed(value)) return printAsWritten(inTheClear(value));
  if ((isMapping(value) && value.size > 0) || !isSecure({ pointer, value }, secure)) return null;
  return printAsWritten(inTheClear(value));
}

function withTexts(mapping: Mapping, pointer: string, texts: ReadonlyMap<string, string>): Mapping {
  return new Map(
    Array.from(mapping, ([key, value]) => [key, withText(value, `${pointer}/${escapeToken(key)}`, texts)]),
  );
}

function withText(value: Value, pointer: string, texts: ReadonlyMap<string, string>): Value {
  const text = texts.get(pointer);
  if (text !== undefined) return text;
  if (value !== null && typeof value === 'object' && isList(value))
    return value.map((item, at) => withText(item, `${pointer}/${at}`, texts));
  return isMapping(value) && value.size > 0 ? withTexts(value, pointer, texts) : value;
}
