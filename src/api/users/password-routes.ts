/** `/api/v1/users/{id}/reset-password` and `/unlock`: for those who cannot get in any more. */

import { noContent } from '../../http/answer.ts';
import { type Route, route } from '../../http/route.ts';
import { idsInPath } from '../../http/schemas.ts';
import { unlockUser } from './change.ts';
import { type ResetOptions, resetPassword } from './reset-password.ts';
import { PasswordReset } from './schemas.ts';

const PATH = '/api/v1/users/{id}';

const COMMON = { tags: ['Users'], access: { kind: 'permission', permission: 'users.manage' } } as const;

export function passwordRoutes(options: ResetOptions): Route[] {
  return [resetRoute(options), unlockRoute(options)];
}

function resetRoute(options: ResetOptions): Route {
  return route({
    ...COMMON,
    id: 'resetUserPassword',
    method: 'POST',
    path: `${PATH}/reset-password`,
    summary: "Set a user's password",
    description:
      'The user must change it at the next sign-in. Whoever sets a password could act as the user, so the caller needs ' +
      'every permission and grant that the user holds. Of oneself nobody sets it here, but with change-password alone.',
    params: idsInPath('id'),
    body: { kind: 'json', schema: PasswordReset },
    answers: { 204: { description: 'Set; all sessions of the user and a lock have ended' } },
    problems: ['service_account', 'session_required', 'beyond_own_permissions'],
    async handle({ principal, params, body, facts }) {
      const reset = { userId: params.id, newPassword: body.newPassword };
      await resetPassword(options, principal, facts.actor, reset);
      return noContent();
    },
  });
}

function unlockRoute({ database }: ResetOptions): Route {
  return route({
    ...COMMON,
    id: 'unlockUser',
    method: 'POST',
    path: `${PATH}/unlock`,
    summary: "End a user's lock",
    description: 'The caller needs every permission and grant that the user holds.',
    params: idsInPath('id'),
    answers: { 204: { description: 'Not locked, and no failed sign-in counts any more' } },
    problems: ['beyond_own_permissions'],
    async handle({ principal, params, facts }) {
      const caller = { principal, actor: facts.actor };
      await database.write.transaction().execute((trx) => unlockUser(trx, caller, params.id));
      return noContent();
    },
  });
}
