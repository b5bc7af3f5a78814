/** Makes a webhook. The browser makes its secret, which is shown once. */

import { useState } from 'preact/hooks';
import { send } from '../../client.ts';
import { DeedDialog } from '../../components/dialog.tsx';
import { ShownOnce } from '../../components/shown-once.tsx';
import type { Webhook } from '../../types.ts';
import { hostOf, makeSecret, typesIn, WebhookFields, type WebhookWish } from './fields.tsx';

export interface MadeWebhook {
  webhook: Webhook;
  secret: string;
}

interface NewWebhookProps {
  path: string;
  onClose: () => void;
  onMade: (made: MadeWebhook) => void;
}

export function NewWebhook({ path, onClose, onMade }: NewWebhookProps) {
  const [wish, setWish] = useState<WebhookWish>({ url: '', events: '' });
  const types = typesIn(wish.events);
  const run = async () => {
    const secret = makeSecret();
    const { data } = await send<Webhook>('POST', path, { url: wish.url.trim(), events: types, secret });
    onMade({ webhook: data, secret });
    return null;
  };
  return (
    <DeedDialog
      heading="New webhook"
      deed="Create"
      isWide
      isDisabled={wish.url.trim() === '' || types.length === 0}
      onClose={onClose}
      run={run}
    >
      {(problem) => (
        <>
          <WebhookFields
            value={wish}
            onInput={(member, text) => setWish((before) => ({ ...before, [member]: text }))}
            problem={problem}
          />
          <p class="hint">The browser makes a secret, which is shown once when the webhook is there.</p>
        </>
      )}
    </DeedDialog>
  );
}

export function SecretOfNew({
  made: { webhook, secret },
  onClose,
}: {
  made: MadeWebhook;
  onClose: () => void;
}) {
  return (
    <ShownOnce heading={`Secret of ${hostOf(webhook.url)}`} what="secret" secret={secret} onClose={onClose}>
      <p class="hint">
        Give it to the receiver, which checks the signature of each event with it. The signature follows
        Standard Webhooks.
      </p>
    </ShownOnce>
  );
}
