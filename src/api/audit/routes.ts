/** `/api/v1/audit`: the trail of who changed what. It can be read; nothing here writes to it. */

import { type AuditEntryRow, allEntries, listEntries } from '../../db/audit-trail.ts';
import type { Database } from '../../db/database.ts';
import type { Route } from '../../http/route.ts';
import { toTimestamp } from '../../lib/clock.ts';
import { operation, permitted } from '../shared/routes.ts';
import { AuditEntry, AuditFilter } from './schemas.ts';

export function auditRoutes(database: Database): Route[] {
  return [
    permitted(database, ['Audit'], 'audit.read').list('/api/v1/audit', {
      ...operation(
        'listAuditEntries',
        'List entries of the audit trail, newest first, or what follows an entry',
      ),
      description:
        'One entry per change and per refused sign-in or registration. `from` and `to` are both inclusive. `actor`, ' +
        '`resource` and `action` take several values with commas between them. All are matched without regard to case, ' +
        'and what does not exist matches nothing. No route changes or deletes entries. Of a flood of refusals 100 per address and ' +
        'minute are recorded, the last of which says so; user names that do not exist never are, as people type ' +
        'passwords there. With `after` the entries that were written after that one come, oldest first: whoever ' +
        'remembers the id of the last entry, and asks again with it, misses none. `application/x-ndjson` has one entry ' +
        'in each line.',
      query: AuditFilter,
      answer: { description: 'The entries that match', schema: AuditEntry },
      rows: ({ query }) => listEntries(database.read, query),
      asLines: true,
      // Retention deletes the oldest entries, so a place that was counted from them would move.
      behind: ({ id }, { after }) => (after === undefined ? undefined : { after: id }),
      problems: ['audit_gone'],
      whole: ({ query }) => allEntries(database.read, query),
      show: toAuditEntry,
    }),
  ];
}

function toAuditEntry(row: AuditEntryRow) {
  return {
    id: row.id,
    timestamp: toTimestamp(row.timestamp),
    actorType: row.actor_type,
    actorId: row.actor_id,
    actorName: row.actor_name,
    action: row.action,
    resourceType: row.resource_type,
    resourceId: row.resource_id,
    resourceName: row.resourceName,
    summary: row.summary,
    details: row.details === null ? null : (JSON.parse(row.details) as Record<string, unknown>),
    ipAddress: row.ip_address,
    requestId: row.request_id,
  };
}
