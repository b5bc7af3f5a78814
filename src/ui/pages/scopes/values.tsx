/** The values of a scope type, and where each is used. */

import { useState } from 'preact/hooks';
import { Empty } from '../../components/empty.tsx';
import { Part } from '../../components/page.tsx';
import { groupNamed, protectionText, useGroups } from '../../components/protection.tsx';
import { type Column, DataTable } from '../../components/table.tsx';
import { apiPath, withQuery } from '../../links.ts';
import { useList } from '../../list.ts';
import { usePlace } from '../../router.ts';
import { can } from '../../session.ts';
import type { ScopeType, ScopeValue } from '../../types.ts';
import { DeleteDialog, DescriptionDialog, NewValueDialog, ProtectionDialog, RenameDialog } from './deeds.tsx';
import { NodesOfValue, UsageDialog } from './usage.tsx';

type Asked =
  | { deed: 'new' }
  | { deed: 'rename' | 'description' | 'protection' | 'delete'; value: ScopeValue };

export function ValuesPart({ type }: { type: ScopeType }) {
  const [asked, setAsked] = useState<Asked | null>(null);
  return (
    <section class="part">
      <div class="part-head">
        <h2>Values of {type.name}</h2>
        {!type.isSystem && can('scopes.admin-override') && (
          <button type="button" onClick={() => setAsked({ deed: 'new' })}>
            New value
          </button>
        )}
      </div>
      {type.isSystem ? <SystemNote name={type.name} /> : <Values type={type} ask={setAsked} />}
      {asked !== null && <Asking {...{ type, asked }} onClose={() => setAsked(null)} />}
    </section>
  );
}

function SystemNote({ name }: { name: string }) {
  return (
    <p class="muted">
      {name === 'Node'
        ? 'Its values are the names of the nodes. A file for a node is written on the Parameters tab of a configuration.'
        : 'It has no values. Its files hold for every node.'}
    </p>
  );
}

function Values({ type, ask }: { type: ScopeType; ask: (asked: Asked) => void }) {
  const list = useList<ScopeValue>(apiPath('scope-types', type.id, 'values'), { sorts: false });
  const place = usePlace();
  const groups = useGroups();
  const used = list.rows.find(({ id }) => id === place.query.get('usage'));
  const columns: Column<ScopeValue>[] = [
    {
      label: 'Scope value',
      isName: true,
      cell: ({ id, value }) => (
        <a href={withQuery('/ui/scopes', { scopeTypeId: type.id, usage: id })}>{value}</a>
      ),
    },
    { label: 'Description', isLong: true, cell: ({ description }) => description ?? '' },
    {
      label: 'Protection',
      cell: ({ protection }) => protectionText(protection, groupNamed(groups, protection.groupId)),
    },
    ...(can('nodes.read')
      ? [{ label: 'Nodes', cell: ({ id }: ScopeValue) => <NodesOfValue valueId={id} /> }]
      : []),
    ...(can('scopes.admin-override')
      ? [{ label: 'Deeds', cell: (value: ScopeValue) => <ValueDeeds value={value} ask={ask} /> }]
      : []),
  ];
  return (
    <Part of={list.resource}>
      {() => (
        <>
          <DataTable
            name="Values"
            list={list}
            columns={columns}
            keyOf={({ id }) => id}
            none={
              <Empty>
                <p>
                  {type.name} has no value yet. Nodes are tagged with values, and parameter files are for
                  values.
                </p>
              </Empty>
            }
          />
          {used !== undefined && (
            <UsageDialog type={type} value={used} onClose={() => place.setQuery({ usage: null })} />
          )}
        </>
      )}
    </Part>
  );
}

function ValueDeeds({ value, ask }: { value: ScopeValue; ask: (asked: Asked) => void }) {
  return (
    <span class="row-deeds">
      <button type="button" class="small" onClick={() => ask({ deed: 'rename', value })}>
        Rename
      </button>
      <button type="button" class="small" onClick={() => ask({ deed: 'description', value })}>
        Edit description
      </button>
      <button type="button" class="small" onClick={() => ask({ deed: 'protection', value })}>
        Protect
      </button>
      <button type="button" class="small" onClick={() => ask({ deed: 'delete', value })}>
        Delete
      </button>
    </span>
  );
}

function Asking({ type, asked, onClose }: { type: ScopeType; asked: Asked; onClose: () => void }) {
  if (asked.deed === 'new') return <NewValueDialog {...{ type, onClose }} />;
  const { value } = asked;
  const called = `${type.name}/${value.value}`;
  const path = apiPath('scope-types', type.id, 'values', value.id);
  if (asked.deed === 'rename') return <RenameDialog {...{ path, called, onClose }} before={value} />;
  if (asked.deed === 'description')
    return <DescriptionDialog {...{ path, called, onClose }} before={value.description} />;
  if (asked.deed === 'protection') return <ProtectionDialog {...{ path, called, onClose }} before={value} />;
  return (
    <DeleteDialog
      {...{ path, called, onClose }}
      note="A value that a node is tagged with, or that has parameter files, cannot be deleted."
    />
  );
}
