/** What was sent to a webhook, and what waits; what is over can be sent again. */

import { send } from '../../client.ts';
import { DeedButton } from '../../components/dialog.tsx';
import { Empty } from '../../components/empty.tsx';
import { type FilterField, Filters } from '../../components/filters.tsx';
import { Mark } from '../../components/marks.tsx';
import { PartTable } from '../../components/part-table.tsx';
import type { Column } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { apiPath, links } from '../../links.ts';
import { useList } from '../../list.ts';
import type { Webhook, WebhookDelivery } from '../../types.ts';

const FILTERS: readonly FilterField[] = [
  { name: 'state', label: 'State', choices: ['Pending', 'Delivered', 'Failed'] },
];

export function Deliveries({ webhook }: { webhook: Webhook }) {
  const path = apiPath('webhooks', webhook.id, 'deliveries');
  const list = useList<WebhookDelivery>(path, { filters: FILTERS.map(({ name }) => name) });
  const sendAgain = async ({ id, type, subject }: WebhookDelivery) => {
    await send('POST', `${path}${apiPath(id, 'redeliver')}`);
    return webhook.isActive
      ? `${type} of ${subject} is sent again.`
      : `${type} of ${subject} waits. It is sent again when the webhook is active.`;
  };
  return (
    <section class="part" aria-busy={list.isBusy}>
      <h2>Deliveries of the last 30 days</h2>
      <Filters list={list} fields={FILTERS} />
      <PartTable
        name="Deliveries"
        list={list}
        columns={columns(sendAgain)}
        keyOf={({ id }) => id}
        none={
          <Empty>
            <p>
              {list.isFiltered ? 'No delivery is in this state.' : 'No event was sent yet, and none waits.'}
            </p>
          </Empty>
        }
      />
    </section>
  );
}

type SendAgain = (delivery: WebhookDelivery) => Promise<string>;

function columns(sendAgain: SendAgain): readonly Column<WebhookDelivery>[] {
  return [
    { label: 'Type', isName: true, cell: ({ type }) => type },
    { label: 'Subject', isLong: true, cell: ({ subject }) => <Subject text={subject} /> },
    { label: 'State', cell: ({ state }) => <Mark word={state} /> },
    { label: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts },
    {
      label: 'Last answer',
      cell: ({ lastStatus, lastError }) => lastStatus ?? lastError ?? <span class="muted">none</span>,
    },
    { label: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
    { label: 'Last attempt', cell: ({ lastAttemptAt }) => <Time at={lastAttemptAt} /> },
    { label: 'Next attempt', cell: (delivery) => <NextAttempt of={delivery} /> },
    {
      label: 'Actions',
      cell: (delivery) =>
        delivery.state !== 'Pending' && (
          <span class="row-deeds">
            <DeedButton
              deed="Send again"
              class="small"
              about={`${delivery.type} of ${delivery.subject}`}
              run={() => sendAgain(delivery)}
            />
          </span>
        ),
    },
  ];
}

function Subject({ text }: { text: string }) {
  const id = /^change-sets\/(\d+)$/.exec(text)?.[1];
  return id === undefined ? text : <a href={links.changeSet(Number(id))}>{text}</a>;
}

function NextAttempt({ of: { state, nextAttemptAt } }: { of: WebhookDelivery }) {
  if (state !== 'Pending') return <span class="muted">none</span>;
  // The next event of a subject has no time until the one before it is over.
  return <Time at={nextAttemptAt} none="behind another" />;
}
