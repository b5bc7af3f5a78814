/** One webhook: whom it calls and with what, and what was sent to it. */

import { useState } from 'preact/hooks';
import { send } from '../../client.ts';
import { EditForm, useEdit } from '../../components/edit-form.tsx';
import { CheckField } from '../../components/field.tsx';
import { Mark } from '../../components/marks.tsx';
import { ForbiddenPage, Page } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { apiPath } from '../../links.ts';
import { useResource } from '../../resource.ts';
import { can } from '../../session.ts';
import type { Webhook } from '../../types.ts';
import { DeleteWebhook, NewSecret } from './deeds.tsx';
import { Deliveries } from './deliveries.tsx';
import { hostOf, typesIn, WebhookFields } from './fields.tsx';

const CRUMBS = [{ href: '/ui/webhooks', label: 'Webhooks' }];

export function WebhookPage({ id }: { id: string }) {
  return can('webhooks.manage') ? <WebhookView key={id} id={id} /> : <ForbiddenPage heading="Webhook" />;
}

function WebhookView({ id }: { id: string }) {
  // What was deleted is not asked for while the program of the list is on its way.
  const [isGone, setGone] = useState(false);
  const webhook = useResource<Webhook>(isGone ? null : apiPath('webhooks', id));
  const [asked, setAsked] = useState<'secret' | 'delete' | null>(null);
  const close = () => setAsked(null);
  const { data, etag } = webhook;
  return (
    <Page
      heading={data === null ? 'Webhook' : hostOf(data.url)}
      of={[webhook]}
      crumbs={CRUMBS}
      beside={data !== null && !data.isActive && <Mark word="Not active" tone="idle" />}
      actions={
        data !== null && (
          <>
            <button type="button" onClick={() => setAsked('secret')}>
              New secret
            </button>
            <button type="button" onClick={() => setAsked('delete')}>
              Delete
            </button>
          </>
        )
      }
    >
      {data !== null && (
        <>
          <section class="card">
            <h2>Details</h2>
            <WebhookForm webhook={data} etag={etag} />
            <Facts webhook={data} />
          </section>
          <Deliveries webhook={data} />
        </>
      )}
      {data !== null && asked === 'secret' && <NewSecret webhook={data} etag={etag} onClose={close} />}
      {data !== null && asked === 'delete' && (
        <DeleteWebhook webhook={data} onDeleted={() => setGone(true)} onClose={close} />
      )}
    </Page>
  );
}

function WebhookForm({ webhook, etag }: { webhook: Webhook; etag: string | null }) {
  const { id, url, events, isActive } = webhook;
  const edit = useEdit({ url, events: events.join('\n'), isActive }, etag);
  const { value, set } = edit;
  const run = async () => {
    const body = { ...value, url: value.url.trim(), events: typesIn(value.events) };
    await send('PUT', apiPath('webhooks', id), body, { ifMatch: edit.etag });
    return 'The webhook was saved.';
  };
  return (
    <EditForm label={`Details of ${hostOf(url)}`} edit={edit} run={run}>
      {(problem) => (
        <>
          <WebhookFields value={value} onInput={set} problem={problem} />
          <CheckField
            label="Active"
            hint="One that is not active gets no new events. What waits for it goes on when it is active again."
            checked={value.isActive}
            onChange={(checked) => set('isActive', checked)}
          />
        </>
      )}
    </EditForm>
  );
}

function Facts({ webhook: { createdAt, modifiedAt } }: { webhook: Webhook }) {
  return (
    <dl class="facts">
      <dt>Created</dt>
      <dd>
        <Time at={createdAt} exact />
      </dd>
      <dt>Changed</dt>
      <dd>
        <Time at={modifiedAt} exact />
      </dd>
    </dl>
  );
}
