/** `/api/v1/fleet/history`: how the fleet was over time, and what happened meanwhile. */

import { z } from 'zod';
import type { AuditEntryRow } from '../../db/audit-trail.ts';
import type { Database, Db } from '../../db/database.ts';
import { withNames } from '../../db/entry-names.ts';
import { FLEET_EVENT_KINDS, FLEET_EVENTS, listFleetEvents } from '../../db/fleet-events.ts';
import { listHours, listOfferedHours, NOBODY } from '../../db/fleet-hours.ts';
import type { StateCounts } from '../../db/fleet-summary.ts';
import { stalenessRule } from '../../db/staleness.ts';
import { compareVersions } from '../../domain/version-order.ts';
import { READING_REPOSITORIES } from '../../http/problem-codes.ts';
import type { Route } from '../../http/route.ts';
import { Flag, given, Timestamp } from '../../http/schemas.ts';
import { HOUR, MINUTE, toTimestamp } from '../../lib/clock.ts';
import type { Threads } from '../../lib/threads.ts';
import type { FleetTasks } from '../../resolve/fleet-tasks.ts';
import { noCounts, type OfferedCounts } from '../../resolve/offered-counts.ts';
import { grantedResource } from '../../security/authorize.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { visibleTo } from '../../security/rights.ts';
import { GRANT_KINDS } from '../../versions/rows.ts';
import { operation, permitted } from '../shared/routes.ts';
import { bucketsOf, bucketsQuery, type Division } from './buckets.ts';

/** The newest events of the time are told, and no more than these. */
const MOST_EVENTS = 1_000;

const Span = bucketsQuery(z.object({}), { least: HOUR, text: '01:00:00' });
const SpanOfConfiguration = bucketsQuery(
  z.object({
    isComposite: given(Flag).meta({ description: 'Whether it is a composite configuration; default false' }),
  }),
  { least: HOUR, text: '01:00:00' },
);

const Count = z.int().min(0).nullable();
const bucket = {
  from: Timestamp,
  to: Timestamp.meta({ description: 'Belongs to the next bucket' }),
  nodes: Count.meta({
    description: 'At the end; null together with the others where nothing is kept of that',
  }),
  compliant: Count,
  nonCompliant: Count,
  error: Count,
  unknown: Count,
  stale: Count.meta({ description: 'They count by their status too' }),
};
const events = z
  .array(
    z.object({
      at: Timestamp,
      kind: z.enum(FLEET_EVENT_KINDS),
      summary: z.string().meta({ description: 'For people; may change at any time' }),
      link: z.string().nullable().meta({ description: 'The address of what it is about' }),
    }),
  )
  .meta({ description: `What the caller may read, oldest first; the newest ${MOST_EVENTS} of the time` });

const BUCKET = {
  from: '2026-11-20T09:00:00.000Z',
  to: '2026-11-20T10:00:00.000Z',
  ...{ nodes: 100, compliant: 96, nonCompliant: 2, error: 1, unknown: 1, stale: 2 },
};
const EVENTS = [
  {
    at: '2026-11-20T09:08:00.000Z',
    kind: 'Publish',
    summary: 'Version 1.2.0 of web-server was published',
    link: '/api/v1/configurations/web-server/versions/1.2.0',
  },
];

export const FleetHistory = z
  .object({ buckets: z.array(z.object(bucket)), events })
  .meta({ id: 'FleetHistory', examples: [{ buckets: [BUCKET], events: EVENTS }] });

export const ConfigurationHistory = z
  .object({
    buckets: z.array(
      z.object({
        ...bucket,
        versions: z
          .array(z.object({ version: z.string(), nodes: z.int() }))
          .nullable()
          .meta({ description: 'What the nodes are offered, highest first' }),
      }),
    ),
    events,
  })
  .meta({
    id: 'ConfigurationHistory',
    examples: [{ buckets: [{ ...BUCKET, versions: [{ version: '1.2.0', nodes: 100 }] }], events: EVENTS }],
  });

interface HistoryTools {
  database: Database;
  questions: Threads<FleetTasks>;
}

export function historyRoutes({ database, questions }: HistoryTools): Route[] {
  const { read } = database;
  const fleet = permitted(database, ['Fleet'], 'nodes.read');
  return [
    fleet.get('/api/v1/fleet/history', {
      ...operation(
        'getFleetHistory',
        'Count the nodes by status over time, and list what happened meanwhile',
      ),
      description:
        'Nodes by status at the end of each bucket, oldest first; in the one that holds now, now. The end of each hour ' +
        'is kept for 400 days.',
      query: Span,
      answer: { description: 'The buckets and the events', schema: FleetHistory },
      async handle({ principal, query, facts: { now } }) {
        const hours = await listHours(read, query.from, query.to);
        const kept = hours.map(({ ended, counts }) => ({ ended, counts: JSON.parse(counts) as StateCounts }));
        const live = async () =>
          questions.run(principal.userId, 'stateCounts', await stalenessRule(database, now));
        const found = await endsOf(query, now, kept, live);
        return {
          buckets: found.map(({ counts, ...span }) => ({ ...toSpan(span), ...(counts ?? NOT_KEPT) })),
          events: await eventsFor(read, principal, query),
        };
      },
    }),
    fleet.get('/api/v1/fleet/configurations/{name}/history', {
      ...operation('getConfigurationHistory', 'Count the nodes that are offered a configuration over time'),
      description:
        'The caller also needs Read on it. As for the whole fleet, of the nodes that are offered any version of it: ' +
        'directly, by a composite, or by a pin.',
      query: SpanOfConfiguration,
      answer: { description: 'The buckets and the events', schema: ConfigurationHistory },
      problems: READING_REPOSITORIES,
      async handle({ principal, params, query, facts: { now } }) {
        const kind = query.isComposite ? 'composites' : 'configurations';
        const { name: asked = '' } = params as Record<string, string>;
        const resource = await grantedResource(read, principal, GRANT_KINDS[kind], 'Read', { name: asked });
        const { id, name } = resource;
        const kept = await offeredHours(read, id, query);
        const live = async () => {
          const question = await stalenessRule(database, now);
          const all = await questions.run(principal.userId, 'offeredCounts', question);
          return all.get(`${kind}/${name}`) ?? { ...noCounts(), versions: {} };
        };
        const found = await endsOf(query, now, kept, live);
        return {
          buckets: found.map(({ counts, ...span }) => {
            const { versions, ...states } = counts ?? { ...NOT_KEPT, versions: null };
            return { ...toSpan(span), ...states, versions: versions && toVersions(versions) };
          }),
          events: await eventsFor(read, principal, query, id),
        };
      },
    }),
  ];
}

const NOT_KEPT = {
  ...{ nodes: null, compliant: null, nonCompliant: null, error: null, unknown: null, stale: null },
};

const toSpan = ({ start, end }: { start: number; end: number }) => ({
  from: toTimestamp(start),
  to: toTimestamp(end),
});

const toVersions = (versions: OfferedCounts['versions']) =>
  Object.entries(versions)
    .map(([version, nodes]) => ({ version, nodes }))
    .sort((a, b) => compareVersions(b.version, a.version));

/** The buckets with what holds at the end of each: the newest that is kept of it, or what holds now. */
async function endsOf<C>(
  query: Division,
  now: number,
  kept: readonly { ended: number; counts: C }[],
  live: () => Promise<C>,
): Promise<{ start: number; end: number; counts: C | null }[]> {
  let at = 0;
  const found: { start: number; end: number; counts: C | null }[] = [];
  for (const span of bucketsOf(query)) {
    let counts: C | null = null;
    for (; at < kept.length && (kept[at]?.ended ?? 0) <= span.end; at += 1)
      if ((kept[at]?.ended ?? 0) > span.start) counts = kept[at]?.counts ?? null;
    // What holds now held at an end that is just over, too.
    const isNow = span.start <= now && now < span.end + MINUTE;
    found.push({ ...span, counts: isNow ? await live() : counts });
  }
  return found;
}

/** What is kept of a configuration at the end of each hour of which anything is kept. */
async function offeredHours(db: Db, id: string, { from, to }: Division) {
  const hours = await listHours(db, from, to);
  const rows = await listOfferedHours(db, id, from, to);
  let at = -1;
  return hours.map(({ ended }) => {
    while ((rows[at + 1]?.ended ?? Number.POSITIVE_INFINITY) <= ended) at += 1;
    const counts = JSON.parse(rows[at]?.counts ?? NOBODY) as Partial<OfferedCounts>;
    return { ended, counts: { ...noCounts(), versions: {}, ...counts } };
  });
}

async function eventsFor(db: Db, principal: UserPrincipal, { from, to }: Division, resourceId?: string) {
  const visible = await visibleTo(db, principal);
  const wish = { from, to, most: MOST_EVENTS, ...(resourceId !== undefined && { resourceId }) };
  const entries = await withNames(db, await listFleetEvents(db, visible, wish));
  return entries.reverse().flatMap((entry) => {
    const kind = FLEET_EVENTS[entry.action];
    const { timestamp, summary } = entry;
    return kind ? [{ at: toTimestamp(timestamp), kind, summary, link: linkOf(entry) }] : [];
  });
}

function linkOf({ resource_type: type, resourceName: name, details }: AuditEntryRow): string | null {
  const { version } = JSON.parse(details ?? '{}') as { version?: string };
  if (name === null || version === undefined) return null;
  if (type === 'Parameters') return `/api/v1/configurations/${name}/parameter-files`;
  const path = type === 'Configuration' ? 'configurations' : 'composite-configurations';
  return `/api/v1/${path}/${name}/versions/${encodeURIComponent(version)}`;
}
