/** Makes, copies and replaces drafts of configurations. */

import { DEFAULT_ENTRY_POINT } from '../domain/bundle-paths.ts';
import { isVersion, nextPatch } from '../domain/version-order.ts';
import { notFound } from '../lib/errors.ts';
import type { CompatibilityGuard } from '../resolve/schema-compatibility.ts';
import { authorVersions } from '../versions/author.ts';
import { type DraftTools, requireUploadable } from '../versions/draft-edits.ts';
import type { ResourceTools } from '../versions/resources.ts';
import type { ConfigurationRow, Target } from '../versions/rows.ts';
import { checkDraft } from '../versions/rules.ts';
import type { FileContent, VersionDetails, VersionRef } from '../versions/store.ts';
import { readEffectiveSettings } from './configuration-settings.ts';

export type ConfigurationTools = ResourceTools & DraftTools & { compatibility: CompatibilityGuard };
export type ConfigurationTarget = Target<'configurations'>;

/** What a draft is to be. What is absent is chosen by the server, or stays. */
export interface WantedDraft {
  version?: string | undefined;
  /** Path of one of the files. */
  entryPoint?: string | undefined;
  prereleaseChannel?: string | undefined;
  message?: string | undefined;
}

/** A draft that is a copy of another version. */
export interface WantedCopy extends Omit<WantedDraft, 'entryPoint'> {
  /** The version whose files it gets. */
  from: string;
}

interface Draft {
  form: WantedDraft;
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
  form: WantedCopy,
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
  form: Pick<WantedDraft, 'prereleaseChannel' | 'message'>;
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
