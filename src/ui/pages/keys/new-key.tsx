/** Makes a registration key. */

import { useState } from 'preact/hooks';
import { send } from '../../client.ts';
import { DeedDialog } from '../../components/dialog.tsx';
import { ExpiryField, expiryTime, inDays, isExpiryGiven } from '../../components/expiry-field.tsx';
import { CheckField, Field, TextField } from '../../components/field.tsx';
import { can } from '../../session.ts';
import type { RegistrationKey } from '../../types.ts';

/** The path of registration keys below /api/v1. */
export const KEYS = '/admin/registration-keys';

interface NewKeyProps {
  onClose: () => void;
  /** Gets the key with its secret, which is shown this once. */
  onMade: (key: RegistrationKey) => void;
}

const WITHOUT_DELETE = 'It takes the permission nodes.delete as well.';
const ANY_NAME =
  'A key without a name pattern takes any name that is free or expected, with all that the joining rules and the ' +
  'expectation give it. Give the key to few, for a short time and for few machines.';
const REREGISTRATION =
  'A machine that was set up anew may take over the node of its name, with what that node is given. ' +
  'Whoever has the key can take over any node.';

export function NewKey({ onClose, onMade }: NewKeyProps) {
  const [description, setDescription] = useState('');
  const [expiry, setExpiry] = useState(inDays(7));
  const [maxUses, setMaxUses] = useState('');
  const [allowReregistration, setAllow] = useState(false);
  const mayAllow = can('nodes.delete');
  const run = async () => {
    const wish = {
      description: description || null,
      expiresAt: expiryTime(expiry),
      maxUses: maxUses === '' ? null : Number(maxUses),
      allowReregistration,
    };
    onMade((await send<RegistrationKey>('POST', KEYS, wish)).data);
    return null;
  };
  return (
    <DeedDialog
      heading="New registration key"
      deed="Create"
      isDisabled={!isExpiryGiven(expiry)}
      onClose={onClose}
      run={run}
    >
      {(problem) => (
        <>
          <p class="hint">{ANY_NAME}</p>
          <TextField
            label="Description"
            name="description"
            rows={2}
            problem={problem}
            value={description}
            onInput={setDescription}
          />
          <ExpiryField days={[1, 7, 30, 365]} value={expiry} onChange={setExpiry} problem={problem} />
          <Field
            label="Max uses"
            name="maxUses"
            type="number"
            min={1}
            hint="How many nodes can join with it. Empty: any number."
            problem={problem}
            value={maxUses}
            onInput={setMaxUses}
          />
          <CheckField
            label="Allow re-registration"
            hint={mayAllow ? REREGISTRATION : `${REREGISTRATION} ${WITHOUT_DELETE}`}
            checked={allowReregistration}
            disabled={!mayAllow}
            onChange={setAllow}
          />
        </>
      )}
    </DeedDialog>
  );
}
