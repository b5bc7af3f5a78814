/** Freezes what nodes get until a time, and ends that. */

import { useState } from 'preact/hooks';
import { send } from '../../client.ts';
import { DeedDialog } from '../../components/dialog.tsx';
import { Field, TextField } from '../../components/field.tsx';
import { Time } from '../../components/time.tsx';
import type { Freeze } from '../../types.ts';

export function FreezeSection({ data, reason }: { data: Freeze; reason: string | null }) {
  const [open, setOpen] = useState<'set' | 'end' | null>(null);
  const close = () => setOpen(null);
  return (
    <section class="card">
      <h2>Freeze</h2>
      {data.isFrozen ? (
        <p>
          What nodes get is frozen until <Time at={data.until} exact />. {data.frozenBy} says why:{' '}
          {data.reason}
        </p>
      ) : (
        <p>Nothing is frozen. During a freeze nobody can change what nodes get.</p>
      )}
      {reason !== null && <p class="hint">{reason}</p>}
      <div class="bar">
        <button type="button" disabled={reason !== null} onClick={() => setOpen('set')}>
          {data.isFrozen ? 'Change the freeze' : 'Freeze'}
        </button>
        {data.isFrozen && (
          <button type="button" disabled={reason !== null} onClick={() => setOpen('end')}>
            End the freeze
          </button>
        )}
      </div>
      {open === 'set' && <SetDialog data={data} onClose={close} />}
      {open === 'end' && (
        <DeedDialog
          heading="End the freeze"
          deed="End the freeze"
          onClose={close}
          run={async () => {
            await send('DELETE', '/settings/freeze');
            return 'The freeze has ended.';
          }}
        >
          <p>From then on everybody can change what nodes get again, as far as their rights go.</p>
        </DeedDialog>
      )}
    </section>
  );
}

function SetDialog({ data, onClose }: { data: Freeze; onClose: () => void }) {
  const [reason, setReason] = useState(data.reason ?? '');
  const [until, setUntil] = useState('');
  const end = new Date(until);
  return (
    <DeedDialog
      heading="Freeze what nodes get"
      deed="Freeze"
      isDisabled={Number.isNaN(end.getTime())}
      onClose={onClose}
      run={async () => {
        await send('PUT', '/settings/freeze', { reason, until: end.toISOString() });
        return 'What nodes get is frozen.';
      }}
    >
      {(problem) => (
        <>
          <Field
            label="Until"
            name="until"
            type="datetime-local"
            required
            value={until}
            onInput={setUntil}
            hint="At most 90 days ahead. It ends by itself then."
            problem={problem}
          />
          <TextField
            label="Reason"
            name="reason"
            required
            value={reason}
            onInput={setReason}
            hint="Everybody sees it who is signed in, and whose change is refused."
            problem={problem}
          />
        </>
      )}
    </DeedDialog>
  );
}
