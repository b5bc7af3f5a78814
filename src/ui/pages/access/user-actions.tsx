/** What can be done to a user: a new password, an end to a lock, deletion. */

import { useId, useState } from 'preact/hooks';
import { send } from '../../client.ts';
import { DeedButton, DeedDialog } from '../../components/dialog.tsx';
import { HiddenUsername, noPassword, PasswordFields, passwordOf } from '../../components/password-fields.tsx';
import { apiPath } from '../../links.ts';
import { LOCAL } from '../../providers.ts';
import { forget } from '../../resource.ts';
import { usePlace } from '../../router.ts';
import { me } from '../../session.ts';
import type { UserDetails } from '../../types.ts';
import type { MadePassword } from './generated-password.tsx';

type Open = 'password' | 'delete' | null;

interface UserActionsProps {
  user: UserDetails;
  onMadePassword: (made: MadePassword) => void;
}

export function UserActions({ user, onMadePassword }: UserActionsProps) {
  const [open, setOpen] = useState<Open>(null);
  const close = () => setOpen(null);
  const isLocked = user.lockoutEnd !== null || user.accessFailedCount > 0;
  return (
    <>
      {user.accountType === 'User' && <ResetButton user={user} onClick={() => setOpen('password')} />}
      {isLocked && (
        <DeedButton
          deed="Unlock"
          run={async () => {
            await send('POST', `${apiPath('users', user.id)}/unlock`);
            return `${user.username} is not locked any more.`;
          }}
        />
      )}
      <button type="button" onClick={() => setOpen('delete')}>
        Delete
      </button>
      {open === 'password' && <ResetPassword user={user} onClose={close} onMade={onMadePassword} />}
      {open === 'delete' && <DeleteUser user={user} onClose={close} />}
    </>
  );
}

function ResetButton({ user, onClick }: { user: UserDetails; onClick: () => void }) {
  const id = useId();
  const isOneself = user.id === me.value?.userId;
  return (
    <span class="deed">
      <button
        type="button"
        disabled={isOneself}
        aria-describedby={isOneself ? id : undefined}
        onClick={onClick}
      >
        Reset password
      </button>
      {isOneself && (
        <span id={id} class="hint">
          {me.value?.authProvider === LOCAL ? (
            <>
              Change your own under <a href="/ui/me">You</a>.
            </>
          ) : (
            'Nobody can reset their own password.'
          )}
        </span>
      )}
    </span>
  );
}

interface ResetPasswordProps {
  user: UserDetails;
  onClose: () => void;
  onMade: (made: MadePassword) => void;
}

function ResetPassword({ user, onClose, onMade }: ResetPasswordProps) {
  const [password, setPassword] = useState(noPassword);
  const newPassword = passwordOf(password);
  const { username } = user;
  return (
    <DeedDialog
      heading={`Reset the password of ${username}`}
      deed="Reset password"
      isDisabled={newPassword === null}
      onClose={onClose}
      run={async () => {
        await send('POST', `${apiPath('users', user.id)}/reset-password`, { newPassword });
        if (password.isGenerated && newPassword !== null) onMade({ username, password: newPassword });
        return `The password of ${username} was reset.`;
      }}
    >
      {(problem) => (
        <>
          <p>
            All sessions of {username} end, and a lock too. The password must be changed at the next sign-in.
          </p>
          <HiddenUsername username={username} />
          <PasswordFields
            label="New password"
            name="newPassword"
            value={password}
            onChange={setPassword}
            problem={problem}
          />
        </>
      )}
    </DeedDialog>
  );
}

function DeleteUser({ user, onClose }: { user: UserDetails; onClose: () => void }) {
  const { go } = usePlace();
  return (
    <DeedDialog
      heading={`Delete ${user.username}`}
      deed="Delete"
      isDanger
      onClose={onClose}
      run={async () => {
        const path = apiPath('users', user.id);
        await send('DELETE', path);
        forget(path);
        go('/ui/access/users');
        return `${user.username} was deleted.`;
      }}
    >
      <p>
        Sessions, tokens, memberships and grants of {user.username} go with it. The name becomes free. It
        cannot be taken back.
      </p>
    </DeedDialog>
  );
}
