/** What a node's LCM is to do: its own desired values, where there are none the server's defaults. */

import type { z } from 'zod';
import type { Database, Db } from '../../db/open.ts';
import { changedMembers } from '../../domain/changed-members.ts';
import { notFound } from '../../lib/errors.ts';
import { type Actor, recordAudit } from '../../security/audit.ts';
import { readLcmDefaults, readServerSettings } from '../settings/queries.ts';
import { type DesiredRow, findDesired, updateDesired } from './queries.ts';
import type { LcmConfig, LcmConfigChange } from './schemas.ts';
import { toFlag } from './views.ts';

/** @throws HawserError not_found */
export async function readLcmConfig(db: Db, nodeId: string): Promise<z.input<typeof LcmConfig>> {
  const desired = toDesired(await requireDesired(db, nodeId));
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
 * Members that are null or absent are left to the defaults from now on.
 * @throws HawserError not_found
 */
export function changeLcmConfig(
  database: Database,
  actor: Actor,
  nodeId: string,
  change: z.output<typeof LcmConfigChange>,
): Promise<z.input<typeof LcmConfig>> {
  const desired = {
    configurationMode: change.configurationMode ?? null,
    configurationModeInterval: change.configurationModeInterval?.text ?? null,
    reportCompliance: change.reportCompliance ?? null,
  };
  return database.write.transaction().execute(async (trx) => {
    const row = await requireDesired(trx, nodeId);
    const changes = changedMembers(toDesired(row), desired);
    if (changes !== null) {
      await updateDesired(trx, nodeId, {
        desired_configuration_mode: desired.configurationMode,
        desired_configuration_mode_interval: desired.configurationModeInterval,
        desired_report_compliance:
          desired.reportCompliance === null ? null : Number(desired.reportCompliance),
      });
      const details = { fqdn: row.fqdn, ...changes };
      await recordAudit(trx, actor, { action: 'node.lcm_config_changed', resourceId: nodeId, details });
    }
    return readLcmConfig(trx, nodeId);
  });
}

async function requireDesired(db: Db, nodeId: string): Promise<DesiredRow> {
  const row = await findDesired(db, nodeId);
  if (!row) throw notFound('No such node');
  return row;
}

function toDesired(row: DesiredRow) {
  return {
    configurationMode: row.desired_configuration_mode,
    configurationModeInterval: row.desired_configuration_mode_interval,
    reportCompliance: toFlag(row.desired_report_compliance),
  };
}
