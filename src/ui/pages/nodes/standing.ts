/** What a node should get against what it runs, in words. The words of reasons are those of the proof. */

import type { NodeDetails } from '../../types.ts';

/** The tone of a mark. */
type Tone = 'good' | 'warn' | 'bad' | 'idle' | 'info';

export interface Standing {
  tone: Tone;
  word: string;
  sentence: string;
  /** It runs something else than it should, so the differences can be looked at. */
  isOther: boolean;
}

const standing = (tone: Tone, word: string, sentence: string, isOther = false): Standing => ({
  ...{ tone, word, sentence, isOther },
});

type Facts = Pick<NodeDetails, 'assignment' | 'running' | 'lastCheckIn' | 'status' | 'lcmStatus'>;

/** @param offered the checksum of what it gets at its next poll; null: it is not known */
export function standingOf(
  { assignment, running, lastCheckIn, ...statuses }: Facts,
  offered: string | null,
): Standing {
  if (assignment === null)
    return standing(
      'idle',
      'Unassigned',
      running === null
        ? 'Nothing is assigned to this node, so it gets nothing.'
        : 'Nothing is assigned to this node. It runs what it got before.',
    );
  if (assignment.resolvedVersion === null)
    return standing(
      'bad',
      'Unresolvable',
      'No published version fits the assignment, so the polls of this node are answered with an error.',
    );
  if (running === null)
    return standing(
      'warn',
      'NeverPolled',
      lastCheckIn === null
        ? 'The node has registered, and has not called since.'
        : 'The node has called, but it has never asked for its configuration.',
    );
  return isSame({ assignment, running }, offered)
    ? sameOf(running, statuses)
    : otherOf(assignment, running, offered);
}

type Assignment = NonNullable<Facts['assignment']>;
type Running = NonNullable<Facts['running']>;

function isSame(
  { assignment, running }: { assignment: Assignment; running: Running },
  offered: string | null,
) {
  if (offered !== null) return running.checksum === offered;
  return (
    running.version === assignment.resolvedVersion &&
    running.configurationName === assignment.configurationName
  );
}

/** To have it is not to have applied it. */
function sameOf({ evidence }: Running, statuses: Pick<Facts, 'status' | 'lcmStatus'>): Standing {
  if (evidence === 'Declared' && (statuses.status === 'Error' || statuses.lcmStatus === 'Error'))
    return standing('bad', 'Failed', 'It has what it should get, and has not applied it without errors.');
  if (evidence === 'Declared')
    return standing('good', 'Declared', 'It runs what it should get, and has said so itself.');
  if (evidence === 'Served')
    return standing(
      'info',
      'NotReported',
      'It has downloaded what it should get. It has not said yet that it runs it.',
    );
  return standing(
    'info',
    'NotDownloaded',
    'Its last poll told it what it should get. It has not downloaded that yet.',
  );
}

function otherOf(assignment: Assignment, running: Running, offered: string | null): Standing {
  const isSameVersion =
    offered !== null &&
    running.version === assignment.resolvedVersion &&
    running.configurationName === assignment.configurationName;
  const what = isSameVersion
    ? 'It runs this version with other parameters, or with other versions of its parts.'
    : 'It runs something else than it should get.';
  // A poll that is answered with something new leaves evidence of that; only a report can take it away again.
  return running.evidence === 'Declared'
    ? standing(
        'warn',
        'Differs',
        `${what} Either it has not polled since this changed, or it has reported since that it still runs the other one.`,
        true,
      )
    : standing('warn', 'NotPolledSince', `${what} It has not polled since this changed.`, true);
}
