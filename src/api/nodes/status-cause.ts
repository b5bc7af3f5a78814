/** Why a node is not well: the first of what holds, and the sentence that lists show of it. */

import type { NodeRow } from '../../db/nodes.ts';
import { cut, tellFault } from '../../domain/report-faults.ts';
import { toTimestamp } from '../../lib/clock.ts';
import { type StatusCause, toCause } from '../shared/report-summaries.ts';

/** The greatest length of the sentence. */
const MAX_REASON = 300;

/** What a node is since it was registered needs no event. */
export const statusSince = ({ statusSince: since, createdAt }: NodeRow): number => since ?? createdAt;

/**
 * @param lcmError when the LCM said that it is in error, in epoch milliseconds
 * @returns null for a node that is well, as far as is known
 */
export function causeOf(row: NodeRow, lcmError: number | null = null): StatusCause | null {
  const { status, lcmStatus, isStale, lastCheckIn, createdAt } = row;
  if (status === 'Error' || status === 'NonCompliant') {
    const { faultAt, faultReportId: reportId, firstFault } = row;
    return toCause({ timestamp: faultAt ?? statusSince(row), reportId, firstFault });
  }
  if (lcmStatus === 'Error')
    return told('LcmStatus', lcmError ?? createdAt, 'The agent says that it is in error');
  if (row.problemCode !== null)
    return told('Problem', row.problemSince ?? createdAt, `${row.problemCode}: ${row.problemDetail}`);
  if (!isStale) return null;
  const since = lastCheckIn ?? createdAt;
  return told('Silence', since, `It has not called since ${toTimestamp(since)}`);
}

const told = (kind: StatusCause['kind'], at: number, message: string): StatusCause => ({
  ...{ kind, at: toTimestamp(at), message },
  ...{ reportId: null, resource: null },
});

/** The cause as one line. */
export function reasonOf(cause: StatusCause | null, { status }: NodeRow): string | null {
  if (cause === null) return null;
  const { kind, resource, message } = cause;
  const text = message ?? (status === 'Error' ? 'Its report has errors' : 'It is not in its desired state');
  const prefix = kind === 'Problem' ? 'Its poll is answered with ' : '';
  return cut(`${prefix}${tellFault({ resource, message: text })}`, MAX_REASON);
}
