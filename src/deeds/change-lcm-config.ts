/**
 * Settings of a node's LCM. What it is to do are the desired values of the node, with the server's defaults where there
 * are none. What it is set to do is what the node reports.
 */

import type { Db } from '../db/database.ts';
import { engineOf } from '../db/engine-of.ts';
import { inOrder, type ReportedSettings } from '../db/nodes.ts';
import { toFlag } from '../db/rows.ts';
import { readLcmDefaults, readServerSettings } from '../db/settings.ts';
import { changedMembers } from '../domain/changed-members.ts';
import type { Duration } from '../domain/duration.ts';
import { notFound } from '../lib/errors.ts';
import { type Actor, recordAudits } from '../security/audit.ts';
import { type NodeOutcome, orThrow } from './node-outcome.ts';

/** What an LCM is, or is to be, set to. */
export interface LcmSettings {
  configurationMode?: string | null | undefined;
  configurationModeInterval?: Duration | null | undefined;
  reportCompliance?: boolean | null | undefined;
}

/** Reads what a node's LCM is to do. @throws HawserError not_found */
export async function readLcmConfig(db: Db, nodeId: string) {
  const { desired } = await readDesired(db, nodeId);
  const defaults = await readLcmDefaults(db);
  const { certificateRotationInterval } = await readServerSettings(db);
  return {
    configurationMode: desired.configurationMode ?? defaults.defaultConfigurationMode,
    configurationModeInterval: desired.configurationModeInterval ?? defaults.defaultConfigurationModeInterval,
    reportCompliance: desired.reportCompliance ?? defaults.defaultReportCompliance,
    certificateRotationInterval,
  };
}

/**
 * Sets the desired values. Members that are null or absent are left to the defaults from now on.
 * @returns whether any of them was another
 * @throws HawserError not_found
 */
export async function changeLcmConfig(
  trx: Db,
  actor: Actor,
  nodeId: string,
  change: LcmSettings,
): Promise<boolean> {
  const [outcome] = await changeLcmConfigs(trx, actor, [nodeId], change);
  return orThrow(outcome);
}

/**
 * The same for many nodes, with few statements for all.
 * @returns of each node whether any of them was another; or not_found
 */
export async function changeLcmConfigs(
  trx: Db,
  actor: Actor,
  nodeIds: readonly string[],
  change: LcmSettings,
): Promise<NodeOutcome[]> {
  const desired = desiredBy(change);
  const known = await findDesired(trx, nodeIds);
  const entries = [...known].flatMap(([resourceId, { fqdn, desired: before }]) => {
    const changes = changedMembers(before, desired);
    if (changes === null) return [];
    return { action: 'node.lcm_config_changed', resourceId, details: { fqdn, ...changes } } as const;
  });
  const changed = entries.map(({ resourceId }) => resourceId);
  const columns = {
    desired_configuration_mode: desired.configurationMode,
    desired_configuration_mode_interval: desired.configurationModeInterval,
    desired_report_compliance: toColumn(desired.reportCompliance),
  };
  if (changed.length > 0)
    await trx.updateTable('nodes').set(columns).where(engineOf(trx).isOneOf('id', changed)).execute();
  await recordAudits(trx, actor, entries);
  const isChanged = new Set<string>(changed);
  return nodeIds.map((nodeId) => (known.has(nodeId) ? isChanged.has(nodeId) : notFound('No such node')));
}

function desiredBy(change: LcmSettings) {
  return {
    configurationMode: change.configurationMode ?? null,
    configurationModeInterval: change.configurationModeInterval?.text ?? null,
    reportCompliance: change.reportCompliance ?? null,
  };
}

/** Whether the change would make the desired values of the node others. @throws HawserError not_found */
export async function wouldChange(db: Db, nodeId: string, change: LcmSettings): Promise<boolean> {
  const { desired } = await readDesired(db, nodeId);
  return changedMembers(desired, desiredBy(change)) !== null;
}

async function readDesired(db: Db, nodeId: string) {
  const desired = (await findDesired(db, [nodeId])).get(nodeId);
  if (desired === undefined) throw notFound('No such node');
  return desired;
}

/** The desired values of those of these nodes that are there. */
async function findDesired(db: Db, nodeIds: readonly string[]) {
  const rows = await db
    .selectFrom('nodes')
    .select([
      'id',
      'fqdn',
      'desired_configuration_mode as configurationMode',
      'desired_configuration_mode_interval as configurationModeInterval',
      'desired_report_compliance as reportCompliance',
    ])
    .where(engineOf(db).isOneOf('id', nodeIds))
    .execute();
  const found = rows.map(
    ({ id, fqdn, ...desired }) =>
      [id, { fqdn, desired: { ...desired, reportCompliance: toFlag(desired.reportCompliance) } }] as const,
  );
  return inOrder(nodeIds, new Map(found));
}

/** Gives what a node reports as it is stored. Absent members stay as they are, null clears. */
export function toReported(
  settings: LcmSettings & { configurationSource?: string | undefined },
): ReportedSettings {
  const { configurationSource, configurationMode, configurationModeInterval, reportCompliance } = settings;
  return {
    ...(configurationSource !== undefined && { configuration_source: configurationSource }),
    ...(configurationMode !== undefined && { configuration_mode: configurationMode }),
    ...(configurationModeInterval !== undefined && {
      configuration_mode_interval: configurationModeInterval?.text ?? null,
      configuration_mode_interval_ms: configurationModeInterval?.milliseconds ?? null,
    }),
    ...(reportCompliance !== undefined && { report_compliance: toColumn(reportCompliance) }),
  };
}

const toColumn = (flag: boolean | null) => (flag === null ? null : Number(flag));
