/** Making, describing and deleting scope types and values. */

import { send } from '../../client.ts';
import { DeedDialog } from '../../components/dialog.tsx';
import { useEdit } from '../../components/edit-form.tsx';
import { DESCRIPTION, FormDialog, textOrNull } from '../../components/form-dialog.tsx';
import { ProtectionFields, protecting } from '../../components/protection.tsx';
import { apiPath, withQuery } from '../../links.ts';
import { usePlace } from '../../router.ts';
import type { ScopeType, ScopeValue } from '../../types.ts';

interface DialogProps {
  onClose: () => void;
}

const SIGNS = 'Letters, digits, _ and -';

export function NewTypeDialog({ onClose }: DialogProps) {
  const place = usePlace();
  return (
    <FormDialog
      heading="New scope type"
      deed="Create"
      initial={{ name: '', description: '', valueMode: 'Unrestricted' }}
      fields={[
        { name: 'name', label: 'Name', hint: `${SIGNS}, such as Environment.`, required: true },
        DESCRIPTION,
        { name: 'valueMode', label: 'Values', kind: { choices: VALUE_MODES } },
      ]}
      run={async ({ description, ...typed }) => {
        const body = { ...typed, description: textOrNull(description) };
        const { data } = await send<ScopeType>('POST', '/scope-types', body);
        place.go(withQuery('/ui/scopes', { scopeTypeId: data.id }));
        return `The scope type ${typed.name} is created. It overrides all others but Node.`;
      }}
      onClose={onClose}
    />
  );
}

const VALUE_MODES = [
  { value: 'Unrestricted', label: 'Unrestricted: a parameter file may bring a new value' },
  { value: 'Restricted', label: 'Restricted: only values that are defined here' },
];

export function NewValueDialog({ type, onClose }: DialogProps & { type: ScopeType }) {
  return (
    <FormDialog
      heading={`New value of ${type.name}`}
      deed="Create"
      initial={{ value: '', description: '' }}
      fields={[
        { name: 'value', label: 'Scope value', hint: `${SIGNS}, such as production.`, required: true },
        DESCRIPTION,
      ]}
      run={async ({ value, description }) => {
        const body = { value, description: textOrNull(description) };
        await send('POST', apiPath('scope-types', type.id, 'values'), body);
        return `The value ${value} of ${type.name} is created.`;
      }}
      onClose={onClose}
    />
  );
}

interface OneProps extends DialogProps {
  /** Its address in the API. */
  path: string;
  /** What it is called, such as `Environment` or `Environment/production`. */
  called: string;
}

export function DescriptionDialog({ path, called, before, onClose }: OneProps & { before: string | null }) {
  return (
    <FormDialog
      heading={`Description of ${called}`}
      deed="Save"
      initial={{ description: before ?? '' }}
      fields={[DESCRIPTION]}
      run={async ({ description }) => {
        await send('PUT', path, { description: textOrNull(description) });
        return `The description of ${called} is changed.`;
      }}
      onClose={onClose}
    />
  );
}

interface RenameProps extends OneProps {
  before: ScopeType | ScopeValue;
}

/** A value has its name in another member than a type. */
export function RenameDialog({ path, called, before, onClose }: RenameProps) {
  const [member, label, known] =
    'value' in before ? ['value', 'Scope value', before.value] : ['name', 'Name', before.name];
  return (
    <FormDialog<Record<string, string>>
      heading={`Rename ${called}`}
      deed="Rename"
      initial={{ [member]: known }}
      fields={[{ name: member, label, hint: `${SIGNS}.`, required: true }]}
      run={async (typed) => {
        await send('PUT', path, { ...typed, description: before.description });
        return `${called} is called ${typed[member]} now.`;
      }}
      onClose={onClose}
    >
      <p>
        Nodes keep their tags and their parameters. The branches and tags of all parameter repositories take
        the name over; clones find the old tags below <code>renamed/</code>.
      </p>
    </FormDialog>
  );
}

export function ProtectionDialog({ path, called, before, onClose }: OneProps & { before: ScopeValue }) {
  const { id, description, protection } = before;
  const edit = useEdit(protection, null);
  const protect = async () => {
    await send('PUT', path, { description, protection: edit.value });
    return `The protection of ${called} is saved.`;
  };
  return (
    <DeedDialog
      heading={`Protection of ${called}`}
      deed="Save"
      run={protect}
      isDisabled={!edit.isChanged}
      collected={protecting(called, { scopeValueId: id }, edit.value)}
      onClose={onClose}
    >
      {(problem) => (
        <>
          <p>
            It covers the parameter files of this value in every configuration, tagging nodes with it, and the
            place of its type. A weaker protection comes by a change set.
          </p>
          <ProtectionFields {...{ edit, problem }} />
        </>
      )}
    </DeedDialog>
  );
}

export function DeleteDialog({ path, called, onClose, note }: OneProps & { note: string }) {
  const remove = async () => {
    await send('DELETE', path);
    return `${called} is deleted.`;
  };
  return (
    <DeedDialog heading={`Delete ${called}`} deed="Delete" run={remove} onClose={onClose} isDanger>
      <p>{note}</p>
    </DeedDialog>
  );
}
