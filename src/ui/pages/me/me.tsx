/** The user who is signed in: rights, way to sign in, password, tokens, and how the console looks. */

import { Page, Part } from '../../components/page.tsx';
import { useCatalogue } from '../../components/permission-catalogue.ts';
import { SimpleTable } from '../../components/table.tsx';
import { Tokens } from '../../components/tokens.tsx';
import { LOCAL } from '../../providers.ts';
import { useResource } from '../../resource.ts';
import type { Me } from '../../types.ts';
import { Appearance } from './appearance.tsx';
import { ChangePassword } from './change-password.tsx';
import { SignInWay } from './sign-in-way.tsx';

export function MePage() {
  const me = useResource<Me>('/auth/me');
  const { data } = me;
  return (
    <Page heading="You" of={[me]}>
      {data !== null && (
        <>
          <div class="columns">
            <div class="stack">
              <section class="card">
                <h2>{data.username}</h2>
                <Facts me={data} />
              </section>
              <Appearance />
            </div>
            <div class="stack">
              <SignInWay by={data.authProvider} />
              {data.authProvider === LOCAL && <ChangePassword username={data.username} />}
            </div>
          </div>
          <Tokens path="/auth/tokens" isOwn />
          <Permissions me={data} />
        </>
      )}
    </Page>
  );
}

function Facts({ me }: { me: Me }) {
  return (
    <dl class="facts">
      <dt>E-mail</dt>
      <dd>{me.email || <span class="muted">none</span>}</dd>
      <dt>Roles</dt>
      <dd>{listed(me.roles)}</dd>
      <dt>Groups</dt>
      <dd>{listed(me.groups)}</dd>
    </dl>
  );
}

function listed(names: readonly string[]) {
  return names.length === 0 ? <span class="muted">none</span> : names.join(', ');
}

function Permissions({ me }: { me: Me }) {
  const catalogue = useCatalogue();
  const held = new Set(me.permissions);
  return (
    <Part of={catalogue} heading="Permissions">
      {(all) => (
        <SimpleTable
          name="Permissions"
          rows={all.filter(({ name }) => held.has(name))}
          keyOf={({ name }) => name}
          none={<p class="muted">None. Somebody who manages users can give you a role.</p>}
          columns={[
            { label: 'Permission', isName: true, cell: ({ name }) => name },
            { label: 'Meaning', isLong: true, cell: ({ description }) => description },
          ]}
        />
      )}
    </Part>
  );
}
