/**
 * Drafts of parameter files, their publishing, and uploaded schemas. Everything is checked under the lock of the
 * configuration's parameters.
 */

import type { Db } from '../db/database.ts';
import type { ScopeTypeRow } from '../db/scope-types.ts';
import type { GrantLevel } from '../domain/permissions.ts';
import { sameVersion } from '../domain/version-order.ts';
import { damagedRepository } from '../git/disk-errors.ts';
import { tidyText } from '../git/trailers.ts';
import { refuseGone } from '../lib/client-gone.ts';
import { conflict, type HawserError, invalid, notFound } from '../lib/errors.ts';
import { sha256Hex } from '../lib/hash.ts';
import { paced } from '../lib/pace.ts';
import { DESCRIBE_UNKNOWN } from '../resolve/declared.ts';
import type { DocumentSource } from '../resolve/document-source.ts';
import type { CompatibilityGuard } from '../resolve/schema-compatibility.ts';
import { requireSeries } from '../security/series-rights.ts';
import { authorVersions, type VersionAuthor } from '../versions/author.ts';
import { SCHEMA_SERIES } from '../versions/kinds.ts';
import { contentOf, seriesOf } from '../versions/parameter-files.ts';
import type { Target } from '../versions/rows.ts';
import type { SortedVersions } from '../versions/sorted-versions.ts';
import type { ParameterDetails, ParameterScope, VersionRef } from '../versions/store.ts';
import type { VersionDetails } from '../versions/types.ts';
import type { ParameterSource } from '../versions/version-source.ts';
import { type CheckedFile, type CheckTools, FileChecks, type ParameterTools } from './parameter-checks.ts';
import type { ReadContent } from './parameter-content.ts';
import {
  defineValue,
  defineValues,
  ownerOf,
  requireEnabledType,
  requireScopeType,
  type ScopeTypeChoice,
  scopeNamed,
  scopeToWrite,
  type WantedScope,
} from './parameter-scopes.ts';
import { requireDoneAlone } from './protection.ts';
import {
  type IncomingContent,
  type SecretFile,
  sealContent,
  secretBlockers,
  surveyContent,
} from './secret-content.ts';

export type FileTarget = Target<'parameters'>;
export type SchemaTools = ParameterTools & { compatibility: CompatibilityGuard };
type Author = VersionAuthor<'parameters'>;

/** Names a version of a scope. */
export interface FileName {
  type: ScopeTypeChoice;
  scopeValue?: string | null | undefined;
  version: string;
}

/** What is to be stored as a version. */
export interface SavedContent {
  /** It is null if the file skips its scope on purpose. */
  content: ReadContent | null;
  /** Why. By default a draft that is there keeps its message. */
  message?: string | undefined;
  /** Is asked, under the lock, before a draft that is there is given other content. It refuses that by throwing. */
  replacing?(draft: VersionRef): Promise<void>;
  /** Whether it is published at once. */
  publish?: boolean;
}

/** A version after a change, with what the answer says of it. */
export interface ChangedFile {
  type: ScopeTypeRow;
  scope: ParameterScope;
  details: ParameterDetails;
  needsMigration: boolean;
}

/**
 * Makes a draft or replaces its content, and publishes it if `publish` is set. Nothing is written unless both can be
 * done. Content that the draft has already is not written again.
 * @throws HawserError not_found; invalid for the scope's value, or with what the schema finds in mode Strict; conflict
 *   `scope_type_disabled`, `published_version`, `version_exists` or `change_set_required`; as `surveyContent` and `sealContent`
 */
export function saveFile(
  tools: ParameterTools,
  target: FileTarget,
  file: FileName,
  { content, message, publish = false, replacing }: SavedContent,
): Promise<ChangedFile & { isNew: boolean }> {
  const { version } = file;
  return authorVersions(tools, target, async (author) => {
    const found = await requireFile(tools, target, file, 'Modify');
    if (publish) await requireDoneAlone(tools, target.actor, publishing(target, found, version));
    const status = publish ? 'Published' : 'Draft';
    const checked = await checkFile(tools, target, { ...file, status }, content);
    const { type, wanted, needsMigration, incoming } = checked;
    // This check comes before anything is written. The author repeats it.
    const draft = author.findDraft(version, seriesOf(wanted.scope));
    if (draft) await replacing?.(draft);
    await requireSealing(tools, [incoming]);
    refuseGone(target.gone);
    const stored = await storeChecked(tools, target, author, { ...checked, version, message });
    const { scope, series } = stored;
    const options = { series, nodeId: await ownerOf(tools.database.read, type, scope) };
    const details = publish
      ? await tools.store.parameters.describe(
          target.resource.name,
          await author.publish(version, async () => [], options),
        )
      : stored.details;
    return { type, scope, details, needsMigration, isNew: stored.isNew };
  });
}

/**
 * Nothing is made where the secrets among these contents cannot be stored. It is asked before anything is.
 * @throws HawserError unavailable `secret_key_missing`, `upgrade_incomplete`
 */
export async function requireSealing(
  { secrets }: Pick<ParameterTools, 'secrets'>,
  contents: readonly CheckedContent['incoming'][],
): Promise<void> {
  if (contents.some((content) => content && content.survey.clear.length > 0)) await secrets.sealingKey();
}

/** Makes or replaces a draft of what was checked, with its secrets encrypted. @throws HawserError as `sealContent` */
async function storeChecked(
  tools: ParameterTools,
  target: FileTarget,
  author: Author,
  checked: CheckedContent & { version: string; message?: string | undefined },
): Promise<{ scope: ParameterScope; series: string; isNew: boolean; details: ParameterDetails }> {
  const { version, message } = checked;
  // The value is made before the file. A value without a file does no harm, but a file without its value is shown to nobody.
  const scope = await defineValue(tools.database, target.actor, checked);
  const series = seriesOf(scope);
  const { name } = target.resource;
  const content = await sealChecked(tools, target, author, { ...checked, series });
  return { scope, series, ...(await writeDraft(tools, author, { name, series, version, content, message })) };
}

/** A file that has been checked, and is to be a draft which is not there yet. */
export interface NewFile extends CheckedContent {
  version: string;
}

/**
 * Makes new drafts of one configuration, all or none, under the lock of its parameters.
 * @param blame says of which file an error is
 * @returns the scope, series and version of each, in their order
 * @throws HawserError what encrypting a secret and making a draft throw
 */
export async function createFiles<T extends NewFile>(
  tools: ParameterTools,
  target: FileTarget,
  author: Author,
  files: readonly T[],
  {
    message,
    blame,
  }: { message?: string | undefined; blame: <R>(file: T, work: () => Promise<R>) => Promise<R> },
): Promise<{ scope: ParameterScope; series: string; made: VersionDetails }[]> {
  // A value without a file does no harm, but a file without its value is shown to nobody.
  const scopes = await defineValues(tools.database, target.actor, files, blame);
  const drafts: Parameters<Author['createDrafts']>[0][number][] = [];
  for await (const [at, file] of paced(files.entries())) {
    const { incoming, version, wanted } = file;
    const series = seriesOf(scopes[at] ?? wanted.scope);
    const content = await blame(file, () =>
      sealChecked(tools, target, author, { incoming, series, version }),
    );
    drafts.push({ series, version, content: { ...contentOf(series, content), message } });
  }
  const made = await author.createDrafts(drafts);
  return files.map(({ wanted }, at) => {
    const [draft, details] = [drafts[at], made[at]];
    if (draft === undefined || details === undefined) throw damagedRepository();
    return { scope: scopes[at] ?? wanted.scope, series: draft.series, made: details };
  });
}

/** The content of a version as it is stored. @throws HawserError as `sealContent` */
async function sealChecked(
  tools: ParameterTools,
  { resource: { name: configurationName }, principal: { userId: caller } }: FileTarget,
  author: Author,
  { incoming, series, version }: Pick<CheckedContent, 'incoming'> & { series: string; version: string },
): Promise<ReadContent | null> {
  if (incoming === null) return null;
  const earlier = earlierOf(author, { series, version });
  return sealContent(tools, { configurationName, caller, series, version }, incoming, earlier);
}

/** The versions whose secrets keep their texts where they are still the same: the draft, and the highest that is published. */
function earlierOf(
  author: Author,
  { series, version }: Pick<SecretFile, 'series' | 'version'>,
): VersionRef[] {
  const draft = author.findDraft(version, series);
  const [highest] = author.index(series).published;
  return [draft, highest].filter((ref) => ref !== undefined);
}

interface FoundScope {
  type: ScopeTypeRow;
  scope: ParameterScope;
}

/**
 * Checks that the caller holds this level on the scope's parameters.
 * @throws HawserError not_found for the type, and below Read; invalid for the value; forbidden below what is needed
 */
export async function requireFile(
  { database: { read } }: { database: { read: Db } },
  { principal, resource }: CheckedFor,
  { type: choice, scopeValue }: Omit<FileName, 'version'>,
  needed: GrantLevel,
): Promise<FoundScope> {
  const type = await requireScopeType(read, choice);
  const scope = await scopeNamed(read, type, scopeValue);
  await requireSeries(read, principal, resource, scope, needed);
  return { type, scope };
}

interface ReadingTools {
  database: { read: Db };
  store: { parameters: Pick<ParameterSource, 'index'> };
}

/** The versions of a scope, for whoever may read them. @throws HawserError as `requireFile` */
export async function findVersions(
  tools: ReadingTools,
  asked: CheckedFor,
  named: Omit<FileName, 'version'>,
): Promise<FoundScope & { index: SortedVersions }> {
  const found = await requireFile(tools, asked, named, 'Read');
  const index = (await tools.store.parameters.index(asked.resource.name)).of(seriesOf(found.scope));
  return { ...found, index };
}

/** One of them. @throws HawserError also not_found without such a version */
export async function findFile(
  tools: ReadingTools,
  asked: CheckedFor,
  name: FileName,
): Promise<Awaited<ReturnType<typeof findVersions>> & { ref: VersionRef }> {
  const found = await findVersions(tools, asked, name);
  const ref = found.index.get(name.version);
  if (ref === undefined) throw notFound('The scope has no such version');
  return { ...found, ref };
}

/** Whose parameters a file is checked for, and by whom. */
type CheckedFor = Pick<FileTarget, 'resource' | 'principal'> & {
  /** Refuses content by what it holds of secrets, before anything is told of its values. */
  admit?: ((incoming: IncomingContent) => Promise<void>) | undefined;
  /** A draft of the configuration that counts as published, as it is about to be. */
  asPublished?: string | undefined;
  /** Those that many files share; default: read for this one. */
  checks?: FileChecks;
};

/**
 * The rules for the content of a file, as what it is to be, and for the scope that it is for. Nothing is written.
 * @throws HawserError as `saveFile`, but for the version
 */
export async function checkFile(
  tools: CheckTools,
  { resource, principal, admit, checks: shared }: CheckedFor,
  { type: choice, scopeValue, ...file }: FileName & CheckedFile,
  content: ReadContent | null,
): Promise<CheckedContent> {
  const { read } = tools.database;
  const type = await requireEnabledType(read, choice);
  const wanted = await scopeToWrite(read, type, scopeValue);
  const checks = shared ?? (await FileChecks.of(tools, resource, principal.userId));
  return checkContent(tools, { resource, principal, admit, checks }, { ...file, type, wanted }, content);
}

/** The rules for the content alone, of a scope that may be written. @throws HawserError as `checkFile` */
export async function checkContent(
  tools: CheckTools,
  { resource, principal, admit, checks }: CheckedFor & { checks: FileChecks },
  { version, status, type, wanted }: CheckedFile & Pick<CheckedContent, 'type' | 'wanted'>,
  content: ReadContent | null,
): Promise<CheckedContent> {
  const { userId: caller } = principal;
  const file = { configurationName: resource.name, series: seriesOf(wanted.scope), version, caller };
  const incoming = content && (await surveyContent(tools, file, content, await checks.secureNames(version)));
  if (incoming) await admit?.(incoming);
  const errors = await checks.errorsOf({ version, status }, incoming?.opened ?? null);
  if (checks.mode === 'Strict' && errors.length > 0)
    throw invalid('validation_failed', refusal(version), errors);
  return { type, wanted, needsMigration: errors.length > 0, incoming };
}

/** A file that may be stored, once its secrets are encrypted. */
export interface CheckedContent {
  type: ScopeTypeRow;
  wanted: WantedScope;
  needsMigration: boolean;
  /** Null if the file skips its scope on purpose. */
  incoming: IncomingContent | null;
}

async function writeDraft(
  { store }: ParameterTools,
  author: Author,
  file: { name: string; series: string; version: string } & SavedContent,
): Promise<{ isNew: boolean; details: ParameterDetails }> {
  const { name, series, version, content, message } = file;
  const draft = { ...contentOf(series, content), message };
  const ref = author.findDraft(version, series);
  if (!ref) {
    const made = await author.createDraft(version, draft, series);
    return { isNew: true, details: await store.parameters.describe(name, made) };
  }
  const before = await store.parameters.details(name, ref);
  const isSame = content === null ? before.isPassthrough : isContentOf(before, content);
  if (isSame && (message === undefined || tidyText(message) === before.message))
    return { isNew: false, details: before };
  const made = await author.replaceDraft(ref, draft, { series });
  return { isNew: false, details: await store.parameters.describe(name, made) };
}

function isContentOf(before: ParameterDetails, { type, bytes }: ReadContent): boolean {
  return before.contentType === type && before.sha256 === sha256Hex(bytes);
}

/**
 * @throws HawserError not_found; conflict `change_set_required`, `scope_type_disabled`, `already_published`, or
 *   `validation_failed` with what the schema finds in mode Strict, or `schema_unknown` in that mode; as `secretBlockers` says
 */
export function publishFile(
  tools: ParameterTools,
  target: FileTarget,
  name: FileName,
  message?: string,
): Promise<ChangedFile> {
  const { version } = name;
  return authorVersions(tools, target, async (author) => {
    const found = await requireFile(tools, target, name, 'Modify');
    await requireDoneAlone(tools, target.actor, publishing(target, found, version));
    const { type, scope } = await scopeToPublish(tools, name);
    let needsMigration = false;
    const rules = async (ref: VersionRef) => {
      const judged = await judgeFile(tools, target, ref);
      needsMigration = judged.needsMigration;
      return judged.blockers;
    };
    const published = await author.publish(version, rules, {
      ...{ series: seriesOf(scope), message },
      nodeId: await ownerOf(tools.database.read, type, scope),
    });
    const details = await tools.store.parameters.describe(target.resource.name, published);
    return { type, scope, details, needsMigration };
  });
}

/** @throws HawserError not_found for the type; invalid for the value; conflict `scope_type_disabled` */
export async function scopeToPublish(
  { database: { read } }: Pick<CheckTools, 'database'>,
  { type: choice, scopeValue }: Omit<FileName, 'version'>,
): Promise<{ type: ScopeTypeRow; scope: ParameterScope }> {
  const type = await requireEnabledType(read, choice);
  return { type, scope: await scopeNamed(read, type, scopeValue) };
}

interface Judgement {
  blockers: readonly HawserError[];
  needsMigration: boolean;
}

/** The publishing of a file, as protections are asked of it. */
export const publishing = (
  { resource: { name: configurationName } }: Pick<FileTarget, 'resource'>,
  { type: { name: scopeTypeName }, scope: { value: scopeValue } }: FoundScope,
  version: string,
) => ({ kind: 'PublishParameters', configurationName, scopeTypeName, scopeValue, version }) as const;

/** The rules for publishing a draft. */
export async function judgeFile(
  tools: CheckTools,
  target: CheckedFor,
  draft: VersionRef,
): Promise<Judgement> {
  const document = await tools.parameters.source(target.resource.name, draft);
  return judgeContent(tools, target, draft.version, document);
}

/** The rules for publishing content: in mode Strict the schema of published files must accept it. */
export async function judgeContent(
  tools: CheckTools,
  { resource, principal, asPublished, checks: known }: CheckedFor,
  version: string,
  document: DocumentSource | null,
): Promise<Judgement> {
  const file = { version, status: 'Published' } as const;
  const { userId: caller } = principal;
  const checks = known ?? (await FileChecks.of(tools, resource, caller, asPublished));
  const secrets =
    document && (await secretBlockers(tools, { caller }, document, await checks.secureNames(version)));
  if (secrets && secrets.length > 0) return { blockers: secrets, needsMigration: false };
  const errors = await checks.errorsOf(file, document);
  const needsMigration = errors.length > 0;
  const unknown = await schemaBlocker(checks, version);
  if (checks.mode !== 'Strict' || unknown !== null)
    return { blockers: unknown === null ? [] : [unknown], needsMigration };
  const blockers = needsMigration ? [conflict('validation_failed', refusal(version), { errors })] : [];
  return { blockers, needsMigration };
}

/** In mode Strict nothing is published that nobody can check. @returns conflict `schema_unknown`, or null */
export async function schemaBlocker(checks: FileChecks, version: string): Promise<HawserError | null> {
  const isBlocked = checks.mode === 'Strict' && (await checks.isUnknown({ version, status: 'Published' }));
  return isBlocked ? conflict('schema_unknown', DESCRIBE_UNKNOWN) : null;
}

/** Deletes a draft, of a type that is switched off too. @throws HawserError not_found, conflict `published_version` */
export function deleteFile(tools: ParameterTools, target: FileTarget, name: FileName): Promise<void> {
  return authorVersions(tools, target, async (author) => {
    const { scope } = await requireFile(tools, target, name, 'Manage');
    await author.deleteDraft(name.version, seriesOf(scope));
  });
}

/**
 * Stores the schema that the document's `parameters` block defines, in place of an earlier one of the version. The
 * same bytes are not written again.
 * @returns the JSON Schema as JSON text
 * @throws HawserError invalid for the block; not_found without the configuration; conflict `version_exists` for a
 *   version that differs in build metadata alone, `incompatible_parameters` with `compatibilityReport`
 */
export async function uploadSchema(
  tools: SchemaTools,
  target: FileTarget,
  version: string,
  content: ReadContent,
): Promise<string> {
  const { name } = target.resource;
  const caller = target.principal.userId;
  const { document: schema, type, bytes } = content;
  await tools.documents.run(caller, 'requireDefinitions', { schema });
  await authorVersions(tools, target, async (author) => {
    const before = await earlierSchema(tools, name, author, version);
    if (before && isContentOf(before, content)) return;
    await tools.compatibility.requireUploadable(name, { version, schema, caller });
    refuseGone(target.gone);
    const input = contentOf(SCHEMA_SERIES, { type, bytes });
    await author.putSchema(version, input, before?.commit ?? null);
  });
  return tools.documents.run(caller, 'printJsonSchema', { schema });
}

async function earlierSchema(
  { store }: SchemaTools,
  name: string,
  author: Author,
  version: string,
): Promise<ParameterDetails | null> {
  const ref = author.index(SCHEMA_SERIES).versions.find((each) => sameVersion(each.version, version));
  if (ref === undefined) return null;
  if (ref.version !== version)
    throw conflict('version_exists', `Version ${ref.version} has a schema already`);
  return store.parameters.details(name, ref);
}

const refusal = (version: string) => `Version ${version} breaks the schema of its major version`;
