/** The list of roles. */

import { useState } from 'preact/hooks';
import { send } from '../../client.ts';
import { DeedDialog } from '../../components/dialog.tsx';
import { Mark } from '../../components/marks.tsx';
import { ForbiddenPage, Page } from '../../components/page.tsx';
import { type Column, DataTable } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { links } from '../../links.ts';
import { useList } from '../../list.ts';
import { can } from '../../session.ts';
import type { Role } from '../../types.ts';
import { NO_ROLE, RoleFields, roleBody } from './role-fields.tsx';

const COLUMNS: readonly Column<Role>[] = [
  {
    label: 'Name',
    isName: true,
    isLong: true,
    cell: ({ id, name }) => <a href={links.role(id)}>{name}</a>,
  },
  {
    label: 'Kind',
    cell: ({ isSystemRole }) => (isSystemRole ? <Mark word="System" tone="info" /> : 'Own'),
  },
  { label: 'Description', isLong: true, cell: ({ description }) => description },
  { label: 'Permissions', isNumber: true, cell: ({ permissions }) => permissions.length },
  { label: 'Changed', cell: ({ modifiedAt }) => <Time at={modifiedAt} /> },
];

export function RolesPage() {
  return can('roles.manage') ? <Roles /> : <ForbiddenPage heading="Roles" />;
}

function Roles() {
  const list = useList<Role>('/roles');
  const [isMaking, setMaking] = useState(false);
  return (
    <Page
      heading="Roles"
      of={[list.resource]}
      isEmpty={list.total === 0}
      isBusy={list.isBusy}
      actions={
        <button type="button" class="primary" onClick={() => setMaking(true)}>
          New role
        </button>
      }
    >
      <DataTable name="Roles" list={list} columns={COLUMNS} keyOf={({ id }) => id} none={null} />
      {isMaking && <NewRole onClose={() => setMaking(false)} />}
    </Page>
  );
}

function NewRole({ onClose }: { onClose: () => void }) {
  const [value, setValue] = useState(NO_ROLE);
  const run = async () => {
    await send('POST', '/roles', roleBody(value));
    return `The role ${value.name} was created.`;
  };
  return (
    <DeedDialog
      heading="New role"
      deed="Create"
      isWide
      isDisabled={value.name.trim() === ''}
      onClose={onClose}
      run={run}
    >
      {(problem) => (
        <RoleFields
          value={value}
          problem={problem}
          set={(member, text) => setValue((before) => ({ ...before, [member]: text }))}
        />
      )}
    </DeedDialog>
  );
}
