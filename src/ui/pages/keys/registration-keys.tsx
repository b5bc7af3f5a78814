/** The keys with which new nodes register. */

import { useState } from 'preact/hooks';
import { send } from '../../client.ts';
import { DeedDialog } from '../../components/dialog.tsx';
import { Empty } from '../../components/empty.tsx';
import { TextField } from '../../components/field.tsx';
import { Mark } from '../../components/marks.tsx';
import { Num } from '../../components/num.tsx';
import { ForbiddenPage, Page } from '../../components/page.tsx';
import { type Column, DataTable } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { apiPath } from '../../links.ts';
import { useList } from '../../list.ts';
import { can } from '../../session.ts';
import type { RegistrationKey } from '../../types.ts';
import { KeyWithLine } from './key-with-line.tsx';
import { KEYS } from './new-key.tsx';

type OnDeed = (deed: 'describe' | 'revoke', key: RegistrationKey) => void;

function columns(onDeed: OnDeed): readonly Column<RegistrationKey>[] {
  return [
    { label: 'Prefix', isName: true, cell: ({ keyPrefix }) => <code class="prefix">{keyPrefix}</code> },
    { label: 'State', cell: (key) => <KeyState of={key} /> },
    { label: 'Description', isLong: true, cell: ({ description }) => description },
    { label: 'Expires', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
    { label: 'Uses', isNumber: true, cell: (key) => <Uses of={key} /> },
    {
      label: 'Re-registration',
      cell: ({ allowReregistration }) =>
        allowReregistration ? <Mark word="Allowed" tone="warn" /> : <span class="muted">not allowed</span>,
    },
    { label: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
    { label: 'Actions', cell: (key) => <Deeds of={key} onDeed={onDeed} /> },
  ];
}

function KeyState({ of }: { of: RegistrationKey }) {
  if (of.isRevoked) return <Mark word="Revoked" tone="idle" />;
  if (Date.parse(of.expiresAt) <= Date.now()) return <Mark word="Expired" tone="warn" />;
  const isUsedUp = of.maxUses !== null && of.currentUses >= of.maxUses;
  return isUsedUp ? <Mark word="Used up" tone="idle" /> : <Mark word="Active" tone="good" />;
}

function Uses({ of: { currentUses, maxUses } }: { of: RegistrationKey }) {
  return (
    <>
      <Num value={currentUses} /> of {maxUses === null ? 'any' : <Num value={maxUses} />}
    </>
  );
}

function Deeds({ of, onDeed }: { of: RegistrationKey; onDeed: OnDeed }) {
  return (
    <span class="row-deeds">
      <button type="button" class="small" onClick={() => onDeed('describe', of)}>
        Change description
      </button>
      {!of.isRevoked && (
        <button type="button" class="small" onClick={() => onDeed('revoke', of)}>
          Revoke
        </button>
      )}
    </span>
  );
}

export function RegistrationKeysPage() {
  return can('registration-keys.manage') ? <Keys /> : <ForbiddenPage heading="Registration keys" />;
}

function Keys() {
  const list = useList<RegistrationKey>(KEYS);
  const [deed, setDeed] = useState<{ deed: 'describe' | 'revoke'; of: RegistrationKey } | null>(null);
  const close = () => setDeed(null);
  return (
    <Page
      heading="Registration keys"
      of={[list.resource]}
      isEmpty={list.total === 0}
      isBusy={list.isBusy}
      actions={<KeyWithLine />}
    >
      <DataTable
        name="Registration keys"
        list={list}
        columns={columns((what, of) => setDeed({ deed: what, of }))}
        keyOf={({ id }) => id}
        none={
          <Empty>
            <p>There is no registration key yet. Nodes need one to join; make one and copy the line.</p>
          </Empty>
        }
      />
      {deed?.deed === 'describe' && <Describe of={deed.of} onClose={close} />}
      {deed?.deed === 'revoke' && <Revoke of={deed.of} onClose={close} />}
    </Page>
  );
}

interface DeedProps {
  of: RegistrationKey;
  onClose: () => void;
}

function Describe({ of, onClose }: DeedProps) {
  const [description, setDescription] = useState(of.description ?? '');
  const run = async () => {
    await send('PUT', KEYS + apiPath(of.id), { description: description || null });
    return `The description of ${of.keyPrefix} was saved.`;
  };
  return (
    <DeedDialog heading={`Description of ${of.keyPrefix}`} deed="Save" onClose={onClose} run={run}>
      {(problem) => (
        <TextField
          label="Description"
          name="description"
          problem={problem}
          value={description}
          onInput={setDescription}
        />
      )}
    </DeedDialog>
  );
}

function Revoke({ of, onClose }: DeedProps) {
  const run = async () => {
    await send('DELETE', KEYS + apiPath(of.id));
    return `${of.keyPrefix} is revoked.`;
  };
  return (
    <DeedDialog heading={`Revoke ${of.keyPrefix}`} deed="Revoke" isDanger onClose={onClose} run={run}>
      <p>No node can join with this key any more. Nodes that joined with it stay. It cannot be taken back.</p>
    </DeedDialog>
  );
}
