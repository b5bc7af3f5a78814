/** What keeps a user from working: locked, inactive, a password to change. */

import { Mark } from '../../components/marks.tsx';
import type { User } from '../../types.ts';

/** @param none what stands there where nothing keeps the user from working */
export function UserMarks({ user, none }: { user: User; none?: string }) {
  const { isActive, lockoutEnd, requirePasswordChange } = user;
  if (isActive && lockoutEnd === null && !requirePasswordChange)
    return none === undefined ? null : <span class="muted">{none}</span>;
  return (
    <span class="marks">
      {!isActive && <Mark word="Inactive" tone="idle" />}
      {lockoutEnd !== null && <Mark word="Locked" tone="bad" />}
      {requirePasswordChange && <Mark word="Must change the password" tone="warn" />}
    </span>
  );
}
