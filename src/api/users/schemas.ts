/** Shapes of users, of the roles they hold and of the groups they are in. */

import { z } from 'zod';
import { normalizeUserName } from '../../domain/names.ts';
import { PASSWORD_MAX } from '../../domain/password-rules.ts';
import { choice, Id, Timestamp } from '../../http/schemas.ts';

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
  });

/** 254 characters are the most that fit into a path of SMTP (RFC 5321 4.5.3.1.3). */
const Email = z
  .string()
  .max(254)
  .regex(/^[^@\s\p{C}]+@[^@\s\p{C}]+$/u, 'Not an e-mail address');

/** Bounds what is looked at; how long a password may be is for the password rules to say. */
const NewPassword = z.string().max(PASSWORD_MAX * 4);

const AccountType = choice('User', 'ServiceAccount');

export const NewUser = z
  .strictObject({
    username: UserName,
    email: Email,
    password: NewPassword.nullish().transform((password) => password ?? null),
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
  });

export const UserChange = z.strictObject({ username: UserName, email: Email, isActive: z.boolean() });

export const PasswordReset = z.strictObject({ newPassword: NewPassword });

/** Repeated ids are no fault, but stay in until their places have been judged. */
export const RoleSet = z.strictObject({
  roleIds: z.array(z.guid().transform((id) => id.toLowerCase())).max(MAX_ROLES),
});

export const HeldRole = z.object({ id: Id, name: z.string(), isSystemRole: z.boolean() });

const JoinedGroup = z.object({
  id: Id,
  name: z.string(),
  description: z.string().nullable(),
  createdAt: Timestamp,
  modifiedAt: Timestamp,
});

export const User = z.object({
  id: Id,
  username: z.string(),
  email: z.string(),
  accountType: AccountType,
  isActive: z.boolean(),
  requirePasswordChange: z.boolean(),
  lockoutEnd: Timestamp.nullable(),
  createdAt: Timestamp,
  modifiedAt: Timestamp,
});

export const UserDetails = User.extend({
  accessFailedCount: z.int(),
  roles: z.array(HeldRole),
  groups: z.array(JoinedGroup),
});
