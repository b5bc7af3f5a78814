/** Makes a configuration with its first draft. */

import { useState } from 'preact/hooks';
import { type ChosenFile, formOf } from '../../chosen-files.ts';
import { send } from '../../client.ts';
import { DeedDialog } from '../../components/dialog.tsx';
import { CheckField, Field, TextField } from '../../components/field.tsx';
import { FilesField } from '../../components/files-field.tsx';
import { links } from '../../links.ts';
import { usePlace } from '../../router.ts';

const ENTRY_POINT = 'main.dsc.yaml';

/** A document that does something harmless, so that somebody can begin by editing it. */
const FIRST_DOCUMENT = `# What the nodes shall be, as a DSC v3 document.
$schema: https://aka.ms/dsc/schemas/v3/bundled/config/document.json
resources:
  - name: hello
    type: Microsoft.DSC.Debug/Echo
    properties:
      output: Hello from Hawser
`;

export function NewConfigurationDialog({ onClose }: { onClose: () => void }) {
  const place = usePlace();
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const [version, setVersion] = useState('1.0.0');
  const [entryPoint, setEntryPoint] = useState(ENTRY_POINT);
  const [isManaged, setManaged] = useState(true);
  const [files, setFiles] = useState<ChosenFile[]>([]);
  const run = async () => {
    const fields = { name, description, version, entryPoint, useServerManagedParameters: String(isManaged) };
    const sent = files.length > 0 ? files : [firstFile(entryPoint)];
    const { body, type } = formOf(fields, sent);
    await send('POST', '/configurations', body, { type });
    place.go(links.draft('configurations', name, version));
    return `${name} is there, with ${version} as its first draft.`;
  };
  return (
    <DeedDialog heading="New configuration" deed="Create" run={run} onClose={onClose}>
      {(problem) => (
        <>
          <Field
            {...{ label: 'Name', name: 'name', value: name, onInput: setName, problem }}
            required
            hint="Letters, digits, dots, underscores and hyphens."
          />
          <TextField
            {...{ label: 'Description', name: 'description', value: description, problem }}
            onInput={setDescription}
            rows={2}
          />
          <FilesField
            files={files}
            onChange={setFiles}
            hint="Without files, the draft begins with a small document that you can edit."
          />
          <div class="pair">
            <Field
              {...{ label: 'Version', name: 'version', value: version, problem }}
              onInput={setVersion}
              required
            />
            <Field
              {...{ label: 'Entry point', name: 'entryPoint', value: entryPoint, problem }}
              onInput={setEntryPoint}
              required
            />
          </div>
          <CheckField
            label="Parameters managed by the server"
            checked={isManaged}
            onChange={setManaged}
            hint="Nodes then get parameters.yaml, merged from the scopes that they are in."
          />
        </>
      )}
    </DeedDialog>
  );
}

function firstFile(path: string): ChosenFile {
  return { path, file: new File([FIRST_DOCUMENT], path, { type: 'application/yaml' }) };
}
