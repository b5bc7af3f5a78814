/** Makes a composite, which has no version yet. */

import { useState } from 'preact/hooks';
import { send } from '../../client.ts';
import { DeedDialog } from '../../components/dialog.tsx';
import { Field, TextField } from '../../components/field.tsx';
import { links } from '../../links.ts';
import { usePlace } from '../../router.ts';
import { KIND } from './shared.tsx';

const ENTRY_POINT = 'main.dsc.yaml';

export function NewCompositeDialog({ onClose }: { onClose: () => void }) {
  const place = usePlace();
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const [entryPoint, setEntryPoint] = useState(ENTRY_POINT);
  const run = async () => {
    const given = description.trim() === '' ? {} : { description };
    await send('POST', '/composite-configurations', { name, entryPoint, ...given });
    place.go(links.named(KIND, name));
    return `${name} is there. Make a draft of it, and add its children.`;
  };
  return (
    <DeedDialog heading="New composite" deed="Create" run={run} onClose={onClose}>
      {(problem) => (
        <>
          <Field
            {...{ label: 'Name', name: 'name', value: name, onInput: setName, problem }}
            required
            autocomplete="off"
            hint="Letters, digits, dots, underscores and hyphens. A configuration may have the same name."
          />
          <TextField
            {...{ label: 'Description', name: 'description', value: description, problem }}
            onInput={setDescription}
            rows={2}
          />
          <Field
            {...{ label: 'Entry point', name: 'entryPoint', value: entryPoint, problem }}
            onInput={setEntryPoint}
            required
            hint="The document that the server makes; DSC begins there. Best in no folder. It cannot be changed later."
          />
        </>
      )}
    </DeedDialog>
  );
}
