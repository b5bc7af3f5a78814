/** The events of a page of the history as two bands of time. The table below them says the same in words. */

import { Mark, type Tone } from '../../components/marks.tsx';
import { exactTime } from '../../components/time.tsx';
import type { StatusEvent } from '../../types.ts';

interface Segment {
  word: string;
  /** In thousandths of the whole width. */
  from: number;
  width: number;
}

const TONES: Record<string, Tone> = {
  Compliant: 'good',
  NonCompliant: 'warn',
  Error: 'bad',
  Downloading: 'info',
  Testing: 'info',
  Remediating: 'warn',
};
/** The tone of a state of a node or of its LCM. */
export const toneOf = (word: string): Tone => TONES[word] ?? 'idle';

const WIDTH = 1_000;
const HEIGHT = 22;
/** Thinner ones could not be seen. */
const THINNEST = 2;

interface TimelineProps {
  /** Newest first. */
  events: readonly StatusEvent[];
  /** The newest of them is the newest of all, so its state lasts until now. */
  isNewest: boolean;
}

export function Timeline({ events, isNewest }: TimelineProps) {
  const times = events.map(({ timestamp }) => Date.parse(timestamp));
  const begin = Math.min(...times);
  const end = isNewest ? Date.now() : Math.max(...times);
  const bandOf = (state: (event: StatusEvent) => string | null) => segmentsOf(events, state, begin, end);
  const bands = [
    { label: 'Status', segments: bandOf(({ status }) => status) },
    { label: 'LCM', segments: bandOf(({ lcmStatus }) => lcmStatus) },
  ].filter(({ segments }) => segments.length > 0);
  const words = [...new Set(bands.flatMap(({ segments }) => segments.map(({ word }) => word)))];
  return (
    <figure class="timeline" aria-hidden="true">
      {bands.map(({ label, segments }) => (
        <div key={label} class="timeline-band">
          <span class="muted">{label}</span>
          <Band segments={segments} />
        </div>
      ))}
      <figcaption>
        <span class="num">{exactTime(new Date(begin).toISOString())}</span>
        <span class="timeline-words">
          {words.map((word) => (
            <Mark key={word} word={word} tone={toneOf(word)} />
          ))}
        </span>
        <span class="num">{isNewest ? 'now' : exactTime(new Date(end).toISOString())}</span>
      </figcaption>
    </figure>
  );
}

function Band({ segments }: { segments: readonly Segment[] }) {
  return (
    <svg aria-hidden="true" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none">
      {segments.map(({ word, from, width }) => (
        // The height tells states apart where colours do not.
        <rect
          key={from}
          class={`band ${toneOf(word)}`}
          x={from}
          width={Math.max(THINNEST, width)}
          y={HEIGHT - heightOf(toneOf(word))}
          height={heightOf(toneOf(word))}
        />
      ))}
    </svg>
  );
}

const HEIGHTS: Record<Tone, number> = { idle: 4, good: 9, info: 13, warn: 17, bad: 22 };
const heightOf = (tone: Tone) => HEIGHTS[tone];

/** From each state to the next one of its kind. */
function segmentsOf(
  events: readonly StatusEvent[],
  state: (event: StatusEvent) => string | null,
  begin: number,
  end: number,
): Segment[] {
  const span = Math.max(1, end - begin);
  const place = (time: number) => ((time - begin) / span) * WIDTH;
  const own = events.flatMap((event) => {
    const word = state(event);
    return word === null ? [] : [{ word, at: Date.parse(event.timestamp) }];
  });
  const inOrder = own.reverse();
  return inOrder.map(({ word, at }, index) => {
    const until = inOrder[index + 1]?.at ?? end;
    return { word, from: place(at), width: place(until) - place(at) };
  });
}
