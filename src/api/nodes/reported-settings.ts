/** What a node says of its own settings, as it is stored: absent members stay as they are, null clears. */

import type { z } from 'zod';
import type { ReportedSettings } from './queries.ts';
import type { Registration, ReportedConfig } from './schemas.ts';

export function toReported(body: z.output<typeof ReportedConfig>): ReportedSettings {
  const { configurationMode, configurationModeInterval, reportCompliance } = body;
  return {
    ...(configurationMode === undefined ? {} : { configuration_mode: configurationMode }),
    ...(configurationModeInterval === undefined
      ? {}
      : {
          configuration_mode_interval: configurationModeInterval?.text ?? null,
          configuration_mode_interval_ms: configurationModeInterval?.milliseconds ?? null,
        }),
    ...(reportCompliance === undefined
      ? {}
      : { report_compliance: reportCompliance === null ? null : Number(reportCompliance) }),
  };
}

/** Said at registration alone. */
export function toSource({
  configurationSource,
}: Pick<z.output<typeof Registration>, 'configurationSource'>): ReportedSettings {
  return configurationSource === undefined ? {} : { configuration_source: configurationSource };
}
