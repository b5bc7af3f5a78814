/** What the node does: what the server wants, and the settings of the node where the server wants nothing. */

import { type Duration, parseDuration } from '../domain/duration.ts';
import type { LcmConfig, ReportedConfig } from './node-api.ts';
import type { AgentSettings } from './settings.ts';
import type { Wishes } from './state.ts';

export interface Plan {
  mode: AgentSettings['mode'];
  interval: Duration;
  reportsCompliance: boolean;
}

/** @param wishes null when the server has never said what it wants */
export function planFor({ mode, interval }: Pick<Plan, 'mode' | 'interval'>, wishes: Wishes | null): Plan {
  const wanted = wishes?.configurationModeInterval ?? null;
  return {
    mode: wishes?.configurationMode ?? mode,
    interval: (wanted === null ? null : parseDuration(wanted)) ?? interval,
    reportsCompliance: wishes?.reportCompliance ?? true,
  };
}

export function toReported({ mode, interval, reportsCompliance }: Plan): ReportedConfig {
  return {
    configurationMode: mode,
    configurationModeInterval: interval.text,
    reportCompliance: reportsCompliance,
  };
}

export function toWishes(lcm: LcmConfig, isAssigned: boolean): Wishes {
  return {
    configurationMode: lcm.configurationMode,
    configurationModeInterval: lcm.configurationModeInterval?.text ?? null,
    reportCompliance: lcm.reportCompliance,
    isAssigned,
  };
}
