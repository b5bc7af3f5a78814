/** What git shows the author of a push: the lines before `remote:`, and what became of each ref. */

import type { TakenPush } from '../../deeds/receive-push.ts';
import type { Change, CompatibilityReport } from '../../domain/compatibility.ts';
import { type Finding, lineOfFinding } from '../../domain/findings.ts';
import { showText } from '../../domain/safe-path.ts';
import { splitText, type Ways } from '../../domain/ways.ts';
import type { PushCommand, PushRequest } from '../../git/push/push-request.ts';
import { pushReport, type RefOutcome } from '../../git/push/report.ts';
import type { FieldError, HawserError } from '../../lib/errors.ts';

/** Lines that are shown at most. */
const MOST_LINES = 20;

/** The answer to a push that was taken. */
export function taken({ commands, capabilities }: PushRequest, push: TakenPush): Buffer {
  const outcomes = commands.map(({ name, to }) => ({
    name,
    error: null,
    became: to === null ? undefined : becameOf(push),
  }));
  const lines = linesOf(push).slice(0, MOST_LINES).map(said);
  return pushReport(capabilities, { unpack: 'ok', outcomes, lines });
}

/** The tag that the server has made in place of the draft. */
function becameOf(push: TakenPush): RefOutcome['became'] {
  if (push.kind !== 'published' || push.madeTag === null) return undefined;
  return { name: `refs/tags/v${push.version}`, from: null, to: push.madeTag };
}

function linesOf(push: TakenPush): string[] {
  const { version } = push;
  if (push.kind === 'deleted') return [`draft/${version} of ${push.configurationName} is deleted.`];
  const found = push.findings.map(lineOfFinding);
  if (push.kind === 'draft') return [`draft/${version} is there; publish it with its tag.`, ...found];
  return [`${version} is published${textOfWays(push.nodes)}.`, ...found, ...linesOfReport(push.report)];
}

/**
 * The answer to a push that was refused: every ref has the code of the first violation.
 * @param requestId leads to what the log has of a fault of the server. Git shows nobody the headers of an answer
 */
export function refused(
  { commands, capabilities }: PushRequest,
  error: HawserError,
  requestId: string,
): Buffer {
  const { code, message } = firstFault(error);
  const outcomes = commands.map(({ name }) => ({ name, error: code }));
  const details =
    error.kind === 'internal' ? [`Request id: ${requestId}`] : findingsOf(error).slice(0, MOST_LINES - 2);
  const lines = [`${labelOf(commands)}: ${code}: ${message}`, ...details, 'Nothing was changed.'].map(said);
  return pushReport(capabilities, { unpack: 'ok', outcomes, lines });
}

/** The code of the first error where there are several, because `validation_failed` says nothing by itself. */
function firstFault({ code, message, data }: HawserError): { code: string; message: string } {
  const [first] = (data['errors'] ?? []) as FieldError[];
  if (code !== 'validation_failed' || first === undefined || first.code === 'custom')
    return { code, message };
  return { code: first.code, message: first.message };
}

/** The rest of the sentence that a version is published; nothing where its nodes could not be counted. */
function textOfWays(nodes: Ways | null): string {
  if (nodes === null) return '';
  const { offered } = nodes;
  return `; ${offered} ${offered === 1 ? 'node is' : 'nodes are'} offered it${splitText(nodes)}`;
}

/** The changes of parameters that the check has found, a line each. */
function linesOfReport(report: CompatibilityReport | null): string[] {
  if (report === null) return [];
  const line = (kind: string) => (change: Change) =>
    `${kind}: ${showText(change.parameterName)}: ${showText(change.description)}`;
  return [...report.breakingChanges.map(line('breaks')), ...report.nonBreakingChanges.map(line('changes'))];
}

function findingsOf({ code, data }: HawserError): string[] {
  if (code === 'document_unreadable') return (data['errors'] as Finding[]).map(lineOfFinding);
  const report = data['compatibilityReport'] as CompatibilityReport | undefined;
  return linesOfReport(report ?? null);
}

/** The first ref as authors name it. */
function labelOf([first]: readonly PushCommand[]): string {
  return showText((first?.name ?? '').replace(/^refs\/(?:heads|tags)\//, ''));
}

const said = (line: string) => `hawser: ${line}`;
