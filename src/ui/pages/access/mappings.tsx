/** Which groups of an identity provider stand for which groups here. */

import { useState } from 'preact/hooks';
import { send } from '../../client.ts';
import { DeedDialog } from '../../components/dialog.tsx';
import { Empty } from '../../components/empty.tsx';
import { Field, SelectField } from '../../components/field.tsx';
import { ForbiddenPage, Page, Part } from '../../components/page.tsx';
import { type Column, DataTable } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { apiPath, links } from '../../links.ts';
import { useList } from '../../list.ts';
import { useResource } from '../../resource.ts';
import { can } from '../../session.ts';
import type { ExternalMapping, Group } from '../../types.ts';

const PATH = '/groups/external-mappings';

function columns(onDelete: (mapping: ExternalMapping) => void): readonly Column<ExternalMapping>[] {
  return [
    { label: 'External id', isName: true, isLong: true, cell: ({ externalGroupId }) => externalGroupId },
    { label: 'Provider', cell: ({ provider }) => provider },
    { label: 'External name', isLong: true, cell: ({ externalGroupName }) => externalGroupName },
    {
      label: 'Group',
      isLong: true,
      cell: ({ groupId, groupName }) => <a href={links.group(groupId)}>{groupName}</a>,
    },
    { label: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      label: 'Actions',
      cell: (mapping) => (
        <button type="button" class="small" onClick={() => onDelete(mapping)}>
          Delete
        </button>
      ),
    },
  ];
}

export function MappingsPage() {
  return can('groups.manage') ? <Mappings /> : <ForbiddenPage heading="Mappings" />;
}

function Mappings() {
  const list = useList<ExternalMapping>(PATH);
  const [isMaking, setMaking] = useState(false);
  const [deleted, setDeleted] = useState<ExternalMapping | null>(null);
  return (
    <Page
      heading="Mappings"
      of={[list.resource]}
      isEmpty={list.total === 0}
      isBusy={list.isBusy}
      actions={
        <button type="button" class="primary" onClick={() => setMaking(true)}>
          New mapping
        </button>
      }
    >
      <DataTable
        name="Mappings"
        list={list}
        columns={columns(setDeleted)}
        keyOf={({ id }) => id}
        none={
          <Empty>
            <p>
              There is no mapping yet. A mapping says which group of an identity provider is which group here.
            </p>
          </Empty>
        }
      />
      {isMaking && <NewMapping onClose={() => setMaking(false)} />}
      {deleted !== null && <DeleteMapping mapping={deleted} onClose={() => setDeleted(null)} />}
    </Page>
  );
}

const EMPTY = { provider: '', externalGroupId: '', externalGroupName: '', groupId: '' };
type Wish = typeof EMPTY;

const TEXTS = [
  {
    member: 'provider',
    label: 'Provider',
    hint: 'It is the name that the provider has in the file of the providers (HAWSER_OIDC_FILE).',
    required: true,
  },
  {
    member: 'externalGroupId',
    label: 'External id',
    hint: 'As the provider writes the id of the group.',
    required: true,
  },
  { member: 'externalGroupName', label: 'External name', hint: 'Only to be read here.', required: false },
] as const;

function NewMapping({ onClose }: { onClose: () => void }) {
  const groups = useResource<Group[]>('/groups?take=1000');
  const [wish, setWish] = useState<Wish>(EMPTY);
  const { provider, externalGroupId, externalGroupName, groupId } = wish;
  const run = async () => {
    await send('POST', PATH, { ...wish, externalGroupName: externalGroupName || null });
    return `${provider} ${externalGroupId} was mapped.`;
  };
  return (
    <DeedDialog
      heading="New mapping"
      deed="Create"
      isDisabled={provider.trim() === '' || externalGroupId.trim() === '' || groupId === ''}
      onClose={onClose}
      run={run}
    >
      {(problem) => (
        <>
          {TEXTS.map(({ member, ...texts }) => (
            <Field
              key={member}
              {...texts}
              name={member}
              autocomplete="off"
              problem={problem}
              value={wish[member]}
              onInput={(text) => setWish({ ...wish, [member]: text })}
            />
          ))}
          <Part of={groups}>
            {(all) => (
              <SelectField
                label="Group"
                name="groupId"
                required
                problem={problem}
                choices={[
                  { value: '', label: 'Choose a group' },
                  ...all.map(({ id, name }) => ({ value: id, label: name })),
                ]}
                value={groupId}
                onInput={(id) => setWish({ ...wish, groupId: id })}
              />
            )}
          </Part>
        </>
      )}
    </DeedDialog>
  );
}

function DeleteMapping({ mapping, onClose }: { mapping: ExternalMapping; onClose: () => void }) {
  const { provider, externalGroupId, groupName } = mapping;
  const run = async () => {
    await send('DELETE', PATH + apiPath(mapping.id));
    return `The mapping of ${provider} ${externalGroupId} was deleted.`;
  };
  return (
    <DeedDialog
      heading={`Delete the mapping of ${externalGroupId}`}
      deed="Delete"
      isDanger
      onClose={onClose}
      run={run}
    >
      <p>
        The group {externalGroupId} of {provider} does not stand for {groupName} any more.
      </p>
    </DeedDialog>
  );
}
