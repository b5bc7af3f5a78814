/**
 * Drafts of parameter files and their publishing. Everything is judged under the lock of the configuration's
 * parameters, as it then is; then Git is written, which is the change, and then the audit trail.
 */

import { PARAMETER_WRITES } from '../../domain/lock-names.ts';
import { missingRepository } from '../../git/disk-errors.ts';
import { refuseGone } from '../../lib/client-gone.ts';
import { conflict, invalid, notFound } from '../../lib/errors.ts';
import { sha256Hex } from '../../lib/hash.ts';
import { type Actor, recordAudit } from '../../security/audit.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import type { LockedParameters, ParameterDetails, ParameterScope, VersionRef } from '../../versions/store.ts';
import { findConfiguration, noteParameters } from '../configurations/queries.ts';
import type { ScopeTypeRow } from '../scope-types/queries.ts';
import { type ConfigurationOf, FileChecks, type ParameterTools } from './checks.ts';
import type { ReadContent } from './content.ts';
import {
  define,
  requireEnabledType,
  requireScopeType,
  type ScopeTypeChoice,
  scopeNamed,
  scopeToWrite,
} from './scopes.ts';

/** Who changes the parameters of which configuration. */
export interface FileTarget {
  resource: ConfigurationOf;
  principal: UserPrincipal;
  actor: Actor;
  /** Aborted when whoever asked has gone, who then gets nothing done. */
  gone?: AbortSignal;
}

/** Names a version of a scope. */
export interface FileName {
  type: ScopeTypeChoice;
  scopeValue?: string | null | undefined;
  version: string;
}

/** A version as it is after a change, with what an answer says of it. */
export interface ChangedFile {
  type: ScopeTypeRow;
  scope: ParameterScope;
  details: ParameterDetails;
  needsMigration: boolean;
}

/**
 * Makes a draft or gives one other content, and publishes it if `publish` says so: nothing is written unless both can
 * be. Content that a draft has already is not written again.
 * @param content null skips the scope on purpose
 * @throws HawserError not_found; invalid for the scope's value, or with what the schema finds in mode Strict; conflict
 *   `scope_type_disabled`, `published_version` or `version_exists`
 */
export function saveFile(
  tools: ParameterTools,
  target: FileTarget,
  name: FileName,
  { content, publish = false }: { content: ReadContent | null; publish?: boolean },
): Promise<ChangedFile & { isNew: boolean }> {
  const { version } = name;
  return exclusively(tools, target.resource, async (locked) => {
    const type = await requireEnabledType(tools.database.read, name.type);
    const wanted = await scopeToWrite(tools.database.read, type, name.scopeValue);
    const checks = await FileChecks.of(tools, target.resource, target.principal.userId);
    const errors = await checks.errorsOf(version, content?.document ?? null);
    if (checks.mode === 'Strict' && errors.length > 0)
      throw invalid('validation_failed', refusal(version), errors);
    refusePublished(locked, wanted.scope, version);
    refuseGone(target.gone);
    // Before the file: a value without one does no harm, where a file without its value would be shown to nobody.
    const scope = await define(tools.database, target.actor, type.id, wanted);
    const draft = await writeDraft(tools, target, locked, { scope, version, content });
    const details = publish ? await publishDraft(tools, target, locked, { scope, version }) : draft.details;
    return { type, scope, details, needsMigration: errors.length > 0, isNew: draft.isNew };
  });
}

/**
 * @throws HawserError not_found; conflict `scope_type_disabled`, `already_published`, or `validation_failed` with what
 *   the schema finds in mode Strict
 */
export function publishFile(tools: ParameterTools, target: FileTarget, name: FileName): Promise<ChangedFile> {
  const { version } = name;
  return exclusively(tools, target.resource, async (locked) => {
    const type = await requireEnabledType(tools.database.read, name.type);
    const scope = await scopeNamed(tools.database.read, type, name.scopeValue);
    const ref = requireVersion(locked, scope, version);
    if (ref.status === 'Published') throw conflict('already_published', 'The version is published already');
    const checks = await FileChecks.of(tools, target.resource, target.principal.userId);
    const document = await tools.parameters.source(target.resource.name, ref);
    const errors = await checks.errorsOf(version, document);
    if (checks.mode === 'Strict' && errors.length > 0)
      throw conflict('validation_failed', refusal(version), { errors });
    const details = await publishDraft(tools, target, locked, { scope, version });
    return { type, scope, details, needsMigration: errors.length > 0 };
  });
}

/** A draft of a type that is switched off too. @throws HawserError not_found, conflict `published_version` */
export function deleteFile(tools: ParameterTools, target: FileTarget, name: FileName): Promise<void> {
  const { version } = name;
  return exclusively(tools, target.resource, async (locked) => {
    const type = await requireScopeType(tools.database.read, name.type);
    const scope = await scopeNamed(tools.database.read, type, name.scopeValue);
    const { status, commit } = requireVersion(locked, scope, version);
    if (status === 'Published') throw conflict('published_version', 'A published version stays');
    await locked.deleteDraft(scope, version);
    await record(tools, target, 'deleted', { ...scope, version, commit });
  });
}

/** Works on the very configuration to which the caller was let, which may have been deleted since. */
export function exclusively<T>(
  { database, store, locks }: ParameterTools,
  resource: ConfigurationOf,
  work: (locked: LockedParameters) => Promise<T>,
): Promise<T> {
  const run = async (locked: LockedParameters) => {
    const row = await findConfiguration(database.read, resource.id);
    if (!row) throw notFound('No such configuration');
    // Writing would begin a new history in place of the one that is lost, and nobody would notice.
    const isLost = row.has_parameters === 1 && !(await store.has({ kind: 'parameters', name: row.name }));
    if (isLost) throw missingRepository();
    return work(locked);
  };
  return locks.share(PARAMETER_WRITES, () =>
    store.exclusive({ kind: 'parameters', name: resource.name }, run),
  );
}

interface DraftWish {
  scope: ParameterScope;
  version: string;
  content: ReadContent | null;
}

async function writeDraft(
  tools: ParameterTools,
  target: FileTarget,
  locked: LockedParameters,
  { scope, version, content }: DraftWish,
): Promise<{ isNew: boolean; details: ParameterDetails }> {
  const ref = locked.index.of('').get(scope, version);
  const isDraft = ref?.status === 'Draft';
  const before = isDraft ? await tools.store.parameters.details(target.resource.name, ref) : null;
  if (before !== null && isSame(before, content)) return { isNew: false, details: before };
  const { principal, actor } = target;
  const made = await locked.writeDraft(scope, {
    version,
    content,
    author: personOf(principal),
    at: actor.at,
  });
  const { commit, isPassthrough } = made.details;
  const replaced = before?.commit ?? null;
  await record(tools, target, 'saved', { ...scope, version, isPassthrough, commit, replaced });
  return made;
}

function isSame(before: ParameterDetails, content: ReadContent | null): boolean {
  if (content === null) return before.isPassthrough;
  return before.contentType === content.type && before.sha256 === sha256Hex(content.bytes);
}

async function publishDraft(
  tools: ParameterTools,
  target: FileTarget,
  locked: LockedParameters,
  { scope, version }: Omit<DraftWish, 'content'>,
): Promise<ParameterDetails> {
  const details = await locked.publish(scope, version, personOf(target.principal), target.actor.at);
  const { commit } = details;
  await record(tools, target, 'published', { ...scope, version, commit });
  return details;
}

/** Found before anything is written; the store itself finds it again. */
function refusePublished(locked: LockedParameters, scope: ParameterScope, version: string): void {
  if (locked.index.of('').get(scope, version)?.status !== 'Published') return;
  throw conflict('published_version', 'A published version never changes');
}

function requireVersion(locked: LockedParameters, scope: ParameterScope, version: string): VersionRef {
  const ref = locked.index.of('').get(scope, version);
  if (ref === undefined) throw notFound('The scope has no such version');
  return ref;
}

/** Still under the lock, so that the entries stand in the order of the changes. */
function record(
  { database }: ParameterTools,
  { resource, actor }: FileTarget,
  action: 'saved' | 'published' | 'deleted',
  {
    value,
    ...details
  }: ParameterScope & { version: string; commit: string | null } & Record<string, unknown>,
): Promise<void> {
  return database.write.transaction().execute(async (trx) => {
    await noteParameters(trx, resource.id);
    await recordAudit(trx, actor, {
      action: `parameters.version_${action}`,
      resourceId: resource.id,
      details: { name: resource.name, scopeValue: value, ...details },
    });
  });
}

function personOf({ username, email }: UserPrincipal) {
  return { name: username, email };
}

const refusal = (version: string) => `Version ${version} breaks the schema of its major version`;
