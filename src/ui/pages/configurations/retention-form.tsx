/** Which versions of one configuration retention keeps, where that differs from the server's settings. */

import { useState } from 'preact/hooks';
import type { ApiProblem } from '../../client.ts';
import { send } from '../../client.ts';
import { Field, SelectField } from '../../components/field.tsx';
import { SettingsForm } from '../../components/settings-form.tsx';
import type { ConfigurationRetention } from '../../types.ts';

/** As in the fields: empty means inherited. */
interface Typed {
  enabled: string;
  keepVersions: string;
  keepDays: string;
  keepReleaseVersions: string;
}

const INHERITED = { value: '', label: 'Inherited from the server' };

export function RetentionForm({
  path,
  data,
  reason,
}: {
  path: string;
  data: ConfigurationRetention;
  reason: string | null;
}) {
  const saved = typedOf(data);
  const [typed, setTyped] = useState(saved);
  const save = async () => {
    await send('PUT', path, {
      enabled: flagOf(typed.enabled),
      keepVersions: numberOf(typed.keepVersions),
      keepDays: numberOf(typed.keepDays),
      keepReleaseVersions: flagOf(typed.keepReleaseVersions),
    });
    return 'The retention is saved.';
  };
  const reset = async () => {
    await send('DELETE', path);
    return "The server's retention holds again.";
  };
  return (
    <SettingsForm
      heading="Retention"
      {...{ reason, save }}
      isChanged={JSON.stringify(typed) !== JSON.stringify(saved)}
      reset={data.isOverridden ? reset : null}
    >
      {(problem) => (
        <Fields typed={typed} onChange={(change) => setTyped({ ...typed, ...change })} problem={problem} />
      )}
    </SettingsForm>
  );
}

interface FieldsProps {
  typed: Typed;
  onChange: (change: Partial<Typed>) => void;
  problem: ApiProblem | null;
}

function Fields({ typed, onChange, problem }: FieldsProps) {
  return (
    <>
      <p class="hint">
        A published version goes when it is neither among the newest nor young enough. Versions that a node
        gets are always kept. What is empty is inherited from the server.
      </p>
      <SelectField
        label="Clean up old versions"
        name="enabled"
        value={typed.enabled}
        onInput={(enabled) => onChange({ enabled })}
        choices={[
          INHERITED,
          { value: 'true', label: 'Yes' },
          { value: 'false', label: 'No, keep all versions' },
        ]}
        problem={problem}
      />
      <div class="pair">
        <Field
          label="Newest versions to keep"
          name="keepVersions"
          type="number"
          min={0}
          value={typed.keepVersions}
          onInput={(keepVersions) => onChange({ keepVersions })}
          problem={problem}
        />
        <Field
          label="Days to keep versions"
          name="keepDays"
          type="number"
          min={0}
          value={typed.keepDays}
          onInput={(keepDays) => onChange({ keepDays })}
          problem={problem}
        />
      </div>
      <SelectField
        label="Releases"
        name="keepReleaseVersions"
        value={typed.keepReleaseVersions}
        onInput={(keepReleaseVersions) => onChange({ keepReleaseVersions })}
        choices={[
          INHERITED,
          { value: 'true', label: 'Keep all that are no prerelease' },
          { value: 'false', label: 'Clean them up like prereleases' },
        ]}
        problem={problem}
      />
    </>
  );
}

function typedOf({ enabled, keepVersions, keepDays, keepReleaseVersions }: ConfigurationRetention): Typed {
  const text = (value: boolean | number | null) => (value === null ? '' : String(value));
  return {
    enabled: text(enabled),
    keepVersions: text(keepVersions),
    keepDays: text(keepDays),
    keepReleaseVersions: text(keepReleaseVersions),
  };
}

function flagOf(text: string): boolean | null {
  return text === '' ? null : text === 'true';
}

/** What is no number goes to the server as it is, which says so. */
function numberOf(text: string): number | string | null {
  if (text === '') return null;
  const value = Number(text);
  return Number.isNaN(value) ? text : value;
}
