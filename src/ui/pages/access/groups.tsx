/** The list of groups. */

import { useState } from 'preact/hooks';
import { send } from '../../client.ts';
import { DeedDialog } from '../../components/dialog.tsx';
import { Empty } from '../../components/empty.tsx';
import { Field, TextField } from '../../components/field.tsx';
import { ForbiddenPage, Page } from '../../components/page.tsx';
import { type Column, DataTable } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { links } from '../../links.ts';
import { useList } from '../../list.ts';
import { can } from '../../session.ts';
import type { Group } from '../../types.ts';

const COLUMNS: readonly Column<Group>[] = [
  {
    label: 'Name',
    isName: true,
    isLong: true,
    cell: ({ id, name }) => <a href={links.group(id)}>{name}</a>,
  },
  { label: 'Description', isLong: true, cell: ({ description }) => description },
  { label: 'Changed', cell: ({ modifiedAt }) => <Time at={modifiedAt} /> },
];

export function GroupsPage() {
  return can('groups.manage') ? <Groups /> : <ForbiddenPage heading="Groups" />;
}

function Groups() {
  const list = useList<Group>('/groups');
  const [isMaking, setMaking] = useState(false);
  return (
    <Page
      heading="Groups"
      of={[list.resource]}
      isEmpty={list.total === 0}
      isBusy={list.isBusy}
      actions={
        <button type="button" class="primary" onClick={() => setMaking(true)}>
          New group
        </button>
      }
    >
      <DataTable
        name="Groups"
        list={list}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        none={
          <Empty>
            <p>There is no group yet. A group gives roles and grants to several users at once.</p>
          </Empty>
        }
      />
      {isMaking && <NewGroup onClose={() => setMaking(false)} />}
    </Page>
  );
}

function NewGroup({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const run = async () => {
    await send('POST', '/groups', { name, description: description || null });
    return `The group ${name} was created. Open it to add members and roles.`;
  };
  return (
    <DeedDialog heading="New group" deed="Create" isDisabled={name.trim() === ''} onClose={onClose} run={run}>
      {(problem) => (
        <>
          <Field
            label="Name"
            name="name"
            autocomplete="off"
            required
            problem={problem}
            value={name}
            onInput={setName}
          />
          <TextField
            label="Description"
            name="description"
            problem={problem}
            value={description}
            onInput={setDescription}
          />
        </>
      )}
    </DeedDialog>
  );
}
