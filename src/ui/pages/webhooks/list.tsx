/** The webhooks: whom the server tells of events. */

import { useState } from 'preact/hooks';
import { Empty } from '../../components/empty.tsx';
import { Mark } from '../../components/marks.tsx';
import { ForbiddenPage, Page } from '../../components/page.tsx';
import { type Column, DataTable } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { links } from '../../links.ts';
import { useList } from '../../list.ts';
import { can } from '../../session.ts';
import type { Webhook } from '../../types.ts';
import { type MadeWebhook, NewWebhook, SecretOfNew } from './new-webhook.tsx';

const PATH = '/webhooks';

const COLUMNS: readonly Column<Webhook>[] = [
  {
    label: 'Address',
    isName: true,
    isLong: true,
    cell: ({ id, url }) => <a href={links.webhook(id)}>{url}</a>,
  },
  { label: 'Event types', isLong: true, cell: ({ events }) => events.join(', ') },
  {
    label: 'Active',
    cell: ({ isActive }) => <Mark word={isActive ? 'Yes' : 'No'} tone={isActive ? 'good' : 'idle'} />,
  },
  { label: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
];

export function WebhooksPage() {
  return can('webhooks.manage') ? <Webhooks /> : <ForbiddenPage heading="Webhooks" />;
}

function Webhooks() {
  const list = useList<Webhook>(PATH);
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<MadeWebhook | null>(null);
  return (
    <Page
      heading="Webhooks"
      of={[list.resource]}
      isEmpty={list.total === 0}
      isBusy={list.isBusy}
      actions={
        <button type="button" class="primary" onClick={() => setMaking(true)}>
          New webhook
        </button>
      }
    >
      <DataTable
        name="Webhooks"
        list={list}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        none={
          <Empty>
            <p>There is no webhook yet. A webhook is called when something happens, such as a new version.</p>
          </Empty>
        }
      />
      {isMaking && <NewWebhook path={PATH} onClose={() => setMaking(false)} onMade={setMade} />}
      {made !== null && !isMaking && <SecretOfNew made={made} onClose={() => setMade(null)} />}
    </Page>
  );
}
