/** Reads and writes of what configurations set for themselves. */

import type { Db } from '../db/database.ts';
import { readValidationSettings } from '../db/settings.ts';
import type { AuditAction } from '../domain/audit-actions.ts';
import { changedMembers } from '../domain/changed-members.ts';
import type { Protection } from '../domain/protection.ts';
import type { OwnRetention } from '../domain/retention-plan.ts';
import {
  type EffectiveValidation,
  effectiveValidation,
  type ValidationOverrides,
} from '../domain/server-settings.ts';
import type { Signing } from '../domain/signing.ts';
import type { Judging } from '../resolve/schema-compatibility.ts';
import type { GrantedResource } from '../security/access.ts';
import { type Actor, recordAudit } from '../security/audit.ts';
import { type ConfigurationRow, toBoolean, toRetention } from '../versions/rows.ts';
import { changeProtection } from './set-protection.ts';
import { changeSigning } from './set-signing.ts';

/** What a configuration sets for itself. Null stands for what is inherited. */
export type OwnSettings = ValidationOverrides & OwnRetention;

/** The members to be set. One that is undefined stays as it is. */
export type OwnChange = { [K in keyof OwnSettings]?: OwnSettings[K] | undefined };

/** What a request changes: each of the two last members as a whole. */
export type SettingsChange = OwnChange & {
  protection?: Protection | undefined;
  signing?: Signing | undefined;
  /** The ids of the published tags, where versions must be signed from now on. */
  admitted?: readonly string[] | undefined;
};

const NOTHING_OWN: OwnSettings = {
  requireSemVer: null,
  parameterValidationMode: null,
  documentChecks: null,
  variables: null,
  enabled: null,
  keepVersions: null,
  keepDays: null,
  keepReleaseVersions: null,
};

export async function findOwnSettings(db: Db, configurationId: string): Promise<OwnSettings> {
  const row = await db
    .selectFrom('configuration_settings')
    .selectAll()
    .where('configuration_id', '=', configurationId)
    .executeTakeFirst();
  if (!row) return NOTHING_OWN;
  const { require_semver, parameter_validation_mode, document_checks, variables } = row;
  return {
    requireSemVer: toBoolean(require_semver),
    parameterValidationMode: parameter_validation_mode,
    documentChecks: document_checks,
    variables,
    ...toRetention(row),
  };
}

/**
 * Saves the members that differ, with an entry in the audit trail. Null makes a member inherited again; a protection is replaced as
 * a whole, and so is who may sign.
 * @throws HawserError as `changeProtection` and `changeSigning`
 */
export async function changeOwnSettings(
  trx: Db,
  actor: Actor,
  { id, name }: Pick<GrantedResource, 'id' | 'name'>,
  {
    action,
    change: { protection, signing, admitted = [], ...change },
  }: { action: AuditAction; change: SettingsChange },
): Promise<void> {
  const thing = { on: 'configuration', id, name } as const;
  const changes = changedMembers(await findOwnSettings(trx, id), change);
  const protecting = protection && (await changeProtection(trx, actor, thing, protection));
  const allowing = signing && (await changeSigning(trx, id, { signing, admitted }));
  if (changes) await saveOwnSettings(trx, id, change);
  if (changes || protecting || allowing) {
    const details = { name, ...changes, ...protecting, ...allowing };
    await recordAudit(trx, actor, { action, resourceId: id, details });
  }
}

/** Sets the members that are given. There must be at least one. */
async function saveOwnSettings(db: Db, configurationId: string, change: OwnChange): Promise<void> {
  // A member that is undefined stays as it is. In a new row it becomes null.
  const columns = {
    require_semver: toFlag(change.requireSemVer),
    parameter_validation_mode: change.parameterValidationMode,
    document_checks: change.documentChecks,
    variables: change.variables,
    retention_enabled: toFlag(change.enabled),
    retention_keep_versions: change.keepVersions,
    retention_keep_days: change.keepDays,
    retention_keep_release_versions: toFlag(change.keepReleaseVersions),
  };
  await db
    .insertInto('configuration_settings')
    .values({ configuration_id: configurationId, ...columns })
    .onConflict((conflict) => conflict.column('configuration_id').doUpdateSet(columns))
    .execute();
}

/** The settings of the configuration: its own ones where the server's settings allow that, else the server's. */
export async function readEffectiveSettings(db: Db, configurationId: string): Promise<EffectiveValidation> {
  const own = await findOwnSettings(db, configurationId);
  return effectiveValidation(await readValidationSettings(db), own);
}

/** How the versions of a configuration are judged. @param caller the one in whose turn documents are read */
export function judgingBy(
  { use_server_managed_parameters }: ConfigurationRow,
  { documentChecks, parameterValidationMode }: EffectiveValidation,
  caller: string,
): Judging {
  const isManaged = use_server_managed_parameters === 1;
  return { isManaged, documentChecks, isStrict: parameterValidationMode === 'Strict', caller };
}

function toFlag(value: boolean | null | undefined): number | null | undefined {
  return typeof value === 'boolean' ? Number(value) : value;
}
