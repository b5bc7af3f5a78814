/** Shows what is found wrong with the documents of versions, or is worth a word. */

import { type Finding, lineOfFinding } from '../../domain/findings.ts';
import type { Kind } from './config-kinds.ts';

export interface Found {
  version: string;
  /** Null where they could not be read. */
  findings: readonly Finding[] | null;
}

/** A line for each finding, as compilers print it. That they could not be read is a line too. */
export function linesOfFindings({ group }: Kind, name: string, { version, findings }: Found): string[] {
  const again = `"hawserctl ${group} show ${name} ${version}" asks again`;
  const unread = `Whether something is wrong with ${name} ${version} could not be read; ${again}.`;
  return findings?.map(lineOfFinding) ?? [unread];
}
