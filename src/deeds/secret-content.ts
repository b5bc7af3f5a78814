/** What a parameter file that comes in holds of secrets: which leaves are secrets, and how they are encrypted before it is stored. */

import type { SecretNames } from '../domain/secrets.ts';
import { majorOf } from '../domain/version-order.ts';
import { conflict, HawserError, invalid } from '../lib/errors.ts';
import { secretKeyMissing } from '../lib/sealed-text.ts';
import type { Declared } from '../resolve/declared.ts';
import type { DocumentSource } from '../resolve/document-source.ts';
import type { DocumentRunner } from '../resolve/documents.ts';
import type { ParameterReader } from '../resolve/parameters.ts';
import type { SchemaReader } from '../resolve/schemas.ts';
import type { SecretSurvey, UnreadableLeaf } from '../resolve/secret-leaves.ts';
import { secretsIn } from '../resolve/secret-names.ts';
import type { SecretStore } from '../security/secrets/secret-store.ts';
import type { VersionRef } from '../versions/store.ts';
import { newContent, type ReadContent, requireClearContent } from './parameter-content.ts';

export interface SecretTools {
  parameters: ParameterReader;
  schemas: SchemaReader;
  documents: DocumentRunner;
  secrets: Pick<SecretStore, 'missing' | 'sealingKey' | 'noteUse'>;
}

/** A file of a configuration, and in whose turn it is read. */
export interface SecretFile {
  configurationName: string;
  /** The name that `seriesOf` gives. */
  series: string;
  version: string;
  /** The id of the user. */
  caller: string;
}

/** What comes in as the content of a file, before it is encrypted. */
export interface IncomingContent {
  content: ReadContent;
  secure: SecretNames;
  survey: SecretSurvey;
  /** The content with the encrypted texts in it opened, to be checked. */
  opened: DocumentSource;
}

/** So many pointers stand in a message. */
const NAMED = 10;

/**
 * The parameters whose leaves are secrets in a file of this version: those that the schema says that checks the file, as a
 * draft too, and the one that publishing asks, with the published one below it where that is a draft. Where there is no schema,
 * those that any version declares secure, so all of them where it is unknown what some version declares.
 */
export async function secureNamesFor(
  { schemas }: Pick<SecretTools, 'schemas'>,
  { configurationName: name, version, caller }: Omit<SecretFile, 'series'>,
): Promise<SecretNames> {
  const major = majorOf(version);
  const all: Declared[] = [];
  if (major !== null) {
    for (const isDraft of [true, false]) all.push(await schemas.forMajor(name, major, caller, { isDraft }));
    // A draft of the configuration opens nothing.
    const below = await schemas.belowDraft(name, major, caller);
    if (below !== null) all.push(below);
  }
  const hasNone = all.length === 0 || all.some(({ kind }) => kind === 'nothing');
  if (!hasNone) return secretsIn(all);
  return secretsIn([...all, ...(await schemas.declaredByAny(name, caller))]);
}

/**
 * Finds the secrets of content that is to be stored.
 * @param secure as `secureNamesFor`
 * @throws HawserError invalid `validation_failed` with `secret_alias` for secrets that cannot be encrypted as they are
 *   written, `secret_unreadable` for a text that does not open there; unavailable `secret_key_missing`
 */
export async function surveyContent(
  tools: SecretTools,
  file: SecretFile,
  content: ReadContent,
  secure: SecretNames,
): Promise<IncomingContent> {
  requireClearContent(content, secure);
  const { document } = content;
  // What holds nothing encrypted need not know where that opens.
  const place = document.maySeal ? await tools.parameters.placeOf(file.configurationName, file.series) : null;
  const survey = await tools.documents.run(file.caller, 'surveySecrets', { document, place, secure });
  const { faults, unreadable } = survey;
  if (faults.length > 0)
    throw invalid('validation_failed', 'Some secrets cannot be encrypted as they are written', [...faults]);
  if (unreadable.length > 0) throw await unreadableIn(tools, unreadable);
  return { content, secure, survey, opened: place ? tools.parameters.opened(document, place) : document };
}

async function unreadableIn(
  { secrets }: Pick<SecretTools, 'secrets'>,
  unreadable: readonly UnreadableLeaf[],
): Promise<HawserError> {
  const missing = await secrets.missing();
  const lost = unreadable.find(({ keyId }) => missing.includes(keyId));
  if (lost) return secretKeyMissing(lost.keyId);
  const told = 'This encrypted text cannot be opened here: it was changed, or is of another place or key';
  const errors = unreadable.map(({ pointer: path }) => ({ path, message: told, code: 'secret_unreadable' }));
  const [first] = errors;
  const message = `The encrypted text at ${first?.path} cannot be opened there; give the value itself, or what "encrypt" gives for it`;
  return new HawserError('invalid', 'secret_unreadable', message, { data: { path: first?.path, errors } });
}

/**
 * The content as it is stored: with all of its secrets encrypted. One that is what it was in an earlier version keeps its text.
 * @param earlier the draft that is replaced and the highest published version, where they are there
 * @param rekeys whether what another key has encrypted is encrypted anew
 * @throws HawserError unavailable `secret_key_missing` or `upgrade_incomplete`
 */
export async function sealContent(
  { parameters, documents, secrets }: SecretTools,
  { configurationName, series, caller }: SecretFile,
  { content, secure, survey }: IncomingContent,
  earlier: readonly VersionRef[],
  rekeys = false,
): Promise<ReadContent> {
  await secrets.noteUse(survey.keyIds);
  if (survey.clear.length === 0 && !rekeys) return content;
  const key = await secrets.sealingKey();
  const place = await parameters.placeOf(configurationName, series);
  const before: DocumentSource[] = [];
  for (const ref of earlier) {
    const source = await parameters.source(configurationName, ref);
    if (source !== null) before.push(source);
  }
  const { document, type } = content;
  const sealing = { document, place, secure, key, earlier: before, rekeys };
  const bytes = await documents.run(caller, 'sealSecrets', sealing);
  return newContent(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), type);
}

/**
 * Why content that is stored cannot be published as it is: secrets in the clear, or encrypted texts that do not open.
 * @param document with its secrets opened at its place
 * @param secure as `secureNamesFor`
 */
export async function secretBlockers(
  tools: SecretTools,
  { caller }: Pick<SecretFile, 'caller'>,
  document: DocumentSource,
  secure: SecretNames,
): Promise<HawserError[]> {
  const found = await tools.documents.run(caller, 'judgeSecrets', { document, secure });
  const blockers: HawserError[] = [];
  if (found.clear.length > 0) blockers.push(secretInClear(found.clear));
  const [lost] = found.unreadable;
  if (lost?.isKeyMissing) blockers.push(secretKeyMissing(lost.keyId));
  else if (lost) {
    const message = `The encrypted text at ${lost.pointer} cannot be opened there; save the draft with another value`;
    blockers.push(conflict('secret_unreadable', message, { path: lost.pointer }));
  }
  return blockers;
}

/**
 * The refusal of content with secrets in the clear. It names their places, and never their values.
 * @param file where an earlier commit of a push has them
 */
export function secretInClear(paths: readonly string[], file?: string): HawserError {
  const named = paths.slice(0, NAMED).join(', ');
  const more = paths.length > NAMED ? ` and ${paths.length - NAMED} more` : '';
  const message =
    `Secrets stand in the clear at ${named}${more}${file === undefined ? '' : ` of ${file} in a commit`}. ` +
    'Save the draft again, which encrypts them; ' +
    'for a push, encrypt each one first with "hawserctl secret encrypt" or POST .../encrypt';
  return conflict('secret_in_clear', message, { paths: paths.slice(0, NAMED) });
}
