/** Shapes of users, of the roles that they hold and of the groups that they are in. */

import { z } from 'zod';
import type * as deed from '../../deeds/change-user.ts';
import { EMAIL, normalizeUserName } from '../../domain/names.ts';
import { PASSWORD_MAX } from '../../domain/password-rules.ts';
import {
  AccountType,
  EXAMPLES,
  groupView,
  heldRoleView,
  roleIdsBody,
  userView,
} from '../shared/principals.ts';

/** Comes out in NFKC. The first bound only saves the work of normalising a text that is far too long. */
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
  .describe('1 to 64 letters, digits and ._@-, the first a letter or digit; unique in any case');

/** 254 characters are the most that fit into a path of SMTP (RFC 5321 4.5.3.1.3). */
const Email = z.string().max(254).regex(EMAIL, 'Not an e-mail address');
/** Who was made by a sign-in at a provider that names no address has none. */
const EmailOrNone = z
  .string()
  .max(254)
  .regex(new RegExp(`^$|${EMAIL.source}`, 'u'), 'Not an e-mail address');

/** The bound only limits what is looked at. The password rules decide how long a password may be. */
const NewPassword = z
  .string()
  .max(PASSWORD_MAX * 4)
  .describe('12 to 256 characters, neither the user name nor a common one');

export const NewUser = z
  .strictObject({
    username: UserName,
    email: Email,
    password: NewPassword.nullish()
      .transform((password) => password ?? null)
      .describe('Of a User alone, who needs one'),
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
  }) satisfies z.ZodType<deed.NewUser>;

export const UserChange = z
  .strictObject({
    username: UserName,
    email: EmailOrNone,
    isActive: z.boolean().describe('False ends sessions and revokes tokens at once'),
  })
  .meta({
    id: 'UserChange',
    examples: [{ username: 'alice', email: 'alice@example.com', isActive: true }],
  }) satisfies z.ZodType<deed.UserChange>;

export const PasswordReset = z
  .strictObject({ newPassword: NewPassword })
  .meta({ id: 'PasswordReset', examples: [{ newPassword: 'four other words, chosen freely' }] });

export const RoleIds = roleIdsBody('UserRoleIds');

export const User = userView('User');

export const HeldRole = heldRoleView('UserRole');

export const UserDetails = User.extend({
  accessFailedCount: z.int().describe('Failed sign-ins towards the next lock, of which it takes five'),
  roles: z.array(HeldRole),
  groups: z.array(groupView('UserGroup')),
}).meta({
  id: 'UserDetails',
  examples: [{ ...EXAMPLES.user, accessFailedCount: 0, roles: [EXAMPLES.role], groups: [EXAMPLES.group] }],
});
