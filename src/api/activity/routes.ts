/** `/api/v1/activity`: what has happened to the things that a user may read. */

import { z } from 'zod';
import { type ActivityRow, findEntry, isVisible, listVisible } from '../../db/activity.ts';
import type { Database } from '../../db/database.ts';
import { type EntryNames, withNames } from '../../db/entry-names.ts';
import { sightOfSets } from '../../deeds/change-sets.ts';
import { ACTIVITY_TYPES } from '../../domain/activity-summary.ts';
import { json } from '../../http/answer.ts';
import type { Route } from '../../http/route.ts';
import { Id, IdInAnyCase, Paging, Timestamp } from '../../http/schemas.ts';
import { toTimestamp } from '../../lib/clock.ts';
import { invalidField } from '../../lib/errors.ts';
import { visibleTo } from '../../security/rights.ts';
import { operation, ResourceRoutes } from '../shared/routes.ts';

const ActivityFilter = z.object({
  take: Paging.shape.take,
  before: IdInAnyCase.optional().meta({ description: 'Only what comes behind the entry with this id' }),
});

export const ActivityEntry = z
  .object({
    id: Id.meta({ description: 'As in the audit trail' }),
    timestamp: Timestamp,
    actorName: z
      .string()
      .nullable()
      .meta({ description: 'As it was then; null where the node itself has acted' }),
    action: z.string().meta({ description: 'As in the audit trail' }),
    resourceType: z.enum(ACTIVITY_TYPES),
    resourceId: z.string().meta({
      description: 'A lower-case UUID, of parameters that of their configuration; of a change set its number',
    }),
    resourceName: z
      .string()
      .nullable()
      .meta({ description: 'Null where the resource is gone and the entry does not name it' }),
    summary: z.string().meta({ description: 'For people; may change at any time' }),
    changeSetId: z.int().nullable().meta({ description: 'The change set of which it was a deed' }),
  })
  .meta({
    id: 'ActivityEntry',
    examples: [
      {
        id: '4f5e6d7c-8b9a-4a0b-9c1d-2e3f4a5b6c7d',
        timestamp: '2026-11-20T09:08:00.000Z',
        actorName: 'alice',
        action: 'configuration.version_published',
        resourceType: 'Configuration',
        resourceId: '3c9a4b1e-0f6d-4c57-9b2a-8e7d6c5b4a30',
        resourceName: 'web-server',
        summary: 'Version 1.2.0 of web-server was published',
        changeSetId: 42,
      },
    ],
  });

export function activityRoute(database: Database): Route {
  const { read } = database;
  const forUsers = new ResourceRoutes(database, { tags: ['Fleet'], access: { kind: 'user' } });
  return forUsers.own('GET', '/api/v1/activity', {
    ...operation(
      'listActivity',
      'List what has happened to the things that the caller may read, newest first',
    ),
    description:
      'Changes of configurations, composites, parameters and change sets that the caller may read now, and of nodes for whoever ' +
      'holds nodes.read. What happened to those deleted since is shown to whoever may read all of their kind. There is no ' +
      'total; `before` with the id of the last entry gives the next page, and one that the caller may not see is 400.',
    query: ActivityFilter,
    answers: { 200: { description: 'The entries', schema: ActivityEntry.array() } },
    async handle({ principal, query: { take, before } }) {
      const visible = await visibleTo(read, principal);
      const sight = sightOfSets(read, principal);
      const place = before === undefined ? undefined : await findEntry(read, before);
      const isSeen = async (entry: ActivityRow) =>
        entry.resource_type === 'ChangeSet'
          ? (await sight([entry.resource_id ?? ''])).size > 0
          : isVisible(visible, entry);
      if (before !== undefined && !(place && (await isSeen(place))))
        throw invalidField('/before', 'No entry that you may see has this id');
      const rows = await listVisible(read, visible, { take, before: place, sight });
      return json((await withNames(read, rows)).map(toActivity));
    },
  });
}

function toActivity(row: ActivityRow & EntryNames) {
  return {
    id: row.id,
    timestamp: toTimestamp(row.timestamp),
    actorName: row.actor_name,
    action: row.action,
    resourceType: row.resource_type,
    resourceId: row.resource_id,
    resourceName: row.resourceName,
    summary: row.summary,
    changeSetId: changeSetOf(row),
  };
}

function changeSetOf({ details }: ActivityRow): number | null {
  const { changeSetId } = JSON.parse(details ?? '{}') as { changeSetId?: number };
  return changeSetId ?? null;
}
