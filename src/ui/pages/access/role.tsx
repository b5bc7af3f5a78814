/** One role with its permissions. System roles cannot be changed. */

import { useId, useState } from 'preact/hooks';
import { send } from '../../client.ts';
import { DeedDialog } from '../../components/dialog.tsx';
import { EditForm, useEdit } from '../../components/edit-form.tsx';
import { Mark } from '../../components/marks.tsx';
import { ForbiddenPage, Page } from '../../components/page.tsx';
import { apiPath } from '../../links.ts';
import { forget, useResource } from '../../resource.ts';
import { usePlace } from '../../router.ts';
import { can } from '../../session.ts';
import type { Role } from '../../types.ts';
import { type RoleContent, RoleFields, roleBody } from './role-fields.tsx';

const CRUMBS = [{ href: '/ui/access/roles', label: 'Roles' }];

export function RolePage({ id }: { id: string }) {
  return can('roles.manage') ? <RoleView key={id} id={id} /> : <ForbiddenPage heading="Role" />;
}

function RoleView({ id }: { id: string }) {
  const role = useResource<Role>(apiPath('roles', id));
  const [isDeleting, setDeleting] = useState(false);
  const { data } = role;
  const reason = data === null ? null : reasonOf(data);
  return (
    <Page
      heading={data?.name ?? 'Role'}
      of={[role]}
      crumbs={CRUMBS}
      beside={data?.isSystemRole && <Mark word="System" tone="info" />}
      actions={data !== null && <DeleteButton reason={reason} onClick={() => setDeleting(true)} />}
    >
      {data !== null && (
        <section class="card" aria-label="Role">
          <RoleForm role={data} etag={role.etag} reason={reason} />
        </section>
      )}
      {data !== null && isDeleting && <DeleteRole role={data} onClose={() => setDeleting(false)} />}
    </Page>
  );
}

/** Why it cannot be changed or deleted. */
function reasonOf({ isSystemRole, permissions }: Role): string | null {
  if (isSystemRole)
    return 'This is a system role. It comes with the server and cannot be changed or deleted.';
  const beyond = permissions.find((permission) => !can(permission));
  return beyond === undefined ? null : `You do not hold ${beyond}, so you cannot change this role.`;
}

function DeleteButton({ reason, onClick }: { reason: string | null; onClick: () => void }) {
  const id = useId();
  return (
    <>
      <button
        type="button"
        disabled={reason !== null}
        aria-describedby={reason === null ? undefined : id}
        onClick={onClick}
      >
        Delete
      </button>
      {reason !== null && (
        <span id={id} class="visually-hidden">
          {reason}
        </span>
      )}
    </>
  );
}

function RoleForm({ role, etag, reason }: { role: Role; etag: string | null; reason: string | null }) {
  const { name, description, permissions } = role;
  const edit = useEdit<RoleContent>({ name, description: description ?? '', permissions }, etag);
  const run = async () => {
    await send('PUT', apiPath('roles', role.id), roleBody(edit.value), { ifMatch: edit.etag });
    return `The role ${edit.value.name} was saved.`;
  };
  return (
    <EditForm label={`Role ${name}`} edit={edit} run={run} reason={reason}>
      {(problem) => <RoleFields value={edit.value} set={edit.set} problem={problem} />}
    </EditForm>
  );
}

function DeleteRole({ role, onClose }: { role: Role; onClose: () => void }) {
  const { go } = usePlace();
  const run = async () => {
    const path = apiPath('roles', role.id);
    await send('DELETE', path);
    forget(path);
    go('/ui/access/roles');
    return `The role ${role.name} was deleted.`;
  };
  return (
    <DeedDialog heading={`Delete ${role.name}`} deed="Delete" isDanger onClose={onClose} run={run}>
      <p>All users and groups that hold this role lose it. It cannot be taken back.</p>
    </DeedDialog>
  );
}
