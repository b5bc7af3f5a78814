/** By which accounts at identity providers a person signs in. */

import { useState } from 'preact/hooks';
import { send } from '../../client.ts';
import { DeedDialog } from '../../components/dialog.tsx';
import { Empty } from '../../components/empty.tsx';
import { Part } from '../../components/page.tsx';
import { type Column, DataTable } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { apiPath } from '../../links.ts';
import { useList } from '../../list.ts';
import { labelOf, useProviders } from '../../providers.ts';
import type { Identity, Provider } from '../../types.ts';

interface IdentitiesProps {
  /** The path of the identities in the API. */
  path: string;
  username: string;
}

export function Identities({ path, username }: IdentitiesProps) {
  const list = useList<Identity>(path, { sorts: false });
  const providers = useProviders();
  const [removed, setRemoved] = useState<Identity | null>(null);
  return (
    <>
      <Part of={list.resource} heading="Identities">
        {() => (
          <DataTable
            name="Identities"
            list={list}
            columns={columns(providers, setRemoved)}
            keyOf={({ id }) => id}
            none={<NoIdentity username={username} />}
          />
        )}
      </Part>
      {removed !== null && (
        <RemoveIdentity
          path={path + apiPath(removed.id)}
          label={labelOf(providers, removed.provider)}
          username={username}
          onClose={() => setRemoved(null)}
        />
      )}
    </>
  );
}

function columns(
  providers: readonly Provider[],
  onRemove: (identity: Identity) => void,
): readonly Column<Identity>[] {
  return [
    { label: 'Provider', isName: true, cell: ({ provider }) => labelOf(providers, provider) },
    { label: 'Subject', isLong: true, cell: ({ subject }) => subject },
    { label: 'Issuer', isLong: true, cell: ({ issuer }) => issuer },
    { label: 'Last sign-in', cell: ({ lastSignInAt }) => <Time at={lastSignInAt} /> },
    {
      label: 'Actions',
      cell: (identity) => (
        <button type="button" class="small" onClick={() => onRemove(identity)}>
          Remove
        </button>
      ),
    },
  ];
}

function NoIdentity({ username }: { username: string }) {
  return (
    <Empty>
      <p>
        There is no identity. An identity is the account at an identity provider by which somebody signs in.
        It comes about when the first sign-in there makes the user, or when {username}, signed in by password,
        chooses a provider on the page <code>/login</code>.
      </p>
    </Empty>
  );
}

interface RemoveProps extends IdentitiesProps {
  label: string;
  onClose: () => void;
}

function RemoveIdentity({ path, label, username, onClose }: RemoveProps) {
  const run = async () => {
    await send('DELETE', path);
    return `The identity of ${username} at ${label} was removed.`;
  };
  return (
    <DeedDialog
      heading={`Remove the identity at ${label}`}
      deed="Remove"
      isDanger
      onClose={onClose}
      run={run}
    >
      <p>
        {username} cannot sign in by it any more. The sessions that were begun by it end, and so do the
        memberships that came with it. To link it again, {username} needs a password here.
      </p>
    </DeedDialog>
  );
}
