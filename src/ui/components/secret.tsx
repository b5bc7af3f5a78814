/** Secrets as they are shown: dots, and one in the clear to whoever may see it and says why. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { send } from '../client.ts';
import { DOTS } from '../sealed.ts';
import { can } from '../session.ts';
import { CopyButton } from './copy-line.tsx';
import { Dialog, useDeed } from './dialog.tsx';
import { TextField } from './field.tsx';
import { Problem } from './problem.tsx';

/** @param name says what it is, in the tooltip and to screen readers */
export function Dots({ name = 'A secret, which is not shown' }: { name?: string }) {
  return (
    <span class="secret-dots" role="img" aria-label={name} title={name}>
      {DOTS}
    </span>
  );
}

/** One secret of a version of a parameter file. */
interface SecretPlace {
  /** The version's address in the API. */
  version: string;
  scopeValue: string | null;
  /** JSON Pointer from the root of the document. */
  pointer: string;
  /** Tells it from others at the same place. */
  of?: string;
}

/** It is there only for those who may see secrets. */
export function RevealButton(place: SecretPlace) {
  const [isOpen, setOpen] = useState(false);
  if (!can('secrets.reveal')) return null;
  return (
    <>
      <button type="button" class="small" onClick={() => setOpen(true)}>
        Reveal
        <span class="visually-hidden">
          {' '}
          {place.pointer}
          {place.of !== undefined && ` of ${place.of}`}
        </span>
      </button>
      {isOpen && <RevealDialog {...place} onClose={() => setOpen(false)} />}
    </>
  );
}

const REFUSED: Readonly<Record<string, string>> = {
  forbidden: 'It needs the permission secrets.reveal, and Read on the parameters of this scope.',
  not_found: 'The secret is gone, or you may not read these parameters any more. Load the page again.',
  rate_limited: 'Each value and each bundle with secrets that you were given counts.',
};

/** Asks why, then shows the value. Nothing but the dialog holds it, so it is gone with the dialog. */
function RevealDialog({ version, scopeValue, pointer, onClose }: SecretPlace & { onClose: () => void }) {
  const [reason, setReason] = useState('');
  const [value, setValue] = useState<string | null>(null);
  const { isBusy, problem, start } = useDeed(async () => {
    const body = { scopeValue, path: pointer, reason };
    const { data } = await send<{ value: unknown }>('POST', `${version}/reveal`, body);
    setValue(typeof data.value === 'string' ? data.value : JSON.stringify(data.value));
    return null;
  }, false);
  const ask = (event: Event) => {
    event.preventDefault();
    void start();
  };
  return (
    <Dialog heading={`Reveal ${pointer}`} onClose={onClose}>
      {value === null ? (
        <form onSubmit={ask}>
          <TextField
            label="Reason"
            name="reason"
            required
            maxLength={1_000}
            value={reason}
            onInput={setReason}
            hint="It stands in the audit trail beside your name. You may see 30 secrets an hour."
            problem={problem}
          />
          {problem !== null && <Problem problem={problem}>{REFUSED[problem.code]}</Problem>}
          <div class="dialog-foot">
            <button type="button" onClick={onClose}>
              Cancel
            </button>
            <button type="submit" class="primary" disabled={isBusy} aria-busy={isBusy}>
              Reveal
            </button>
          </div>
        </form>
      ) : (
        <Revealed value={value} onClose={onClose} />
      )}
    </Dialog>
  );
}

function Revealed({ value, onClose }: { value: string; onClose: () => void }) {
  const [isHidden, setHidden] = useState(false);
  const toggle = useRef<HTMLButtonElement>(null);
  // The button that was pressed is gone.
  useEffect(() => toggle.current?.focus(), []);
  return (
    <>
      <p role="status">This is the secret. It is gone from the page when you close the dialog.</p>
      {isHidden ? <Dots name="The secret, hidden" /> : <pre class="secret-value">{value}</pre>}
      <div class="dialog-foot">
        <button type="button" ref={toggle} onClick={() => setHidden(!isHidden)}>
          {isHidden ? 'Show' : 'Hide'}
        </button>
        <CopyButton text={value} label="the secret" />
        <button type="button" class="primary" onClick={onClose}>
          Close
        </button>
      </div>
    </>
  );
}
