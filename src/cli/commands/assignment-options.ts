/** The options that say what nodes are assigned. */

import type { Schemas } from '../../client/api-types.ts';
import { UsageError } from '../errors.ts';
import { readWhole } from '../values.ts';
import { checkVersion } from './config-kinds.ts';

export const ASSIGNMENT_OPTIONS = {
  configuration: { value: 'NAME', summary: 'what they get' },
  composite: { summary: 'the name is that of a composite' },
  major: { value: 'N', summary: 'versions of this major alone' },
  version: { value: 'VERSION', summary: 'exactly this published version' },
  channel: { value: 'CHANNEL', summary: 'prereleases of this channel and above too, such as rc' },
} as const;

export interface AssignmentOptions {
  composite: boolean;
  major: string | undefined;
  version: string | undefined;
  channel: string | undefined;
}

/** @throws UsageError */
export function readAssignment(
  configurationName: string,
  { composite: isComposite, major, version, channel: prereleaseChannel }: AssignmentOptions,
): Schemas['NodeAssignment'] {
  const majorVersion = readWhole(major, '--major');
  if (version !== undefined) checkVersion(version);
  if (version !== undefined && (majorVersion !== undefined || prereleaseChannel !== undefined))
    throw new UsageError('--version is exactly one version, so --major and --channel do not fit to it.');
  return { configurationName, isComposite, majorVersion, prereleaseChannel, version };
}
