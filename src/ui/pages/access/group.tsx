/** One group: its name, its members, its roles. */

import { useState } from 'preact/hooks';
import { send } from '../../client.ts';
import { DeedDialog } from '../../components/dialog.tsx';
import { EditForm, useEdit } from '../../components/edit-form.tsx';
import { Field, TextField } from '../../components/field.tsx';
import { ForbiddenPage, Page } from '../../components/page.tsx';
import { apiPath } from '../../links.ts';
import { forget, useResource } from '../../resource.ts';
import { usePlace } from '../../router.ts';
import { can } from '../../session.ts';
import type { GroupDetails } from '../../types.ts';
import { HeldRoles } from './held-roles.tsx';
import { Members } from './members.tsx';

const CRUMBS = [{ href: '/ui/access/groups', label: 'Groups' }];

export function GroupPage({ id }: { id: string }) {
  return can('groups.manage') ? <GroupView key={id} id={id} /> : <ForbiddenPage heading="Group" />;
}

function GroupView({ id }: { id: string }) {
  const path = apiPath('groups', id);
  const group = useResource<GroupDetails>(path);
  const [isDeleting, setDeleting] = useState(false);
  const { data, etag } = group;
  return (
    <Page
      heading={data?.name ?? 'Group'}
      of={[group]}
      crumbs={CRUMBS}
      actions={
        data !== null && (
          <button type="button" onClick={() => setDeleting(true)}>
            Delete
          </button>
        )
      }
    >
      {data !== null && (
        <>
          <Members group={data} etag={etag} />
          <div class="columns">
            <section class="card">
              <h2>Details</h2>
              <GroupForm group={data} etag={etag} />
            </section>
            <section class="card">
              <h2>Roles</h2>
              <HeldRoles path={`${path}/roles`} held={data.roles} etag={etag} whose={data.name} />
            </section>
          </div>
        </>
      )}
      {data !== null && isDeleting && <DeleteGroup group={data} onClose={() => setDeleting(false)} />}
    </Page>
  );
}

function GroupForm({ group, etag }: { group: GroupDetails; etag: string | null }) {
  const { name, description } = group;
  const edit = useEdit({ name, description: description ?? '' }, etag);
  const { value, set } = edit;
  const run = async () => {
    const body = { ...value, description: value.description || null };
    await send('PUT', apiPath('groups', group.id), body, { ifMatch: edit.etag });
    return `The group ${value.name} was saved.`;
  };
  return (
    <EditForm label={`Details of ${name}`} edit={edit} run={run}>
      {(problem) => (
        <>
          <Field
            label="Name"
            name="name"
            autocomplete="off"
            required
            problem={problem}
            value={value.name}
            onInput={(text) => set('name', text)}
          />
          <TextField
            label="Description"
            name="description"
            problem={problem}
            value={value.description}
            onInput={(text) => set('description', text)}
          />
        </>
      )}
    </EditForm>
  );
}

function DeleteGroup({ group, onClose }: { group: GroupDetails; onClose: () => void }) {
  const { go } = usePlace();
  const run = async () => {
    const path = apiPath('groups', group.id);
    await send('DELETE', path);
    forget(path);
    go('/ui/access/groups');
    return `The group ${group.name} was deleted.`;
  };
  return (
    <DeedDialog heading={`Delete ${group.name}`} deed="Delete" isDanger onClose={onClose} run={run}>
      <p>
        Its {group.members.length} members lose the roles and grants that they have by it. Its external
        mappings go with it. It cannot be taken back.
      </p>
    </DeedDialog>
  );
}
