/** Uploads a document whose `parameters` block is the schema of a version. */

import { useState } from 'preact/hooks';
import { type ApiProblem, send } from '../../client.ts';
import { DeedDialog } from '../../components/dialog.tsx';
import { Field, FileField } from '../../components/field.tsx';
import { apiPath } from '../../links.ts';
import type { Version } from '../../types.ts';

interface UploadProps {
  name: string;
  versions: readonly Version[];
  onClose: () => void;
}

export function UploadSchemaDialog({ name, versions, onClose }: UploadProps) {
  const [version, setVersion] = useState(versions[0]?.version ?? '1.0.0');
  const [file, setFile] = useState<File | null>(null);
  const upload = async () => {
    const form = new FormData();
    form.set('version', version);
    if (file !== null) form.set('parametersFile', file);
    await send('PUT', apiPath('configurations', name, 'parameters'), form);
    return `The schema of version ${version} is uploaded.`;
  };
  return (
    <DeedDialog
      heading="Upload schema"
      deed="Upload"
      run={upload}
      onClose={onClose}
      isDisabled={file === null}
    >
      {(problem) => (
        <>
          <Field
            label="Version"
            name="version"
            hint="Of the configuration, which need not have it yet."
            value={version}
            onInput={setVersion}
            problem={problem}
            required
          />
          <FileField
            label="File"
            name="parametersFile"
            accept=".yaml,.yml,.json"
            hint="YAML or JSON with a parameters block, as in an entry point."
            onChange={setFile}
            problem={problem}
          />
          {problem !== null && <BreakingChanges problem={problem} />}
        </>
      )}
    </DeedDialog>
  );
}

interface Report {
  breakingChanges?: { parameterName: string; description: string }[];
}

/** What the new schema would take away. Only a new major may do so. */
function BreakingChanges({ problem }: { problem: ApiProblem }) {
  const { breakingChanges = [] } = (problem.body['compatibilityReport'] ?? {}) as Report;
  if (breakingChanges.length === 0) return null;
  return (
    <ul class="faults">
      {breakingChanges.map(({ parameterName, description }) => (
        <li key={`${parameterName} ${description}`}>
          <code>{parameterName}</code> {description}
        </li>
      ))}
    </ul>
  );
}
