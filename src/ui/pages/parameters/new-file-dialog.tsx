/** Asks for which scope and version a new parameter file is. The file itself is written on its own page. */

import { useState } from 'preact/hooks';
import { DeedDialog } from '../../components/dialog.tsx';
import { Field, SelectField } from '../../components/field.tsx';
import { apiPath, withQuery } from '../../links.ts';
import { useResource } from '../../resource.ts';
import { usePlace } from '../../router.ts';
import type { ParameterFile, ScopeType, ScopeValue } from '../../types.ts';
import { newFileLink } from './addresses.ts';
import { MOST, nextVersion } from './model.ts';
import { useNodeProposals } from './node-proposals.ts';

interface NewFileProps {
  name: string;
  types: readonly ScopeType[];
  majors: readonly string[];
  files: readonly ParameterFile[];
  onClose: () => void;
}

export function NewFileDialog({ name, types, majors, files, onClose }: NewFileProps) {
  const place = usePlace();
  const enabled = types.filter(({ isEnabled }) => isEnabled);
  const [typeName, setTypeName] = useState(enabled[0]?.name ?? 'Default');
  const [value, setValue] = useState('');
  const [major, setMajor] = useState(majors[0] ?? '1');
  const isDefault = typeName === 'Default';
  const scope = { scopeTypeName: typeName, scopeValue: isDefault ? null : value.trim() };
  const own = files.filter(
    (file) =>
      file.scopeTypeName === typeName && file.scopeValue?.toLowerCase() === scope.scopeValue?.toLowerCase(),
  );
  const version = nextVersion(own, major);
  return (
    <DeedDialog
      heading="New parameter file"
      deed="Continue"
      run={async () => {
        place.go(newFileLink(name, scope, { version }));
        return null;
      }}
      onClose={onClose}
    >
      <SelectField
        label="Scope type"
        name="scopeTypeName"
        value={typeName}
        onInput={setTypeName}
        choices={enabled.map((type) => ({ value: type.name, label: type.name }))}
      />
      {!isDefault && (
        <ValueField type={enabled.find((type) => type.name === typeName)} value={value} onInput={setValue} />
      )}
      <SelectField
        label="Major version"
        name="major"
        hint={`Nodes that get a version ${major} of the configuration use it. The file becomes ${version}.`}
        value={major}
        onInput={setMajor}
        choices={(majors.length === 0 ? ['1'] : majors).map((each) => ({ value: each, label: each }))}
      />
    </DeedDialog>
  );
}

interface ValueProps {
  type: ScopeType | undefined;
  value: string;
  onInput: (value: string) => void;
}

function ValueField({ type, value, onInput }: ValueProps) {
  const isNode = type?.name === 'Node';
  const path = type === undefined || type.isSystem ? null : apiPath('scope-types', type.id, 'values');
  const values = useResource<ScopeValue[]>(path && withQuery(path, { take: MOST }), { poll: false });
  const nodes = useNodeProposals(isNode ? value : null);
  const proposals = isNode
    ? nodes.map(({ fqdn }) => fqdn)
    : (values.data ?? []).map(({ value: defined }) => defined);
  return (
    <>
      <Field
        label="Scope value"
        name="scopeValue"
        hint={isNode ? 'The name of a node that is registered.' : hintFor(type)}
        value={value}
        onInput={onInput}
        list="scope-value-proposals"
        autocomplete="off"
        required
      />
      <datalist id="scope-value-proposals">
        {proposals.map((proposal) => (
          <option key={proposal} value={proposal} />
        ))}
      </datalist>
    </>
  );
}

function hintFor(type: ScopeType | undefined): string {
  return type?.valueMode === 'Restricted'
    ? 'One of the values that are defined.'
    : 'A value that is not defined yet is made when the file is saved.';
}
