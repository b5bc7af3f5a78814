/** What nodes are told where nothing is desired of them in particular. */

import { send } from '../../client.ts';
import { EditForm, useEdit } from '../../components/edit-form.tsx';
import { Field, SelectField } from '../../components/field.tsx';
import type { LcmDefaults } from '../../types.ts';
import { DURATION_HINT, type SectionProps } from './server-section.tsx';

const NO_DEFAULT = { value: '', label: 'no default: the agent decides' };
const MODES = [
  NO_DEFAULT,
  { value: 'Monitor', label: 'Monitor: look, change nothing' },
  { value: 'Remediate', label: 'Remediate: bring into the desired state' },
];
const FLAGS = [NO_DEFAULT, { value: 'true', label: 'Yes' }, { value: 'false', label: 'No' }];

export function LcmSection({ data, etag, reason }: SectionProps<LcmDefaults>) {
  const edit = useEdit(
    {
      mode: data.defaultConfigurationMode ?? '',
      interval: data.defaultConfigurationModeInterval ?? '',
      report: data.defaultReportCompliance === null ? '' : String(data.defaultReportCompliance),
    },
    etag,
  );
  const { value, set } = edit;
  const run = async () => {
    const body = {
      defaultConfigurationMode: value.mode || null,
      defaultConfigurationModeInterval: value.interval || null,
      defaultReportCompliance: value.report === '' ? null : value.report === 'true',
    };
    await send('PUT', '/settings/lcm-defaults', body, { ifMatch: edit.etag });
    return 'The defaults for nodes were saved.';
  };
  return (
    <section class="card">
      <h2>LCM defaults</h2>
      <EditForm label="LCM defaults" edit={edit} run={run} reason={reason}>
        {(problem) => (
          <>
            <SelectField
              label="Mode"
              name="defaultConfigurationMode"
              hint="OpenDSC's agent runs without a pause if the server sends another mode than it runs in."
              choices={MODES}
              problem={problem}
              value={value.mode}
              onInput={(text) => set('mode', text)}
            />
            <Field
              label="Interval"
              name="defaultConfigurationModeInterval"
              hint={`Time between two cycles. Empty: no default. ${DURATION_HINT}`}
              autocomplete="off"
              problem={problem}
              value={value.interval}
              onInput={(text) => set('interval', text)}
            />
            <SelectField
              label="Report compliance"
              name="defaultReportCompliance"
              choices={FLAGS}
              problem={problem}
              value={value.report}
              onInput={(text) => set('report', text)}
            />
          </>
        )}
      </EditForm>
    </section>
  );
}
