/** Settings of one configuration: what it has of its own, and what it inherits from the server. */

import { useState } from 'preact/hooks';
import { send } from '../../client.ts';
import { CONFIGURATIONS_CRUMB, ConfigurationTabs } from '../../components/configuration-tabs.tsx';
import { CheckField, SelectField } from '../../components/field.tsx';
import { Page, Part } from '../../components/page.tsx';
import { ProtectionForm } from '../../components/protection.tsx';
import { SettingsForm } from '../../components/settings-form.tsx';
import { apiOf } from '../../links.ts';
import { useResource } from '../../resource.ts';
import type { Configuration, ConfigurationRetention, ConfigurationSettings } from '../../types.ts';
import { RetentionForm } from './retention-form.tsx';

export function ConfigurationSettingsPage({ name }: { name: string }) {
  const path = apiOf('configurations', name);
  const configuration = useResource<Configuration>(path);
  const settings = useResource<ConfigurationSettings>(`${path}/settings`);
  const retention = useResource<ConfigurationRetention>(`${path}/settings/retention`);
  const access = configuration.data?.access ?? null;
  const reason = access === 'Manage' ? null : `Only those with Manage on ${name} may change this.`;
  const mayModify = access === 'Manage' || access === 'Modify';
  return (
    <Page
      heading={name}
      tab="Settings"
      of={[configuration]}
      crumbs={[CONFIGURATIONS_CRUMB]}
      tools={<ConfigurationTabs name={name} current="Settings" configuration={configuration.data} />}
    >
      <div class="columns settings">
        {configuration.data !== null && (
          <ParametersForm
            configuration={configuration.data}
            reason={mayModify ? null : `Only those with Modify on ${name} may change this.`}
          />
        )}
        <Part of={settings}>
          {(data) => (
            <ChecksForm key={JSON.stringify(data)} path={`${path}/settings`} {...{ data, reason }} />
          )}
        </Part>
        <Part of={settings}>
          {({ protection }) => (
            <ProtectionForm
              on={{ configurationName: name }}
              called={name}
              path={`${path}/settings`}
              data={protection}
              etag={settings.etag}
              reason={reason}
            />
          )}
        </Part>
        <Part of={retention}>
          {(data) => (
            <RetentionForm
              key={JSON.stringify(data)}
              path={`${path}/settings/retention`}
              {...{ data, reason }}
            />
          )}
        </Part>
      </div>
    </Page>
  );
}

function ParametersForm({
  configuration: { name, useServerManagedParameters: saved },
  reason,
}: {
  configuration: Configuration;
  reason: string | null;
}) {
  const [changed, setChanged] = useState<boolean | null>(null);
  const isManaged = changed ?? saved;
  const save = async () => {
    await send('PATCH', apiOf('configurations', name), { useServerManagedParameters: isManaged });
    setChanged(null);
    return 'The setting is saved.';
  };
  return (
    <SettingsForm
      heading="Parameters"
      reason={reason}
      save={save}
      isChanged={isManaged !== saved}
      reset={null}
    >
      {() => (
        <CheckField
          label="Parameters managed by the server"
          checked={isManaged}
          onChange={setChanged}
          hint="Nodes get parameters.yaml, merged from the scopes that they are in."
        />
      )}
    </SettingsForm>
  );
}

const MODES = [
  { value: 'Strict', label: 'Strict: refuse parameter files that do not fit' },
  { value: 'Warn', label: 'Warn: keep them, and mark them' },
  { value: 'None', label: 'None: do not check' },
] as const;

const DOCUMENT_MODES = [
  { value: 'Strict', label: 'Strict: refuse to publish documents that dsc cannot read' },
  { value: 'Warn', label: 'Warn: publish them with a warning' },
  { value: 'None', label: 'None: publish them without a warning' },
] as const;

function ChecksForm({
  path,
  data,
  reason,
}: {
  path: string;
  data: ConfigurationSettings;
  reason: string | null;
}) {
  const [requireSemVer, setRequireSemVer] = useState(data.requireSemVer);
  const [mode, setMode] = useState<string>(data.parameterValidationMode);
  const [documentChecks, setDocumentChecks] = useState<string>(data.documentChecks);
  // What is sent is set here from then on, so only what was changed is sent.
  const change = {
    ...(requireSemVer === data.requireSemVer ? {} : { requireSemVer }),
    ...(mode === data.parameterValidationMode ? {} : { parameterValidationMode: mode }),
    ...(documentChecks === data.documentChecks ? {} : { documentChecks }),
  };
  const save = async () => {
    await send('PUT', path, change);
    return 'The settings are saved.';
  };
  const reset = async () => {
    // DELETE would take the protection away too, which is another form of this page.
    await send('PUT', path, { requireSemVer: null, parameterValidationMode: null, documentChecks: null });
    return "The server's settings hold again.";
  };
  return (
    <SettingsForm
      heading="Checks"
      {...{ reason, save }}
      isChanged={Object.keys(change).length > 0}
      reset={data.isOverridden ? reset : null}
    >
      {(problem) => (
        <>
          <p class="hint">
            {data.isOverridden
              ? 'At least one of these is set here. The server sets the others.'
              : "The server's settings hold, until one is set here."}
          </p>
          <CheckField
            label="Versions must be SemVer"
            checked={requireSemVer}
            onChange={setRequireSemVer}
            hint="Without it, versions such as 2026-11 are allowed too; they sort below the others, by age."
          />
          <SelectField
            label="Check of parameter files"
            name="parameterValidationMode"
            value={mode}
            onInput={setMode}
            choices={MODES}
            problem={problem}
          />
          <SelectField
            label="Check of documents"
            name="documentChecks"
            value={documentChecks}
            onInput={setDocumentChecks}
            choices={DOCUMENT_MODES}
            problem={problem}
          />
        </>
      )}
    </SettingsForm>
  );
}
