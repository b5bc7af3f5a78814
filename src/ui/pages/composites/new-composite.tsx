/** Makes a composite, which has no version yet. */

import { send } from '../../client.ts';
import { DESCRIPTION, FormDialog } from '../../components/form-dialog.tsx';
import { links } from '../../links.ts';
import { usePlace } from '../../router.ts';
import { KIND } from './shared.tsx';

const FIELDS = [
  {
    name: 'name',
    label: 'Name',
    hint: 'Letters, digits, dots, underscores and hyphens. A configuration may have the same name.',
    required: true,
  },
  { ...DESCRIPTION, kind: { lines: 2 } },
  {
    name: 'entryPoint',
    label: 'Entry point',
    hint: 'The document that the server makes; DSC begins there. Best in no folder. It cannot be changed later.',
    required: true,
  },
] as const;

export function NewCompositeDialog({ onClose }: { onClose: () => void }) {
  const place = usePlace();
  return (
    <FormDialog
      heading="New composite"
      deed="Create"
      initial={{ name: '', description: '', entryPoint: 'main.dsc.yaml' }}
      fields={FIELDS}
      run={async ({ name, description, entryPoint }) => {
        const given = description.trim() === '' ? {} : { description };
        await send('POST', '/composite-configurations', { name, entryPoint, ...given });
        place.go(links.named(KIND, name));
        return `${name} is there. Make a draft of it, and add its children.`;
      }}
      onClose={onClose}
    />
  );
}
