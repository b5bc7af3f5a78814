/** Shapes of roles. */

import { z } from 'zod';
import type * as deed from '../../deeds/change-role.ts';
import { PERMISSION_NAMES, type Permission } from '../../domain/permissions.ts';
import { Description, Id, Label, Timestamp } from '../../http/schemas.ts';

const KNOWN: ReadonlySet<string> = new Set(PERMISSION_NAMES);

const KnownPermission = z
  .string()
  .refine((name): name is Permission => KNOWN.has(name), {
    message: `No such permission; there are ${PERMISSION_NAMES.join(', ')}`,
    params: { code: 'unknown_permission' },
  })
  .meta({ published: { type: 'string', enum: PERMISSION_NAMES } });

/** Repeated permissions count once. They come out in the order of the list of all permissions. */
export const RoleContent = z
  .strictObject({
    name: Label,
    description: Description,
    permissions: z
      .array(KnownPermission)
      .max(1_000)
      .transform((given) => PERMISSION_NAMES.filter((name) => given.includes(name))),
  })
  .meta({
    id: 'RoleContent',
    examples: [
      {
        name: 'Deployer',
        description: 'Brings versions to nodes',
        permissions: ['nodes.read', 'nodes.assign-configuration'],
      },
    ],
  }) satisfies z.ZodType<deed.RoleContent>;

export const Role = z
  .object({
    id: Id,
    name: z.string(),
    description: z.string().nullable(),
    permissions: z.array(z.enum(PERMISSION_NAMES)).describe('In the order of /api/v1/permissions'),
    isSystemRole: z.boolean(),
    createdAt: Timestamp,
    modifiedAt: Timestamp,
  })
  .meta({
    id: 'Role',
    examples: [
      {
        id: 'a1b2c3d4-e5f6-4788-99aa-bbccddeeff00',
        name: 'Deployer',
        description: 'Brings versions to nodes',
        permissions: ['nodes.read', 'nodes.assign-configuration'],
        isSystemRole: false,
        createdAt: '2026-11-20T09:08:00.000Z',
        modifiedAt: '2026-11-20T09:08:00.000Z',
      },
    ],
  });
