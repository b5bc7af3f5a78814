/** Shapes of groups, of who is in them and what they hold, and of mappings to groups elsewhere. */

import { z } from 'zod';
import type * as deed from '../../deeds/change-group.ts';
import { isPrintable } from '../../domain/names.ts';
import { Description, Id, IdInAnyCase, Label, Timestamp } from '../../http/schemas.ts';
import { EXAMPLES, groupView, heldRoleView, memberView, roleIdsBody } from '../shared/principals.ts';

export const GroupContent = z.strictObject({ name: Label, description: Description }).meta({
  id: 'GroupContent',
  examples: [{ name: 'Web team', description: 'Looks after the web servers' }],
}) satisfies z.ZodType<deed.GroupContent>;

/** This bound keeps what one statement binds, two values per row, below what SQLite takes: 32,766. */
const MAX_MEMBERS = 10_000;

export const MemberIds = z
  .strictObject({ userIds: z.array(IdInAnyCase).max(MAX_MEMBERS) })
  .meta({ id: 'GroupMemberIds', examples: [{ userIds: [EXAMPLES.user.id] }] });

export const RoleIds = roleIdsBody('GroupRoleIds');

export const Group = groupView('Group');

export const Member = memberView();

export const HeldRole = heldRoleView('GroupRole');

export const GroupDetails = Group.extend({ members: Member.array(), roles: HeldRole.array() }).meta({
  id: 'GroupDetails',
  examples: [{ ...EXAMPLES.group, members: [EXAMPLES.member], roles: [EXAMPLES.role] }],
});

const ExternalText = z
  .string()
  .max(1_024)
  .trim()
  .refine((text) => isPrintable(text, 256), 'Not 1 to 256 printable characters');

export const NewExternalMapping = z
  .strictObject({
    provider: ExternalText.describe('The `name` of the identity provider in the file of the server'),
    externalGroupId: ExternalText,
    externalGroupName: ExternalText.nullish().transform((name) => name ?? null),
    groupId: IdInAnyCase,
  })
  .meta({
    id: 'NewExternalMapping',
    examples: [
      {
        provider: 'entra',
        externalGroupId: '6e1f7d0a-8b3c-4f2e-9a5d-0c1b2a3f4e5d',
        externalGroupName: 'SG-Web',
        groupId: 'd4c3b2a1-f6e5-4887-aa99-ccbbffeedd00',
      },
    ],
  }) satisfies z.ZodType<deed.NewExternalMapping>;

export const ExternalMapping = z
  .object({
    id: Id,
    provider: z.string(),
    externalGroupId: z.string(),
    externalGroupName: z.string().nullable(),
    groupId: Id,
    groupName: z.string(),
    createdAt: Timestamp,
  })
  .meta({
    id: 'ExternalMapping',
    examples: [
      {
        id: '0a1b2c3d-4e5f-4607-8819-2a3b4c5d6e7f',
        provider: 'entra',
        externalGroupId: '6e1f7d0a-8b3c-4f2e-9a5d-0c1b2a3f4e5d',
        externalGroupName: 'SG-Web',
        groupId: 'd4c3b2a1-f6e5-4887-aa99-ccbbffeedd00',
        groupName: 'Web team',
        createdAt: '2026-11-20T09:08:00.000Z',
      },
    ],
  });
