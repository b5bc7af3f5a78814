/** When the page of the fleet shows the list of first steps. The list itself is loaded only then. */

import type { FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Skeleton } from '../../components/page.tsx';
import { keep, readKept } from '../../kept.ts';
import { me } from '../../session.ts';
import type { FleetSummary } from '../../types.ts';
import type { StepListProps } from '../first-steps/list.tsx';
import { hasStatus, isAssigned } from '../first-steps/summary.ts';

/** In milliseconds. A step that was done elsewhere is ticked off within five seconds. */
const PAUSE = 2_000;
const USUAL_PAUSE = 15_000;
const CLOSED = 'closed';

/** Each user of this browser closes the list for themselves. */
const keyOfUser = () => `hawser.first-steps.${me.value?.userId}`;

export const openFirstSteps = () => keep(keyOfUser(), null);

/** Whether the list has a place on the page. */
export function needsFirstSteps(summary: FleetSummary): boolean {
  // The steps before these two are done with them.
  const isSettled = isAssigned(summary) && hasStatus(summary);
  return readKept(keyOfUser()) !== CLOSED && !isSettled;
}

/** In milliseconds: after which time the summary is read again. */
export function pauseOf(summary: unknown): number {
  return needsFirstSteps(summary as FleetSummary) ? PAUSE : USUAL_PAUSE;
}

/** Stays on the page once it was needed: a dialog of the last step may still be open. */
export function FirstSteps({ summary }: { summary: FleetSummary }) {
  const isNeeded = needsFirstSteps(summary);
  const [List, setList] = useState<FunctionComponent<StepListProps> | null>(null);
  const [isMissing, setMissing] = useState(false);
  useEffect(() => {
    if (!isNeeded) return;
    import('../first-steps/list.tsx').then(
      ({ StepList }) => setList(() => StepList),
      // The pages themselves have all that the list leads to.
      () => setMissing(true),
    );
  }, [isNeeded]);
  if (List !== null)
    return (
      <List summary={summary} pause={PAUSE} isShown={isNeeded} onClose={() => keep(keyOfUser(), CLOSED)} />
    );
  return isNeeded && !isMissing ? (
    <section class="part" aria-busy="true">
      <Skeleton lines={6} />
    </section>
  ) : null;
}
