/** What git shows the author of a push: the lines before `remote:`, and what became of each ref. */

import type { TakenPush, TakenVersion } from '../../deeds/receive-push.ts';
import type { Change, CompatibilityReport } from '../../domain/compatibility.ts';
import { type Finding, lineOfFinding } from '../../domain/findings.ts';
import { showText } from '../../domain/safe-path.ts';
import { splitText, type Ways } from '../../domain/ways.ts';
import type { PushRequest } from '../../git/push/push-request.ts';
import { pushReport, type RefOutcome } from '../../git/push/report.ts';
import type { FieldError, HawserError } from '../../lib/errors.ts';
import { labelOf, refNameOf } from '../../versions/kinds.ts';

/** Lines that are shown at most. */
const MOST_LINES = 20;

/** The answer to a push that was taken. */
export function taken(
  { commands, capabilities }: PushRequest,
  push: TakenPush,
  addressOfSet: (id: number) => string,
): Buffer {
  const { changeSet } = push;
  const made = new Map(
    push.versions.flatMap((version) =>
      (['Draft', 'Published'] as const).map(
        (status) => [refNameOf({ ...version, status }), version] as const,
      ),
    ),
  );
  const outcomes = commands.map(({ name }) => ({
    name,
    error: null,
    became: becameOf(name, made.get(name)),
  }));
  const all = [
    ...(changeSet === null ? [] : [`Change set ${changeSet} proposes it: ${addressOfSet(changeSet)}`]),
    ...push.versions.map((version) => lineOf(push, version)),
    ...push.findings.map(lineOfFinding),
    ...linesOfReport(push.report),
  ];
  const isLong = all.length > MOST_LINES;
  const shown = isLong ? all.slice(0, MOST_LINES - 1) : all;
  const lines = [...shown, ...(isLong ? [`And ${all.length - shown.length} lines more.`] : [])].map(said);
  return pushReport(capabilities, { unpack: 'ok', outcomes, lines });
}

/** The tag that the server has made in place of the draft, or the draft that it has made in place of a tag that is proposed. */
function becameOf(name: string, version: TakenVersion | undefined): RefOutcome['became'] {
  if (version === undefined) return undefined;
  const { madeTag, keptAs } = version;
  const isTag = name.startsWith('refs/tags/');
  if (!isTag && madeTag !== null)
    return { name: refNameOf({ ...version, status: 'Published' }), from: null, to: madeTag };
  if (isTag && keptAs !== null) return { name: refNameOf({ ...version, status: 'Draft' }), ...keptAs };
  return undefined;
}

function lineOf({ configurationName, nodes, changeSet }: TakenPush, named: TakenVersion): string {
  const { series, version, became, needsMigration, keptAs } = named;
  const draft = refNameOf({ ...named, status: 'Draft' }).replace('refs/heads/', '');
  const refused = needsMigration ? ' The schema of its major version refuses it.' : '';
  if (became === 'deleted') return `${draft} of ${configurationName} is deleted.`;
  if (became === 'draft' && changeSet !== null) return `${draft} is there.${refused}`;
  if (became === 'draft' && keptAs !== null)
    return `${draft} is there with its tag; who publishes it publishes by this tag.${refused}`;
  if (became === 'draft') return `${draft} is there; publish it with its tag.${refused}`;
  return `${labelOf(series, version)} is published${textOfWays(nodes)}.${refused}`;
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
  const label = labelOfRef(error.data['pushed'] ?? commands[0]?.name);
  const lines = [`${label}: ${code}: ${message}`, ...details, 'Nothing was changed.'].map(said);
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

function findingsOf({ code, message, data }: HawserError): string[] {
  if (code === 'document_unreadable') return (data['errors'] as Finding[]).map(lineOfFinding);
  const report = data['compatibilityReport'] as CompatibilityReport | undefined;
  const errors = (data['errors'] ?? []) as FieldError[];
  // The only error of a field says no more than the message.
  const isTold = errors.length === 0 || (errors.length === 1 && errors[0]?.message === message);
  const found = errors.map((error) => `${showText(error.path)}: ${showText(error.message)}`);
  return [...(isTold ? [] : [`${code}: ${showText(message)}`, ...found]), ...linesOfReport(report ?? null)];
}

/** The ref as authors name it. */
function labelOfRef(name: unknown): string {
  return showText(String(name ?? '').replace(/^refs\/(?:heads|tags)\//, ''));
}

const said = (line: string) => `hawser: ${line}`;
