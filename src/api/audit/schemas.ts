/** Shapes of the audit trail. */

import { z } from 'zod';
import { BEGINNING } from '../../db/audit-trail.ts';
import { AUDIT_ACTIONS } from '../../domain/audit-actions.ts';
import { historyFilter, Id, Timestamp } from '../../http/schemas.ts';

/** Resource types as they are stored, by their lower-case spelling. */
const TYPES = new Map(Object.values(AUDIT_ACTIONS).map(({ on }): [string, string] => [on.toLowerCase(), on]));

const IdInQuery = z.guid().transform((id) => id.toLowerCase());

/** Values with commas between them, in lower case. */
const List = z
  .string()
  .max(2_000)
  .transform((text) => text.toLowerCase().split(','))
  .optional();

/** An action or type that does not exist is allowed, and matches nothing. */
export const AuditFilter = historyFilter({
  action: List.meta({ description: 'A star stands for any characters, as in `configuration.*`' }),
  actor: List.meta({
    description: 'Who acted: a user or a node, by name or id, or `hawser`, the server itself',
  }),
  resource: List.meta({
    description:
      'What was acted on, by name or id: a node, a configuration and its parameters, a composite, a user, a group, a ' +
      'role, a scope type or value',
  }),
  resourceType: z
    .string()
    .transform((type): string => TYPES.get(type.toLowerCase()) ?? type)
    .optional(),
  resourceId: IdInQuery.optional(),
  userId: IdInQuery.optional(),
  after: z
    .union([z.literal(BEGINNING), IdInQuery], 'Not the id of an entry, nor 0 for the oldest that is kept')
    .optional()
    .meta({ description: 'Only what was written after this entry, oldest first; 0 begins with the oldest' }),
});

export const AuditEntry = z
  .object({
    id: Id,
    timestamp: Timestamp,
    actorType: z.enum(['User', 'Node', 'System', 'Anonymous']),
    actorId: Id.nullable(),
    actorName: z.string().nullable().meta({ description: 'As it was then' }),
    action: z.string().meta({ description: 'Such as `user.created`' }),
    resourceType: z.string(),
    resourceId: z.string().nullable().meta({ description: 'A lower-case UUID; of a change set its number' }),
    resourceName: z
      .string()
      .nullable()
      .meta({ description: 'As it is now, or was last; null where nothing knows it' }),
    summary: z.string().meta({ description: 'For people; may change at any time' }),
    details: z
      .record(z.string(), z.unknown())
      .nullable()
      .meta({ description: 'What was changed, by action; never a secret' }),
    ipAddress: z.string().nullable(),
    requestId: z
      .string()
      .nullable()
      .meta({ description: 'As in the log; null of what the server does by itself' }),
  })
  .meta({
    id: 'AuditEntry',
    examples: [
      {
        id: '4f5e6d7c-8b9a-4a0b-9c1d-2e3f4a5b6c7d',
        timestamp: '2026-11-20T09:08:00.000Z',
        actorType: 'User',
        actorId: '0b1f7c52-6a53-4d0e-9d43-7c1d2f0c9a11',
        actorName: 'alice',
        action: 'configuration.version_published',
        resourceType: 'Configuration',
        resourceId: '3c9a4b1e-0f6d-4c57-9b2a-8e7d6c5b4a30',
        resourceName: 'web-server',
        summary: 'Version 1.2.0 of web-server was published',
        details: { name: 'web-server', version: '1.2.0', commit: '8c1f0d5a6b7e4c39a2d1f0e9b8c7d6a5f4e3d2c1' },
        ipAddress: '192.0.2.17',
        requestId: 'f3b9a1c2-0d4e-4f5a-8b6c-7d8e9fa0b1c2',
      },
    ],
  });
