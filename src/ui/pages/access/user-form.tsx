/** Name, address and whether the account is active. */

import { send } from '../../client.ts';
import { EditForm, useEdit } from '../../components/edit-form.tsx';
import { CheckField, Field } from '../../components/field.tsx';
import { apiPath } from '../../links.ts';
import type { UserDetails } from '../../types.ts';

const ACTIVE_USER =
  'Only an active user can sign in. Deactivating ends all sessions and revokes all tokens for good.';
const ACTIVE_ACCOUNT = 'Deactivating revokes all tokens for good.';

export function UserForm({ user, etag }: { user: UserDetails; etag: string | null }) {
  const { username, email, isActive } = user;
  const edit = useEdit({ username, email, isActive }, etag);
  const { value, set } = edit;
  const run = async () => {
    await send('PUT', apiPath('users', user.id), value, { ifMatch: edit.etag });
    return `${value.username} was saved.`;
  };
  return (
    <EditForm label={`Details of ${username}`} edit={edit} run={run}>
      {(problem) => (
        <>
          <Field
            label="User name"
            name="username"
            autocomplete="off"
            required
            problem={problem}
            value={value.username}
            onInput={(text) => set('username', text)}
          />
          <Field
            label="E-mail"
            name="email"
            type="email"
            autocomplete="off"
            // Who was made by a sign-in at a provider may have none.
            required={email !== ''}
            problem={problem}
            value={value.email}
            onInput={(text) => set('email', text)}
          />
          <CheckField
            label="Active"
            hint={user.accountType === 'User' ? ACTIVE_USER : ACTIVE_ACCOUNT}
            checked={value.isActive}
            onChange={(checked) => set('isActive', checked)}
          />
        </>
      )}
    </EditForm>
  );
}
