/** Shapes of groups, of who is in them and what they hold, and of mappings to groups elsewhere. */

import { z } from 'zod';
import { isPrintable } from '../../domain/names.ts';
import { Description, Id, Label, Timestamp } from '../../http/schemas.ts';

/** Examples of the API description. */
const GROUP = {
  id: 'd4c3b2a1-f6e5-4887-aa99-ccbbffeedd00',
  name: 'Web team',
  description: 'Looks after the web servers',
  createdAt: '2026-11-20T09:08:00.000Z',
  modifiedAt: '2026-11-20T09:08:00.000Z',
};
const MEMBER = {
  id: '0b1f7c52-6a53-4d0e-9d43-7c1d2f0c9a11',
  username: 'alice',
  email: 'alice@example.com',
  accountType: 'User',
  isActive: true,
  requirePasswordChange: false,
  lockoutEnd: null,
  createdAt: '2026-11-20T09:08:00.000Z',
  modifiedAt: '2026-11-20T09:08:00.000Z',
};
const ROLE = { id: 'a1b2c3d4-e5f6-4788-99aa-bbccddeeff00', name: 'Deployer', isSystemRole: false };

export const GroupContent = z
  .strictObject({ name: Label, description: Description })
  .meta({ id: 'GroupContent', examples: [{ name: 'Web team', description: 'Looks after the web servers' }] });

export type GroupContent = z.output<typeof GroupContent>;

const AnyId = z.guid().transform((id) => id.toLowerCase());

/** These bounds keep what one statement binds below what SQLite takes, two values per row: 32,766. */
const MAX_MEMBERS = 10_000;
const MAX_ROLES = 1_000;

export const MemberIds = z
  .strictObject({ userIds: z.array(AnyId).max(MAX_MEMBERS) })
  .meta({ id: 'GroupMemberIds', examples: [{ userIds: [MEMBER.id] }] });
export const RoleIds = z
  .strictObject({ roleIds: z.array(AnyId).max(MAX_ROLES) })
  .meta({ id: 'GroupRoleIds', examples: [{ roleIds: [ROLE.id] }] });

export const Group = z
  .object({
    id: Id,
    name: z.string(),
    description: z.string().nullable(),
    createdAt: Timestamp,
    modifiedAt: Timestamp,
  })
  .meta({ id: 'Group', examples: [GROUP] });

/** A User as `/api/v1/users` lists it. */
export const Member = z
  .object({
    id: Id,
    username: z.string(),
    email: z.string(),
    accountType: z.enum(['User', 'ServiceAccount']),
    isActive: z.boolean(),
    requirePasswordChange: z.boolean(),
    lockoutEnd: Timestamp.nullable().meta({ description: 'Null unless locked now' }),
    createdAt: Timestamp,
    modifiedAt: Timestamp,
  })
  .meta({ id: 'GroupMember', examples: [MEMBER] });

export const HeldRole = z
  .object({ id: Id, name: z.string(), isSystemRole: z.boolean() })
  .meta({ id: 'GroupRole', examples: [ROLE] });

export const GroupDetails = Group.extend({ members: Member.array(), roles: HeldRole.array() }).meta({
  id: 'GroupDetails',
  examples: [{ ...GROUP, members: [MEMBER], roles: [ROLE] }],
});

const ExternalText = z
  .string()
  .max(1_024)
  .trim()
  .refine((text) => isPrintable(text, 256), 'Not 1 to 256 printable characters');

export const NewExternalMapping = z
  .strictObject({
    provider: ExternalText.meta({ description: 'Any name for the identity provider, always the same' }),
    externalGroupId: ExternalText,
    externalGroupName: ExternalText.nullish().transform((name) => name ?? null),
    groupId: AnyId,
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
  });

export type NewExternalMapping = z.output<typeof NewExternalMapping>;

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
