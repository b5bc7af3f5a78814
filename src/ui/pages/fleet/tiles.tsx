/** The fleet in eight numbers. Each leads to the nodes that it counts. */

import type { Tone } from '../../components/marks.tsx';
import { Num } from '../../components/num.tsx';
import { links } from '../../links.ts';
import type { FleetSummary } from '../../types.ts';

interface Tile {
  label: string;
  value: number;
  query: Record<string, string>;
  /** How it looks where there is at least one. */
  tone: Tone | null;
}

function tilesOf({ nodes, byStatus, stale, unassigned, certificatesExpiring }: FleetSummary): Tile[] {
  const of = (status: string, tone: Tone): Tile => ({
    label: status,
    value: byStatus[status] ?? 0,
    query: { status },
    tone,
  });
  return [
    { label: 'Nodes', value: nodes, query: {}, tone: null },
    of('Compliant', 'good'),
    of('NonCompliant', 'warn'),
    of('Error', 'bad'),
    of('Unknown', 'idle'),
    { label: 'Stale', value: stale, query: { stale: 'true' }, tone: 'warn' },
    { label: 'Unassigned', value: unassigned, query: { unassigned: 'true' }, tone: 'info' },
    {
      label: 'Certificates expiring',
      value: certificatesExpiring,
      query: { certificateExpiring: 'true' },
      tone: 'warn',
    },
  ];
}

export function Tiles({ summary }: { summary: FleetSummary }) {
  return (
    <ul class="tiles">
      {tilesOf(summary).map(({ label, value, query, tone }) => (
        <li key={label}>
          <a class={`tile ${value > 0 && tone !== null ? tone : ''}`} href={links.nodes(query)}>
            <span class="tile-label">{label}</span>{' '}
            <strong class="tile-value">
              <Num value={value} />
            </strong>
            <Share part={value} whole={summary.nodes} />
          </a>
        </li>
      ))}
    </ul>
  );
}

/** What part of the fleet it is, for the eye. The figures say the same. */
function Share({ part, whole }: { part: number; whole: number }) {
  const share = whole === 0 ? 0 : part / whole;
  return (
    <svg class="share" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
      <rect class="share-whole" width="100" height="4" />
      <rect class="share-part" width={share === 0 ? 0 : Math.max(1, share * 100)} height="4" />
    </svg>
  );
}
