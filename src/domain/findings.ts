/** What is found wrong with a configuration's document, or is worth a word. */

import { showText } from './safe-path.ts';

export type Severity = 'Error' | 'Warning';

/** An Error means that dsc cannot read the document, or that nobody can mean what it says. */
export const FINDING_CODES = [
  'document_encoding',
  'document_syntax',
  'document_shape',
  'unknown_member',
  'duplicate_name',
  'undeclared_parameter',
  'include_missing',
  'include_in_child',
  'secret_default',
  'tag_not_read',
  'builds_on_withdrawn',
  'bad_merge',
] as const;

export type FindingCode = (typeof FINDING_CODES)[number];

export interface Finding {
  severity: Severity;
  code: FindingCode;
  /** Whole sentences, which repeat no value of the document. */
  message: string;
  /** A JSON Pointer into the document; null if the finding is about no part of it. */
  path: string | null;
  file: string;
  /** Both from 1; null where the place is unknown. */
  line: number | null;
  column: number | null;
}

export function isError({ severity }: Pick<Finding, 'severity'>): boolean {
  return severity === 'Error';
}

/** One line that says where the finding is and what it is, as compilers print it: `main.dsc.yaml:12:7: ...`. */
export function printFinding({ file, line, column, code, message }: Finding): string {
  const place = line === null ? '' : `:${line}:${column ?? 1}`;
  return `${file}${place}: ${message} (${code})`;
}

/** The same with its severity before it. */
export function lineOfFinding(finding: Finding): string {
  return `${isError(finding) ? 'error' : 'warning'}: ${printFinding(finding)}`;
}

/** Of more withdrawn versions the highest are named. */
const MAX_WITHDRAWN = 20;

/**
 * What is found in the history of a version.
 * @param withdrawn the withdrawn versions in it, highest first
 */
export function buildsOnWithdrawn(
  withdrawn: readonly { version: string; withdrawn: { reason: string } | null }[],
  entryPoint: string,
): readonly Finding[] {
  return withdrawn.slice(0, MAX_WITHDRAWN).map(({ version, withdrawn: why }) => {
    const reason = showText((why?.reason ?? '').replace(/\s+/g, ' '));
    const message = `Its history holds version ${showText(version)}, which is withdrawn${reason && `: ${reason}`}`;
    return {
      ...{ severity: 'Warning', code: 'builds_on_withdrawn', message },
      ...{ path: null, file: entryPoint, line: null, column: null },
    };
  });
}

/** The findings in order of line. Those without a place come first. */
export function inOrder<F extends Pick<Finding, 'line' | 'column'>>(findings: readonly F[]): readonly F[] {
  return [...findings].sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
}
