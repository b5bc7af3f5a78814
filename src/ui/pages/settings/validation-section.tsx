/** How versions and parameters are checked, and what a configuration may decide for itself. */

import { send } from '../../client.ts';
import { EditForm, useEdit } from '../../components/edit-form.tsx';
import { CheckField, SelectField } from '../../components/field.tsx';
import type { ValidationSettings } from '../../types.ts';
import type { SectionProps } from './server-section.tsx';

const MODES = [
  {
    name: 'defaultParameterValidationMode',
    label: 'Parameter validation',
    choices: [
      { value: 'Strict', label: 'Strict: what breaks the schema is refused' },
      { value: 'Warn', label: 'Warn: what breaks the schema is marked' },
      { value: 'None', label: 'None: nothing is checked' },
    ],
  },
  {
    name: 'defaultDocumentChecks',
    label: 'Document checks',
    choices: [
      { value: 'Strict', label: 'Strict: what dsc cannot read is not published' },
      { value: 'Warn', label: 'Warn: it is published with a warning' },
      { value: 'None', label: 'None: it is published without a warning' },
    ],
  },
] as const;

const IDENTITIES: { value: ValidationSettings['pushIdentity']; label: string }[] = [
  { value: 'Any', label: 'Any: whoever they are' },
  { value: 'Committer', label: 'Committer: only who pushes' },
];

const FLAGS = [
  {
    name: 'requireSemVer',
    label: 'Require SemVer',
    hint: 'Versions of configurations must be semantic versions, such as 1.2.0.',
  },
  {
    name: 'allowConfigurationOverride',
    label: 'Configurations may decide about SemVer themselves',
    hint: 'Without it, what they have set has no effect.',
  },
  {
    name: 'allowParameterValidationOverride',
    label: 'Configurations may decide about validation themselves',
    hint: 'Without it, what they have set has no effect.',
  },
] as const;

export function ValidationSection({ data, etag, reason }: SectionProps<ValidationSettings>) {
  const edit = useEdit(data, etag);
  const { value, set } = edit;
  const run = async () => {
    await send('PUT', '/settings/validation', edit.changes, { ifMatch: edit.etag });
    return 'The rules of validation were saved.';
  };
  return (
    <section class="card">
      <h2>Validation</h2>
      <EditForm label="Validation" edit={edit} run={run} reason={reason}>
        {(problem) => (
          <>
            {MODES.map(({ name, label, choices }) => (
              <SelectField
                key={name}
                {...{ name, label, choices, problem }}
                value={value[name]}
                onInput={(text) => {
                  const mode = choices.find(({ value: each }) => each === text)?.value;
                  if (mode !== undefined) set(name, mode);
                }}
              />
            ))}
            {FLAGS.map(({ name, label, hint }) => (
              <CheckField
                key={name}
                label={label}
                hint={hint}
                checked={value[name]}
                onChange={(checked) => set(name, checked)}
              />
            ))}
            <SelectField
              label="Committers of pushed commits"
              name="pushIdentity"
              hint="They are told by their e-mail. The same holds for the tagger of a pushed tag."
              choices={IDENTITIES}
              problem={problem}
              value={value.pushIdentity}
              onInput={(text) => {
                const identity = IDENTITIES.find(({ value: each }) => each === text)?.value;
                if (identity !== undefined) set('pushIdentity', identity);
              }}
            />
          </>
        )}
      </EditForm>
    </section>
  );
}
