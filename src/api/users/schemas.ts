/** Shapes of users, of the roles they hold and of the groups they are in. */

import { z } from 'zod';
import { normalizeUserName } from '../../domain/names.ts';
import { PASSWORD_MAX } from '../../domain/password-rules.ts';
import { choice, Id, Timestamp } from '../../http/schemas.ts';

/** Examples of the API description. */
const USER = {
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
const GROUP = {
  id: 'd4c3b2a1-f6e5-4887-aa99-ccbbffeedd00',
  name: 'Web team',
  description: 'Looks after the web servers',
  createdAt: '2026-11-20T09:08:00.000Z',
  modifiedAt: '2026-11-20T09:08:00.000Z',
};

const MAX_ROLES = 1_000;

/** In NFKC; the first bound only spares the work of normalising what is far too long. */
const UserName = z
  .string()
  .max(256)
  .transform((text, context) => {
    const name = normalizeUserName(text);
    if (name !== null) return name;
    const message = 'Not 1 to 64 letters, digits and ._@-, of which the first is a letter or digit';
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  })
  .meta({ description: '1 to 64 letters, digits and ._@-, the first a letter or digit; unique in any case' });

/** 254 characters are the most that fit into a path of SMTP (RFC 5321 4.5.3.1.3). */
const Email = z
  .string()
  .max(254)
  .regex(/^[^@\s\p{C}]+@[^@\s\p{C}]+$/u, 'Not an e-mail address');

/** Bounds what is looked at; how long a password may be is for the password rules to say. */
const NewPassword = z
  .string()
  .max(PASSWORD_MAX * 4)
  .meta({ description: '12 to 256 characters, neither the user name nor a common one' });

const AccountType = choice('User', 'ServiceAccount');

export const NewUser = z
  .strictObject({
    username: UserName,
    email: Email,
    password: NewPassword.nullish()
      .transform((password) => password ?? null)
      .meta({ description: 'Of a User alone, who needs one' }),
    accountType: AccountType.nullish().transform((type) => type ?? 'User'),
    requirePasswordChange: z
      .boolean()
      .nullish()
      .transform((required) => required ?? true),
  })
  .refine((user) => user.accountType !== 'User' || user.password !== null, {
    path: ['password'],
    error: 'A user needs a password',
  })
  .refine((user) => user.accountType !== 'ServiceAccount' || user.password === null, {
    path: ['password'],
    error: 'A service account has no password',
  })
  .meta({
    id: 'NewUser',
    examples: [{ username: 'alice', email: 'alice@example.com', password: 'correct horse battery staple' }],
  });

export const UserChange = z
  .strictObject({
    username: UserName,
    email: Email,
    isActive: z.boolean().meta({ description: 'False ends sessions and revokes tokens at once' }),
  })
  .meta({ id: 'UserChange', examples: [{ username: 'alice', email: 'alice@example.com', isActive: true }] });

export const PasswordReset = z
  .strictObject({ newPassword: NewPassword })
  .meta({ id: 'PasswordReset', examples: [{ newPassword: 'four other words, chosen freely' }] });

/** Repeated ids are no fault, but stay in until their places have been judged. */
export const RoleSet = z
  .strictObject({
    roleIds: z.array(z.guid().transform((id) => id.toLowerCase())).max(MAX_ROLES),
  })
  .meta({ id: 'UserRoleIds', examples: [{ roleIds: [ROLE.id] }] });

export const HeldRole = z
  .object({ id: Id, name: z.string(), isSystemRole: z.boolean() })
  .meta({ id: 'UserRole', examples: [ROLE] });

const JoinedGroup = z
  .object({
    id: Id,
    name: z.string(),
    description: z.string().nullable(),
    createdAt: Timestamp,
    modifiedAt: Timestamp,
  })
  .meta({ id: 'UserGroup', examples: [GROUP] });

export const User = z
  .object({
    id: Id,
    username: z.string(),
    email: z.string(),
    accountType: AccountType,
    isActive: z.boolean(),
    requirePasswordChange: z.boolean(),
    lockoutEnd: Timestamp.nullable().meta({ description: 'Null unless locked now' }),
    createdAt: Timestamp,
    modifiedAt: Timestamp,
  })
  .meta({ id: 'User', examples: [USER] });

export const UserDetails = User.extend({
  accessFailedCount: z
    .int()
    .meta({ description: 'Failed sign-ins towards the next lock, of which it takes five' }),
  roles: z.array(HeldRole),
  groups: z.array(JoinedGroup),
}).meta({ id: 'UserDetails', examples: [{ ...USER, accessFailedCount: 0, roles: [ROLE], groups: [GROUP] }] });
