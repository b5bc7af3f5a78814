/** `/api/v1/nodes/{nodeId}/timeline`: what happened to a node, and why. */

import { z } from 'zod';
import { isVisible, type Visible } from '../../db/activity.ts';
import type { Database, Db } from '../../db/database.ts';
import { engineOf } from '../../db/engine-of.ts';
import type { KnownNode } from '../../db/node-lookup.ts';
import { findCause } from '../../db/offer-causes.ts';
import { idOf, newestRows, placeOf, type TimelineRow, type Wanted } from '../../db/timeline.ts';
import { summarize } from '../../domain/activity-summary.ts';
import {
  DEEDS_ON_NODES,
  type Had,
  lcmSentence,
  type OfferChange,
  offeredSentence,
  reportSentence,
  runningSentence,
  statusSentence,
  TIMELINE_KINDS,
  type TimelineKind,
} from '../../domain/timeline.ts';
import { json } from '../../http/answer.ts';
import type { Route } from '../../http/route.ts';
import { idsInPath, Paging, Timestamp } from '../../http/schemas.ts';
import { toTimestamp } from '../../lib/clock.ts';
import { invalidField, notFound } from '../../lib/errors.ts';
import { Pace } from '../../lib/pace.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { visibleTo } from '../../security/rights.ts';
import { operation, permitted } from '../shared/routes.ts';

const KINDS = new Map<string, TimelineKind>(TIMELINE_KINDS.map((kind) => [kind.toLowerCase(), kind]));

const TimelineFilter = z.object({
  take: Paging.shape.take,
  before: z
    .string()
    .max(64)
    .optional()
    .meta({ description: 'Only what comes behind the entry with this id' }),
  kinds: z
    .string()
    .transform((text, context) => {
      const kinds = text.split(',').map((kind) => KINDS.get(kind.toLowerCase()));
      if (kinds.every((kind) => kind !== undefined)) return new Set(kinds);
      context.addIssue({ code: 'custom', message: `Not kinds: ${TIMELINE_KINDS.join(', ')}` });
      return z.NEVER;
    })
    .optional()
    .meta({
      description: `With commas between them: ${TIMELINE_KINDS.join(', ')}`,
      published: { type: 'string' },
    }),
});

export const TimelineEntry = z
  .object({
    id: z.string(),
    at: Timestamp,
    kind: z.enum(TIMELINE_KINDS),
    actorName: z.string().nullable().meta({ description: 'Null where nobody did it, or nobody knows who' }),
    summary: z.string().meta({ description: 'For people; may change at any time' }),
    details: z.record(z.string(), z.unknown()).meta({
      description:
        'Of `Offered` and `Running`: `before` and `after`, each `{configurationName, version, checksum}` or null; of ' +
        '`Offered` the `cause` too, `{id, action}` of an entry of the audit trail, null where none is known',
    }),
    link: z.string().nullable().meta({ description: 'The address of what tells more' }),
  })
  .meta({
    id: 'TimelineEntry',
    examples: [
      {
        id: 'e4711',
        at: '2026-11-20T09:08:00.000Z',
        kind: 'Offered',
        actorName: 'alice',
        summary: 'web-01.example.com is offered web-server 1.2.0 in place of web-server 1.1.0',
        details: {
          before: {
            configurationName: 'web-server',
            version: '1.1.0',
            checksum: 'ab5df625bc76dbd4e163bed2dd888df828f90159bb93556525c31821b6541d46',
          },
          after: {
            configurationName: 'web-server',
            version: '1.2.0',
            checksum: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
          },
          cause: { id: '4f5e6d7c-8b9a-4a0b-9c1d-2e3f4a5b6c7d', action: 'configuration.version_published' },
        },
        link: '/api/v1/manifests/9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      },
    ],
  });

export type TimelineEntryView = z.input<typeof TimelineEntry>;

export function timelineRoute(database: Database): Route {
  const { read } = database;
  return permitted(database, ['Nodes'], 'nodes.read').own('GET', '/api/v1/nodes/{nodeId}/timeline', {
    ...operation('listNodeTimeline', 'List what happened to a node, newest first'),
    description:
      'Of reports those are listed whose outcome differs from that of the report before. What the node is offered is ' +
      'noted at its polls. Reports need `reports.read`, and the cause of an offer Read on what it is about or ' +
      '`audit.read`; what the caller may not read is left out. There is no total; `before` with the id of the last entry ' +
      'gives the next page.',
    params: idsInPath('nodeId'),
    query: TimelineFilter,
    answers: { 200: { description: 'The entries', schema: TimelineEntry.array() } },
    async handle({ principal, params: { nodeId }, query }) {
      const node = await database.nodeLookup.byNodeId(nodeId);
      if (node === null) throw notFound('No such node');
      const kinds = new Set(query.kinds ?? TIMELINE_KINDS);
      const all = new Set(TIMELINE_KINDS as readonly TimelineKind[]);
      if (!principal.permissions.has('reports.read')) for (const set of [kinds, all]) set.delete('Report');
      const before =
        query.before === undefined ? null : await placeOf(read, { nodeId, kinds: all }, query.before);
      if (query.before !== undefined && before === null)
        throw invalidField('/before', 'The timeline has no entry of this id for you');
      const rows = await newestRows(read, { nodeId, kinds }, { take: query.take, before });
      return json(await new Showing(database, principal, node).show(rows, { nodeId, kinds }));
    },
  });
}

/** Shows the rows of one page. */
class Showing {
  private readonly db: Db;
  private readonly lookup: Database['nodeLookup'];
  private readonly principal: UserPrincipal;
  private readonly node: KnownNode;

  constructor({ read, nodeLookup }: Database, principal: UserPrincipal, node: KnownNode) {
    this.db = read;
    this.lookup = nodeLookup;
    this.principal = principal;
    this.node = node;
  }

  async show(rows: readonly TimelineRow[], { nodeId }: Wanted): Promise<TimelineEntryView[]> {
    const { fqdn } = await this.db
      .selectFrom('nodes')
      .select('fqdn')
      .where('id', '=', nodeId)
      .executeTakeFirstOrThrow();
    const shown = new Map<string, Omit<TimelineEntryView, 'id' | 'at'>>();
    for (const part of [
      await this.deeds(keysOf(rows, 'a'), fqdn),
      await this.events(keysOf(rows, 'e'), fqdn),
      await this.reports(keysOf(rows, 'r'), fqdn),
      await this.statuses(keysOf(rows, 's'), fqdn),
    ])
      for (const [id, entry] of part) shown.set(id, entry);
    // What was deleted meanwhile is left out.
    return rows.flatMap((row) => {
      const entry = shown.get(idOf(row));
      return entry ? [{ id: idOf(row), at: toTimestamp(row.timestamp), ...entry }] : [];
    });
  }

  private async deeds(keys: readonly string[], fqdn: string) {
    const rows = await this.db
      .selectFrom('audit_entries')
      .select(['id', 'action', 'actor_name', 'details'])
      .where(engineOf(this.db).isOneOf('id', keys))
      .execute();
    return rows.map(({ id, action, actor_name: actorName, details: text }): Part => {
      const { tokenId: _token, registrationKeyId: _key, ...details } = JSON.parse(text ?? '{}');
      const kind = DEEDS_ON_NODES[action as keyof typeof DEEDS_ON_NODES] ?? 'Settings';
      const summary = summarize(action, fqdn, details);
      return [`a${id}`, { kind, actorName, summary, details: { action, ...details }, link: null }];
    });
  }

  private async events(keys: readonly string[], fqdn: string): Promise<Part[]> {
    const rows = await this.db
      .selectFrom('node_events')
      .select(['seq', 'kind', 'timestamp', 'before', 'after'])
      .where(engineOf(this.db).isOneOf('seq', keys.map(Number)))
      .execute();
    const parts: Part[] = [];
    const pace = new Pace();
    const knowing = { visible: await visibleTo(this.db, this.principal), hasScope: await this.scopes(fqdn) };
    for (const row of rows) {
      const before = row.before === null ? null : (JSON.parse(row.before) as Had);
      const after = row.after === null ? null : (JSON.parse(row.after) as Had);
      const link = after && `/api/v1/manifests/${after.checksum}`;
      if (row.kind === 'Running' && after !== null) {
        const summary = runningSentence(fqdn, after);
        parts.push([
          `e${row.seq}`,
          { kind: 'Running', actorName: null, summary, details: { before, after }, link },
        ]);
        continue;
      }
      const found = await this.causeOf(row, { before, after, ...knowing });
      const cause = found ? { id: found.id, action: found.action } : null;
      const summary = offeredSentence(fqdn, before, after);
      const details = { before, after, cause };
      parts.push([
        `e${row.seq}`,
        { kind: 'Offered', actorName: found?.actor_name ?? null, summary, details, link },
      ]);
      if (pace.isDue) await pace.rest();
    }
    return parts;
  }

  private async causeOf(
    { seq, timestamp: at }: { seq: number; timestamp: number },
    { visible, ...change }: OfferChange & { visible: Visible },
  ) {
    const { nodeId } = this.node;
    const last = await this.db
      .selectFrom('node_events')
      .select('timestamp')
      .where('node_id', '=', nodeId)
      .where('kind', '=', 'Offered')
      .where('seq', '<', seq)
      .orderBy('seq', 'desc')
      .limit(1)
      .executeTakeFirst();
    const cause = await findCause(this.db, { nodeId, at, since: last?.timestamp ?? 0, ...change });
    if (cause === undefined) return undefined;
    const isOfScopes = cause.resource_type === 'ScopeType' || cause.resource_type === 'ScopeValue';
    const mayRead = isOfScopes || this.principal.permissions.has('audit.read') || isVisible(visible, cause);
    return mayRead ? cause : undefined;
  }

  /** Tells whether the node gets parameters of a scope, or got them: it has the tag, or had it. */
  private async scopes(fqdn: string): Promise<(scopeType: string, value: string | null) => boolean> {
    const links = await this.lookup.scopesOf(this.node);
    const rows = await this.db
      .selectFrom('audit_entries')
      .select('details')
      .where('resource_id', '=', this.node.nodeId)
      .where('action', '=', 'node.untagged')
      .execute();
    const known = new Set(
      links.map(({ scopeTypeName, scopeValue }) => `${scopeTypeName}/${scopeValue ?? ''}`),
    );
    for (const { details } of rows) {
      const { scopeType, scopeValue } = JSON.parse(details ?? '{}');
      known.add(`${scopeType}/${scopeValue}`);
    }
    return (scopeType, value) => known.has(`${scopeType}/${value ?? ''}`) || value === fqdn;
  }

  private async reports(keys: readonly string[], fqdn: string) {
    const rows = await this.db
      .selectFrom('reports')
      .select(['id', 'operation', 'in_desired_state', 'had_errors'])
      .where(engineOf(this.db).isOneOf('id', keys))
      .execute();
    return rows.map(({ id, operation: of, in_desired_state: state, had_errors }): Part => {
      const details = {
        ...{ operation: of, hadErrors: had_errors === 1 },
        inDesiredState: state === null ? null : state === 1,
      };
      const summary = reportSentence(fqdn, details);
      return [`r${id}`, { kind: 'Report', actorName: null, summary, details, link: `/api/v1/reports/${id}` }];
    });
  }

  private async statuses(keys: readonly string[], fqdn: string) {
    const rows = await this.db
      .selectFrom('status_events')
      .select(['id', 'status', 'lcm_status as lcmStatus'])
      .where(engineOf(this.db).isOneOf('id', keys.map(Number)))
      .execute();
    return rows.map(({ id, status, lcmStatus }): Part => {
      const common = { actorName: null, link: null };
      if (status !== null)
        return [
          `s${id}`,
          { ...common, kind: 'Status', summary: statusSentence(fqdn, status), details: { status } },
        ];
      const summary = lcmSentence(fqdn, lcmStatus ?? 'Unknown');
      return [`s${id}`, { ...common, kind: 'LcmStatus', summary, details: { lcmStatus } }];
    });
  }
}

type Part = [id: string, entry: Omit<TimelineEntryView, 'id' | 'at'>];

const keysOf = (rows: readonly TimelineRow[], source: TimelineRow['source']) =>
  rows.flatMap((row) => (row.source === source ? row.key : []));
