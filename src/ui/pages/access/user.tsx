/** One user: who it is, what it may do and why, by what it signs in; of a service account, by what its programs act. */

import { useState } from 'preact/hooks';
import { Mark } from '../../components/marks.tsx';
import { ForbiddenPage, Page } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { Tokens } from '../../components/tokens.tsx';
import { apiPath, links } from '../../links.ts';
import { type Resource, useResource } from '../../resource.ts';
import { can } from '../../session.ts';
import type { UserDetails } from '../../types.ts';
import { Effective } from './effective.tsx';
import { Federations } from './federations.tsx';
import { GeneratedPassword, type MadePassword } from './generated-password.tsx';
import { HeldRoles } from './held-roles.tsx';
import { Identities } from './identities.tsx';
import { UserActions } from './user-actions.tsx';
import { UserForm } from './user-form.tsx';
import { UserMarks } from './user-marks.tsx';

const CRUMBS = [{ href: '/ui/access/users', label: 'Users' }];

export function UserPage({ id }: { id: string }) {
  return can('users.manage') ? <UserView key={id} id={id} /> : <ForbiddenPage heading="User" />;
}

function UserView({ id }: { id: string }) {
  const user = useResource<UserDetails>(apiPath('users', id));
  const [made, setMade] = useState<MadePassword | null>(null);
  const { data } = user;
  return (
    <Page
      heading={data?.username ?? 'User'}
      of={[user]}
      crumbs={CRUMBS}
      beside={data !== null && <Beside user={data} />}
      actions={data !== null && <UserActions user={data} onMadePassword={setMade} />}
    >
      {data !== null && <Content user={data} of={user} />}
      {made !== null && <GeneratedPassword made={made} onClose={() => setMade(null)} />}
    </Page>
  );
}

function Beside({ user }: { user: UserDetails }) {
  return (
    <span class="marks">
      {user.accountType === 'ServiceAccount' && (
        <Mark word="ServiceAccount" tone="info">
          Service account
        </Mark>
      )}
      <UserMarks user={user} />
    </span>
  );
}

function Content({ user, of }: { user: UserDetails; of: Resource<UserDetails> }) {
  const path = apiPath('users', user.id);
  return (
    <>
      <div class="columns">
        <section class="card">
          <h2>Details</h2>
          <UserForm user={user} etag={of.etag} />
          <Facts user={user} />
        </section>
        <section class="card">
          <h2>Roles</h2>
          <HeldRoles path={`${path}/roles`} held={user.roles} etag={of.etag} whose={user.username} />
          <h2>Groups</h2>
          <Groups user={user} />
        </section>
      </div>
      <Effective user={user} />
      {user.accountType === 'ServiceAccount' ? (
        <>
          <Tokens path={`${path}/tokens`} isOwn={false} />
          <Federations path={`${path}/federations`} username={user.username} />
        </>
      ) : (
        <Identities path={`${path}/identities`} username={user.username} />
      )}
    </>
  );
}

function Facts({ user }: { user: UserDetails }) {
  return (
    <dl class="facts">
      <dt>Created</dt>
      <dd>
        <Time at={user.createdAt} exact />
      </dd>
      <dt>Changed</dt>
      <dd>
        <Time at={user.modifiedAt} exact />
      </dd>
      {user.accountType === 'User' && (
        <>
          <dt>Failed sign-ins</dt>
          <dd>{user.accessFailedCount}</dd>
        </>
      )}
      {user.lockoutEnd !== null && (
        <>
          <dt>Locked until</dt>
          <dd>
            <Time at={user.lockoutEnd} exact />
          </dd>
        </>
      )}
    </dl>
  );
}

function Groups({ user }: { user: UserDetails }) {
  if (user.groups.length === 0) return <p class="muted">In no group.</p>;
  return (
    <ul class="links">
      {user.groups.map(({ id, name }) => (
        <li key={id}>{can('groups.manage') ? <a href={links.group(id)}>{name}</a> : name}</li>
      ))}
    </ul>
  );
}
