/** One's own password. */

import { useState } from 'preact/hooks';
import { send } from '../../client.ts';
import { useDeed } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { HiddenUsername, noPassword, PasswordFields, passwordOf } from '../../components/password-fields.tsx';
import { Problem } from '../../components/problem.tsx';

export function ChangePassword({ username }: { username: string }) {
  const [currentPassword, setCurrent] = useState('');
  const [password, setPassword] = useState(noPassword);
  const newPassword = passwordOf(password);
  const { isBusy, problem, start } = useDeed(async () => {
    await send('POST', '/auth/change-password', { currentPassword, newPassword });
    setCurrent('');
    setPassword(noPassword);
    return 'Your password was changed. Your other sessions have ended.';
  });
  const submit = (event: Event) => {
    event.preventDefault();
    if (newPassword !== null) void start();
  };
  return (
    <section class="card">
      <h2>Password</h2>
      <form class="edit" aria-label="Change password" onSubmit={submit}>
        <HiddenUsername username={username} />
        <Field
          label="Current password"
          name="currentPassword"
          type="password"
          autocomplete="current-password"
          required
          problem={problem}
          value={currentPassword}
          onInput={setCurrent}
        />
        <PasswordFields
          label="New password"
          name="newPassword"
          canGenerate={false}
          value={password}
          onChange={setPassword}
          problem={problem}
        />
        <p class="hint">All other sessions of yours end. Tokens stay.</p>
        {problem !== null && <Problem problem={problem} />}
        <div class="bar">
          <button
            type="submit"
            class="primary"
            disabled={isBusy || currentPassword === '' || newPassword === null}
            aria-busy={isBusy}
          >
            Change password
          </button>
        </div>
      </form>
    </section>
  );
}
