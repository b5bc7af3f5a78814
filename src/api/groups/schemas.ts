/** Shapes of groups, of who is in them and what they hold, and of mappings to groups elsewhere. */

import { z } from 'zod';
import { isPrintable } from '../../domain/names.ts';
import { Description, Id, Label, Timestamp } from '../../http/schemas.ts';

export const GroupContent = z.strictObject({ name: Label, description: Description });

export type GroupContent = z.output<typeof GroupContent>;

const AnyId = z.guid().transform((id) => id.toLowerCase());

/** These bounds keep what one statement binds below what SQLite takes, two values per row: 32,766. */
const MAX_MEMBERS = 10_000;
const MAX_ROLES = 1_000;

export const MemberIds = z.strictObject({ userIds: z.array(AnyId).max(MAX_MEMBERS) });
export const RoleIds = z.strictObject({ roleIds: z.array(AnyId).max(MAX_ROLES) });

export const Group = z.object({
  id: Id,
  name: z.string(),
  description: z.string().nullable(),
  createdAt: Timestamp,
  modifiedAt: Timestamp,
});

/** A User as `/api/v1/users` lists it. */
export const Member = z.object({
  id: Id,
  username: z.string(),
  email: z.string(),
  accountType: z.enum(['User', 'ServiceAccount']),
  isActive: z.boolean(),
  requirePasswordChange: z.boolean(),
  lockoutEnd: Timestamp.nullable(),
  createdAt: Timestamp,
  modifiedAt: Timestamp,
});

export const HeldRole = z.object({ id: Id, name: z.string(), isSystemRole: z.boolean() });

export const GroupDetails = Group.extend({ members: Member.array(), roles: HeldRole.array() });

const ExternalText = z
  .string()
  .max(1_024)
  .trim()
  .refine((text) => isPrintable(text, 256), 'Not 1 to 256 printable characters');

export const NewExternalMapping = z.strictObject({
  provider: ExternalText,
  externalGroupId: ExternalText,
  externalGroupName: ExternalText.nullish().transform((name) => name ?? null),
  groupId: AnyId,
});

export type NewExternalMapping = z.output<typeof NewExternalMapping>;

export const ExternalMapping = z.object({
  id: Id,
  provider: z.string(),
  externalGroupId: z.string(),
  externalGroupName: z.string().nullable(),
  groupId: Id,
  groupName: z.string(),
  createdAt: Timestamp,
});
