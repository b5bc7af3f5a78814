/** Making and changing configurations and their drafts: what a request asks for, and what it is checked for. */

import type { z } from 'zod';
import type { Db } from '../../db/database.ts';
import { readValidationSettings } from '../../db/settings.ts';
import { DEFAULT_ENTRY_POINT } from '../../domain/bundle-paths.ts';
import { changedMembers } from '../../domain/changed-members.ts';
import type { Finding } from '../../domain/findings.ts';
import { isVersion, nextPatch } from '../../domain/version-order.ts';
import { notFound } from '../../lib/errors.ts';
import type { Compatibility, CompatibilityGuard } from '../../resolve/compatibility.ts';
import { recordAudit } from '../../security/audit.ts';
import type { Caller } from '../../security/caller.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { authorVersions } from '../../versions/author.ts';
import { type DraftTools, requireUploadable } from '../../versions/draft-edits.ts';
import { createResource, type ResourceTools } from '../../versions/resources.ts';
import type { ConfigurationRow, Target } from '../../versions/rows.ts';
import { checkDraft, refusePublishedParameters, refuseReservedPaths } from '../../versions/rules.ts';
import type { FileContent, VersionDetails, VersionRef } from '../../versions/store.ts';
import { findingsInHistory } from '../crud/publish-check.ts';
import { judgingBy, readEffectiveSettings } from './queries.ts';
import type { ConfigurationChange, CopiedVersion, NewConfiguration, NewVersion } from './schemas.ts';

const FIRST_VERSION = '1.0.0';

export type ConfigurationTools = ResourceTools & DraftTools & { compatibility: CompatibilityGuard };
export type ConfigurationTarget = Target<'configurations'>;

/**
 * Creates a configuration with its first draft.
 * @param answer as that of `createResource`
 * @throws HawserError as `createResource` and `checkDraft`
 */
export async function createConfiguration<T>(
  tools: ResourceTools,
  caller: Caller & { gone: AbortSignal },
  { form, files }: { form: z.output<typeof NewConfiguration>; files: readonly FileContent[] },
  answer: (id: string) => Promise<T>,
): Promise<T> {
  const { name, description = null, version = FIRST_VERSION, useServerManagedParameters = true } = form;
  const { entryPoint = DEFAULT_ENTRY_POINT, prereleaseChannel, message } = form;
  const { requireSemVer } = await readValidationSettings(tools.database.read);
  const flags = { useServerManagedParameters, requireSemVer };
  const content = checkDraft({ version, entryPoint, prereleaseChannel, files, ...flags });
  const draft = { version, ...content, message };
  const made = { name, description, useServerManagedParameters, entryPoint: null, draft };
  return createResource(tools, caller, { kind: 'configurations', ...made }, answer);
}

/**
 * Changes a configuration. Where nothing differs, nothing is written, not even the time of the last change.
 * @throws HawserError conflict `reserved_path` when the highest version has a file where the parameters go;
 *   `in_use` when nodes would lose published parameters
 */
export async function changeConfiguration(
  tools: ResourceTools,
  target: ConfigurationTarget,
  change: z.output<typeof ConfigurationChange>,
): Promise<void> {
  const { database, store } = tools;
  const { actor, resource } = target;
  const { id: resourceId, name } = resource;
  // Under the lock, so that no draft with a reserved path slips in between.
  await authorVersions(tools, target, async (author, { description, use_server_managed_parameters }) => {
    const before = { description, useServerManagedParameters: use_server_managed_parameters === 1 };
    const changes = changedMembers(before, change);
    if (changes === null) return;
    const [highest] = author.index().versions;
    if (highest && changes['useServerManagedParameters']?.to === true)
      refuseReservedPaths((await store.details({ kind: 'configurations', name }, highest)).files);
    if (changes['useServerManagedParameters']?.to === false) await refusePublishedParameters(store, name);
    await database.write.transaction().execute(async (trx) => {
      await updateRow(trx, resourceId, change, actor.at);
      const details = { name, ...changes };
      await recordAudit(trx, actor, { action: 'configuration.updated', resourceId, details });
    });
  });
}

async function updateRow(
  trx: Db,
  id: string,
  { description, useServerManagedParameters: managed }: z.output<typeof ConfigurationChange>,
  now: number,
): Promise<void> {
  const columns = {
    ...(description === undefined ? {} : { description }),
    ...(managed === undefined ? {} : { use_server_managed_parameters: Number(managed) }),
  };
  const update = trx.updateTable('configurations').set({ ...columns, updated_at: now });
  await update.where('id', '=', id).execute();
}

interface Draft {
  form: z.output<typeof NewVersion>;
  files: readonly FileContent[];
}

/** @throws HawserError conflict `version_exists`, or what `checkDraft` finds */
export function createDraft(
  tools: ResourceTools,
  target: ConfigurationTarget,
  { form, files }: Draft,
): Promise<VersionDetails> {
  const { store, database } = tools;
  const { id, name } = target.resource;
  return authorVersions(tools, target, async (author, row) => {
    const { versions } = author.index();
    const model = versions.find(({ withdrawn }) => withdrawn === null);
    const inherited = model && (await store.details({ kind: 'configurations', name }, model)).entryPoint;
    const named = {
      version: form.version ?? versionAfter(versions),
      entryPoint: form.entryPoint ?? inherited ?? DEFAULT_ENTRY_POINT,
      ...(await readEffectiveSettings(database.read, id)),
    };
    return author.createDraft(named.version, checked(row, named, { form, files }));
  });
}

/**
 * Makes a draft with the files and the entry point of another version.
 * @throws HawserError not_found without that version; what `createDraft` and `requireUploadable` find
 */
export function copyVersion(
  tools: ConfigurationTools,
  target: ConfigurationTarget,
  form: z.output<typeof CopiedVersion>,
): Promise<VersionDetails> {
  const { store, database } = tools;
  const { id, name } = target.resource;
  const repository = { kind: 'configurations', name } as const;
  return authorVersions(tools, target, async (author, row) => {
    const from = author.index().get(form.from);
    if (from === undefined) throw notFound('No such version');
    const { commit, entryPoint, files } = await store.details(repository, from);
    const version = form.version ?? versionAfter(author.index().versions);
    const settings = await readEffectiveSettings(database.read, id);
    const content = checked(row, { version, entryPoint, ...settings }, { form, files });
    await requireUploadable(tools, name, files);
    return author.createDraft(version, { ...content, files: { commit, files } });
  });
}

/** The version that a draft gets which names none: the next patch above the highest. */
function versionAfter([highest]: readonly VersionRef[]): string {
  return nextPatch(highest && isVersion(highest.version) ? highest.version : null);
}

/** The files of a draft, and what the request says of it. */
interface DraftOf<F extends { path: string }> {
  form: Pick<z.output<typeof NewVersion>, 'prereleaseChannel' | 'message'>;
  files: readonly F[];
}

/** Checks a draft by the configuration's flags as they are under the lock. */
function checked<F extends { path: string }>(
  { use_server_managed_parameters }: ConfigurationRow,
  named: { version: string; entryPoint: string; requireSemVer: boolean },
  { form: { prereleaseChannel, message }, files }: DraftOf<F>,
) {
  const useServerManagedParameters = use_server_managed_parameters === 1;
  return { ...checkDraft({ ...named, prereleaseChannel, files, useServerManagedParameters }), message };
}

/**
 * Replaces the files of a draft. It keeps its entry point unless the form names another.
 * @throws HawserError not_found, conflict `published_version`, or what `checkDraft` finds
 */
export function replaceDraft(
  tools: ResourceTools,
  target: ConfigurationTarget,
  version: string,
  { form, files }: Draft,
): Promise<VersionDetails> {
  return authorVersions(tools, target, async (author, row) => {
    const before = author.requireDraft(version);
    const repository = { kind: 'configurations', name: target.resource.name } as const;
    const entryPoint = form.entryPoint ?? (await tools.store.details(repository, before)).entryPoint;
    // The version has its name already. A rule that was switched on later does not ask for another one.
    const named = { version, entryPoint, requireSemVer: false };
    return author.replaceDraft(before, checked(row, named, { form, files }));
  });
}

/**
 * Publishes a draft.
 * @returns what the answer shows, with what was found in its entry point and in the history of the draft
 * @throws HawserError not_found without such a version; the first of its blockers; conflict `draft_changed`
 */
export async function publishVersion(
  tools: ConfigurationTools,
  target: ConfigurationTarget,
  version: string,
  message?: string,
): Promise<{ details: VersionDetails; findings: readonly Finding[] }> {
  const { store, log } = tools;
  const { name } = target.resource;
  let commit = '';
  let findings: readonly Finding[] = [];
  const details = await authorVersions(tools, target, (author, row) => {
    const rules = async ({ oid }: VersionRef) => {
      const judged = await judgeDraft(tools, row, version, target.principal);
      [commit, findings] = [oid, judged.findings];
      return judged.blockers;
    };
    return author.publish(version, rules, { message });
  });
  try {
    const index = await store.versions({ kind: 'configurations', name });
    const draft = { commit, entryPoint: details.entryPoint };
    findings = [...(await findingsInHistory(store, name, index, draft)), ...findings];
  } catch (error) {
    // The version is published all the same.
    log.warn({ err: error, configuration: name, version }, 'a history cannot be read');
  }
  return { details, findings };
}

/**
 * What publishing a draft meets. dsc must be able to read its document. Where the server manages the configuration's
 * parameters, the `parameters` block must be compatible with the version before it, and in mode Strict it must be readable.
 */
export async function judgeDraft(
  { compatibility, database }: Pick<ConfigurationTools, 'compatibility' | 'database'>,
  row: ConfigurationRow,
  version: string,
  { userId: caller }: Pick<UserPrincipal, 'userId'>,
): Promise<Compatibility> {
  const settings = await readEffectiveSettings(database.read, row.id);
  return compatibility.judgeDraft(row.name, version, judgingBy(row, settings, caller));
}
