/** The dialog that changes the description of a configuration. */

import { useState } from 'preact/hooks';
import { send } from '../../client.ts';
import { DeedDialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/field.tsx';
import { apiOf } from '../../links.ts';
import type { Configuration } from '../../types.ts';

export function DescriptionDialog({
  configuration: { name, description },
  onClose,
}: {
  configuration: Configuration;
  onClose: () => void;
}) {
  const [text, setText] = useState(description ?? '');
  const run = async () => {
    const change = { description: text.trim() === '' ? null : text };
    await send('PATCH', apiOf('configurations', name), change);
    return 'The description is saved.';
  };
  return (
    <DeedDialog heading={`Describe ${name}`} deed="Save" run={run} onClose={onClose}>
      {(problem) => (
        <TextField label="Description" name="description" value={text} onInput={setText} problem={problem} />
      )}
    </DeedDialog>
  );
}
