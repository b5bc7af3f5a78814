/** Dialogs on a configuration as a whole: its description, and its end. */

import { useState } from 'preact/hooks';
import { send } from '../../client.ts';
import { DeedDialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/field.tsx';
import { apiOf, links } from '../../links.ts';
import { usePlace } from '../../router.ts';
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

export function DeleteConfigurationDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const place = usePlace();
  const run = async () => {
    await send('DELETE', apiOf('configurations', name));
    place.go(links.list('configurations'));
    return `${name} is deleted.`;
  };
  return (
    <DeedDialog heading={`Delete ${name}`} deed="Delete" isDanger run={run} onClose={onClose}>
      <p>
        All its versions, parameters and permissions go with it, and cannot be brought back. It cannot be
        deleted while it is assigned to a node or is part of a composite.
      </p>
    </DeedDialog>
  );
}
