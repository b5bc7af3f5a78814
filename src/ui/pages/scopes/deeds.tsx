/** Making, describing and deleting scope types and values. */

import { useState } from 'preact/hooks';
import { send } from '../../client.ts';
import { DeedDialog } from '../../components/dialog.tsx';
import { useEdit } from '../../components/edit-form.tsx';
import { Field, SelectField, TextField } from '../../components/field.tsx';
import { ProtectionFields, protecting } from '../../components/protection.tsx';
import { apiPath, withQuery } from '../../links.ts';
import { usePlace } from '../../router.ts';
import type { ScopeType, ScopeValue } from '../../types.ts';

interface DialogProps {
  onClose: () => void;
}

const textOrNull = (text: string) => (text.trim() === '' ? null : text.trim());

export function NewTypeDialog({ onClose }: DialogProps) {
  const place = usePlace();
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const [valueMode, setValueMode] = useState('Unrestricted');
  const create = async () => {
    const body = { name, description: textOrNull(description), valueMode };
    const { data } = await send<ScopeType>('POST', '/scope-types', body);
    place.go(withQuery('/ui/scopes', { scopeTypeId: data.id }));
    return `The scope type ${name} is created. It overrides all others but Node.`;
  };
  return (
    <DeedDialog heading="New scope type" deed="Create" run={create} onClose={onClose}>
      {(problem) => (
        <>
          <Field
            label="Name"
            name="name"
            hint="Letters, digits, _ and -, such as Environment."
            value={name}
            onInput={setName}
            problem={problem}
            autocomplete="off"
            required
          />
          <TextField
            label="Description"
            name="description"
            value={description}
            onInput={setDescription}
            problem={problem}
          />
          <SelectField
            label="Values"
            name="valueMode"
            value={valueMode}
            onInput={setValueMode}
            problem={problem}
            choices={[
              { value: 'Unrestricted', label: 'Unrestricted: a parameter file may bring a new value' },
              { value: 'Restricted', label: 'Restricted: only values that are defined here' },
            ]}
          />
        </>
      )}
    </DeedDialog>
  );
}

export function NewValueDialog({ type, onClose }: DialogProps & { type: ScopeType }) {
  const [value, setValue] = useState('');
  const [description, setDescription] = useState('');
  const create = async () => {
    const body = { value, description: textOrNull(description) };
    await send('POST', apiPath('scope-types', type.id, 'values'), body);
    return `The value ${value} of ${type.name} is created.`;
  };
  return (
    <DeedDialog heading={`New value of ${type.name}`} deed="Create" run={create} onClose={onClose}>
      {(problem) => (
        <>
          <Field
            label="Scope value"
            name="value"
            hint="Letters, digits, _ and -, such as production."
            value={value}
            onInput={setValue}
            problem={problem}
            autocomplete="off"
            required
          />
          <TextField
            label="Description"
            name="description"
            value={description}
            onInput={setDescription}
            problem={problem}
          />
        </>
      )}
    </DeedDialog>
  );
}

interface OneProps extends DialogProps {
  /** Its address in the API. */
  path: string;
  /** What it is called, such as `Environment` or `Environment/production`. */
  called: string;
}

export function DescriptionDialog({ path, called, before, onClose }: OneProps & { before: string | null }) {
  const [description, setDescription] = useState(before ?? '');
  const change = async () => {
    await send('PUT', path, { description: textOrNull(description) });
    return `The description of ${called} is changed.`;
  };
  return (
    <DeedDialog heading={`Description of ${called}`} deed="Save" run={change} onClose={onClose}>
      {(problem) => (
        <TextField
          label="Description"
          name="description"
          value={description}
          onInput={setDescription}
          problem={problem}
        />
      )}
    </DeedDialog>
  );
}

interface RenameProps extends OneProps {
  before: ScopeType | ScopeValue;
}

/** A value has its name in another member than a type. */
export function RenameDialog({ path, called, before, onClose }: RenameProps) {
  const [member, label, known] =
    'value' in before ? ['value', 'Scope value', before.value] : ['name', 'Name', before.name];
  const [name, setName] = useState(known);
  const rename = async () => {
    await send('PUT', path, { [member]: name, description: before.description });
    return `${called} is called ${name} now.`;
  };
  return (
    <DeedDialog heading={`Rename ${called}`} deed="Rename" run={rename} onClose={onClose}>
      {(problem) => (
        <>
          <p>
            Nodes keep their tags and their parameters. The branches and tags of all parameter repositories
            take the name over; clones find the old tags below <code>renamed/</code>.
          </p>
          <Field
            label={label}
            name={member}
            hint="Letters, digits, _ and -."
            value={name}
            onInput={setName}
            problem={problem}
            autocomplete="off"
            required
          />
        </>
      )}
    </DeedDialog>
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
