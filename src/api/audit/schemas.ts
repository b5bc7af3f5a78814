/** Shapes of the audit trail. */

import { z } from 'zod';
import { AUDIT_ACTIONS } from '../../domain/audit-actions.ts';
import { Id, Instant, Paging, Timestamp } from '../../http/schemas.ts';

/** Type names as they are stored, by their lower-case spelling. */
const TYPES = new Map(Object.values(AUDIT_ACTIONS).map((type) => [type.toLowerCase(), type]));

const IdInQuery = z.guid().transform((id) => id.toLowerCase());

/** What names no known action or type finds nothing; that is no fault of the query. */
export const AuditFilter = Paging.extend({
  from: Instant.optional(),
  to: Instant.optional(),
  action: z
    .string()
    .transform((action) => action.toLowerCase())
    .optional(),
  resourceType: z
    .string()
    .transform((type): string => TYPES.get(type.toLowerCase()) ?? type)
    .optional(),
  resourceId: IdInQuery.optional(),
  userId: IdInQuery.optional(),
}).refine(({ from, to }) => from === undefined || to === undefined || from <= to, {
  path: ['to'],
  message: 'Before from',
});

export const AuditEntry = z.object({
  id: Id,
  timestamp: Timestamp,
  actorType: z.enum(['User', 'Node', 'System', 'Anonymous']),
  actorId: Id.nullable(),
  actorName: z.string().nullable(),
  action: z.string(),
  resourceType: z.string(),
  resourceId: Id.nullable(),
  details: z.record(z.string(), z.unknown()).nullable(),
  ipAddress: z.string().nullable(),
  requestId: z.string().nullable(),
});
