/** Whose tokens may become tokens of a service account. */

import { useState } from 'preact/hooks';
import { send } from '../../client.ts';
import { DeedDialog } from '../../components/dialog.tsx';
import { Empty } from '../../components/empty.tsx';
import { Part } from '../../components/page.tsx';
import { type Column, DataTable } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { Scopes } from '../../components/token-scopes.tsx';
import { apiPath } from '../../links.ts';
import { useList } from '../../list.ts';
import type { Federation } from '../../types.ts';
import { NewFederation } from './new-federation.tsx';

interface FederationsProps {
  /** The path of the federations in the API. */
  path: string;
  username: string;
}

export function Federations({ path, username }: FederationsProps) {
  // The tokens on the same page have the usual name.
  const list = useList<Federation>(path, { pageName: 'federations', sorts: false });
  const [isMaking, setMaking] = useState(false);
  const [deleted, setDeleted] = useState<Federation | null>(null);
  return (
    <section class="part">
      <div class="bar">
        <h2>Federations</h2>
        <button type="button" onClick={() => setMaking(true)}>
          New federation
        </button>
      </div>
      <Part of={list.resource}>
        {() => (
          <DataTable
            name="Federations"
            list={list}
            columns={columns(setDeleted)}
            keyOf={({ id }) => id}
            none={<NoFederation username={username} />}
          />
        )}
      </Part>
      {isMaking && <NewFederation path={path} username={username} onClose={() => setMaking(false)} />}
      {deleted !== null && (
        <DeleteFederation
          path={path + apiPath(deleted.id)}
          issuer={deleted.issuer}
          onClose={() => setDeleted(null)}
        />
      )}
    </section>
  );
}

function columns(onDelete: (federation: Federation) => void): readonly Column<Federation>[] {
  return [
    { label: 'Issuer', isName: true, isLong: true, cell: ({ issuer }) => issuer },
    { label: 'Claims', isLong: true, cell: ({ claims }) => <Claims claims={claims} /> },
    { label: 'Scopes', isLong: true, cell: ({ scopes }) => <Scopes scopes={scopes} /> },
    { label: 'Lifetime', cell: ({ lifetimeMinutes }) => `${lifetimeMinutes} min` },
    { label: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      label: 'Actions',
      cell: (federation) => (
        <button type="button" class="small" onClick={() => onDelete(federation)}>
          Delete
        </button>
      ),
    },
  ];
}

/** Written as JSON, because a text does not match a number. */
function Claims({ claims }: Pick<Federation, 'claims'>) {
  return (
    <ul>
      {Object.entries(claims).map(([name, value]) => (
        <li key={name}>
          <code>{`${name}: ${JSON.stringify(value)}`}</code>
        </li>
      ))}
    </ul>
  );
}

function NoFederation({ username }: { username: string }) {
  return (
    <Empty>
      <p>
        There is no federation yet. With one, the jobs of a forge exchange their own tokens for short-lived
        ones of {username}, and no secret has to be kept there.
      </p>
    </Empty>
  );
}

interface DeleteProps {
  path: string;
  issuer: string;
  onClose: () => void;
}

function DeleteFederation({ path, issuer, onClose }: DeleteProps) {
  const run = async () => {
    await send('DELETE', path);
    return `The federation with ${issuer} was deleted.`;
  };
  return (
    <DeedDialog
      heading={`Delete the federation with ${issuer}`}
      deed="Delete"
      isDanger
      onClose={onClose}
      run={run}
    >
      <p>
        The tokens that came by it are revoked, and jobs get none by it any more. It cannot be taken back.
      </p>
    </DeedDialog>
  );
}
