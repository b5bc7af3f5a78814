/** Gives a webhook another secret, and deletes it. */

import { useState } from 'preact/hooks';
import { send } from '../../client.ts';
import { CopyLine } from '../../components/copy-line.tsx';
import { DeedDialog } from '../../components/dialog.tsx';
import { CheckField } from '../../components/field.tsx';
import { apiPath } from '../../links.ts';
import { forget } from '../../resource.ts';
import { usePlace } from '../../router.ts';
import type { Webhook } from '../../types.ts';
import { hostOf, makeSecret } from './fields.tsx';

interface NewSecretProps {
  webhook: Webhook;
  etag: string | null;
  onClose: () => void;
}

/**
 * The receiver must take the new secret before the server signs with it, so it is shown before it is in force. Whoever closes
 * the dialog loses a secret that nobody uses.
 */
export function NewSecret({ webhook, etag, onClose }: NewSecretProps) {
  const [secret] = useState(makeSecret);
  const [isKnown, setKnown] = useState(false);
  const { id, url, events, isActive } = webhook;
  const host = hostOf(url);
  const run = async () => {
    await send('PUT', apiPath('webhooks', id), { url, events, isActive, secret }, { ifMatch: etag });
    return `Events to ${host} are signed with the new secret.`;
  };
  return (
    <DeedDialog
      heading={`New secret of ${host}`}
      deed="Use it"
      isWide
      isDisabled={!isKnown}
      onClose={onClose}
      run={run}
    >
      <p>
        Copy the secret now. It is shown this once and cannot be read again. Let the receiver take it beside
        the old one, and then use it.
      </p>
      <CopyLine text={secret} label="secret" />
      <CheckField
        label="The receiver takes the new secret"
        hint="Until it does, it refuses what is signed with it. What it refuses is sent again for a day."
        checked={isKnown}
        onChange={setKnown}
      />
    </DeedDialog>
  );
}

interface DeleteProps {
  webhook: Webhook;
  onDeleted: () => void;
  onClose: () => void;
}

export function DeleteWebhook({ webhook, onDeleted, onClose }: DeleteProps) {
  const { go } = usePlace();
  const host = hostOf(webhook.url);
  const run = async () => {
    const path = apiPath('webhooks', webhook.id);
    await send('DELETE', path);
    forget(path);
    onDeleted();
    go('/ui/webhooks');
    return `The webhook to ${host} was deleted.`;
  };
  return (
    <DeedDialog heading={`Delete the webhook to ${host}`} deed="Delete" isDanger onClose={onClose} run={run}>
      <p>Its deliveries go with it. What waits is not sent any more. It cannot be taken back.</p>
    </DeedDialog>
  );
}
