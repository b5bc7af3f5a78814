/** Makes a user or a service account, with the first roles. */

import { useState } from 'preact/hooks';
import { type ApiProblem, send } from '../../client.ts';
import { Choose } from '../../components/choose.tsx';
import { DeedDialog } from '../../components/dialog.tsx';
import { CheckField, Field, SelectField } from '../../components/field.tsx';
import { Part } from '../../components/page.tsx';
import { noPassword, PasswordFields, passwordOf } from '../../components/password-fields.tsx';
import { apiPath } from '../../links.ts';
import { refresh } from '../../resource.ts';
import type { UserDetails } from '../../types.ts';
import type { MadePassword } from './generated-password.tsx';
import { roleItems, useRoles } from './roles-of.ts';

const KINDS = [
  { value: 'User', label: 'User: a person who signs in' },
  { value: 'ServiceAccount', label: 'Service account: a program that uses tokens' },
];

interface Wish {
  username: string;
  email: string;
  accountType: string;
  requirePasswordChange: boolean;
}

const EMPTY: Wish = { username: '', email: '', accountType: 'User', requirePasswordChange: true };

interface NewUserProps {
  onClose: () => void;
  onMadePassword: (made: MadePassword) => void;
}

export function NewUser({ onClose, onMadePassword }: NewUserProps) {
  const [wish, setWish] = useState(EMPTY);
  const [password, setPassword] = useState(noPassword);
  const [roleIds, setRoleIds] = useState<ReadonlySet<string>>(new Set());
  const [made, setMade] = useState<UserDetails | null>(null);
  const isPerson = wish.accountType === 'User';
  const secret = isPerson ? passwordOf(password) : null;
  const run = async () => {
    // If only the roles were refused, the next attempt must not make the user again.
    const user = made ?? (await send<UserDetails>('POST', '/users', bodyOf(wish, secret))).data;
    setMade(user);
    if (made === null && secret !== null && password.isGenerated)
      onMadePassword({ username: user.username, password: secret });
    if (roleIds.size > 0)
      await send('PUT', `${apiPath('users', user.id)}/roles`, { roleIds: [...roleIds] }).finally(refresh);
    return `${user.username} was created.`;
  };
  return (
    <DeedDialog
      heading="New user"
      deed="Create"
      isWide
      isDisabled={isPerson && secret === null}
      onClose={onClose}
      run={run}
    >
      {(problem) => (
        <>
          {made !== null && <p>{made.username} was created. Only the roles were refused.</p>}
          <Identity wish={wish} onChange={setWish} problem={problem} />
          {isPerson && (
            <PasswordFields
              label="Password"
              name="password"
              value={password}
              onChange={setPassword}
              problem={problem}
            />
          )}
          {isPerson && (
            <CheckField
              label="The user must choose another one at the first sign-in"
              checked={wish.requirePasswordChange}
              onChange={(requirePasswordChange) => setWish({ ...wish, requirePasswordChange })}
            />
          )}
          <FirstRoles chosen={roleIds} onChange={setRoleIds} />
        </>
      )}
    </DeedDialog>
  );
}

function bodyOf({ requirePasswordChange, ...wish }: Wish, password: string | null): object {
  return password === null ? wish : { ...wish, password, requirePasswordChange };
}

interface IdentityProps {
  wish: Wish;
  onChange: (wish: Wish) => void;
  problem: ApiProblem | null;
}

function Identity({ wish, onChange, problem }: IdentityProps) {
  return (
    <>
      <SelectField
        label="Kind"
        name="accountType"
        choices={KINDS}
        problem={problem}
        value={wish.accountType}
        onInput={(accountType) => onChange({ ...wish, accountType })}
      />
      <Field
        label="User name"
        name="username"
        hint="1 to 64 letters, digits and ._@-, of which the first is a letter or digit."
        autocomplete="off"
        required
        problem={problem}
        value={wish.username}
        onInput={(username) => onChange({ ...wish, username })}
      />
      <Field
        label="E-mail"
        name="email"
        type="email"
        autocomplete="off"
        required
        problem={problem}
        value={wish.email}
        onInput={(email) => onChange({ ...wish, email })}
      />
    </>
  );
}

interface FirstRolesProps {
  chosen: ReadonlySet<string>;
  onChange: (chosen: ReadonlySet<string>) => void;
}

function FirstRoles({ chosen, onChange }: FirstRolesProps) {
  const roles = useRoles();
  if (roles === null)
    return <p class="hint">You may not see the roles, so somebody else has to give them.</p>;
  return (
    <Part of={roles}>
      {(all) => (
        <Choose legend="Roles" items={roleItems(all, new Set())} chosen={chosen} onChange={onChange} />
      )}
    </Part>
  );
}
