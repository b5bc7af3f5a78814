/** The list of users and service accounts. */

import { useState } from 'preact/hooks';
import { Empty } from '../../components/empty.tsx';
import { Mark } from '../../components/marks.tsx';
import { ForbiddenPage, Page } from '../../components/page.tsx';
import { type Column, DataTable } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { links } from '../../links.ts';
import { useList } from '../../list.ts';
import { can } from '../../session.ts';
import type { User } from '../../types.ts';
import { GeneratedPassword, type MadePassword } from './generated-password.tsx';
import { NewUser } from './new-user.tsx';
import { UserMarks } from './user-marks.tsx';

const COLUMNS: readonly Column<User>[] = [
  {
    label: 'Name',
    isName: true,
    isLong: true,
    cell: ({ id, username }) => <a href={links.user(id)}>{username}</a>,
  },
  { label: 'Kind', cell: ({ accountType }) => accountType },
  {
    label: 'Active',
    cell: ({ isActive }) => <Mark word={isActive ? 'Yes' : 'No'} tone={isActive ? 'good' : 'idle'} />,
  },
  { label: 'State', cell: (user) => <UserMarks user={user} none="–" /> },
  { label: 'E-mail', isLong: true, cell: ({ email }) => email },
  { label: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
];

export function UsersPage() {
  return can('users.manage') ? <Users /> : <ForbiddenPage heading="Users" />;
}

function Users() {
  const list = useList<User>('/users');
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<MadePassword | null>(null);
  return (
    <Page
      heading="Users"
      of={[list.resource]}
      isEmpty={list.total === 0}
      isBusy={list.isBusy}
      actions={
        <button type="button" class="primary" onClick={() => setMaking(true)}>
          New user
        </button>
      }
    >
      <DataTable
        name="Users"
        list={list}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        none={
          <Empty>
            <p>There is no user.</p>
          </Empty>
        }
      />
      {isMaking && <NewUser onClose={() => setMaking(false)} onMadePassword={setMade} />}
      {made !== null && !isMaking && <GeneratedPassword made={made} onClose={() => setMade(null)} />}
    </Page>
  );
}
