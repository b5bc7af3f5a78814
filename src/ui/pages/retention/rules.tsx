/** The rules of retention as a form. */

import { send } from '../../client.ts';
import { type Edit, EditForm } from '../../components/edit-form.tsx';
import { CheckField, Field } from '../../components/field.tsx';
import { can } from '../../session.ts';
import type { RetentionSettings } from '../../types.ts';

const NUMBERS = {
  keepVersions: 'Versions to keep',
  keepDays: 'Days to keep versions',
  reportKeepCount: 'Reports to keep',
  reportKeepDays: 'Days to keep reports',
  statusEventKeepCount: 'Status events to keep',
  statusEventKeepDays: 'Days to keep status events',
  historyKeepDays: 'Days to keep what nodes ran',
  scheduleIntervalHours: 'Hours between cleanups',
} as const;

type NumberName = keyof typeof NUMBERS;

/** As typed: an empty field is no number. */
export interface RuleTexts extends Record<NumberName, string> {
  enabled: boolean;
  keepReleaseVersions: boolean;
}

export function textsOf(rules: RetentionSettings): RuleTexts {
  const numbers = (Object.keys(NUMBERS) as NumberName[]).map((name) => [name, String(rules[name])]);
  const { enabled, keepReleaseVersions } = rules;
  return { ...(Object.fromEntries(numbers) as Record<NumberName, string>), enabled, keepReleaseVersions };
}

/** What a cleanup takes in place of the saved rules, for versions and for the two kinds of records. */
export interface Overrides {
  versions: object;
  reports: object;
  statusEvents: object;
}

/** A cleanup follows the rules as they stand in the form, saved or not. Null stands for the saved one. */
export function overridesOf(rules: RuleTexts): Overrides {
  const { keepReleaseVersions } = rules;
  const numberOf = (name: NumberName) => (rules[name] === '' ? null : Number(rules[name]));
  return {
    versions: { keepVersions: numberOf('keepVersions'), keepDays: numberOf('keepDays'), keepReleaseVersions },
    reports: { keepCount: numberOf('reportKeepCount'), keepDays: numberOf('reportKeepDays') },
    statusEvents: { keepCount: numberOf('statusEventKeepCount'), keepDays: numberOf('statusEventKeepDays') },
  };
}

const HINTS: Partial<Record<NumberName, string>> = {
  keepVersions: 'Of each configuration, composite, or scope value and major.',
  keepDays: 'A version goes if it is older and beyond those to keep.',
  reportKeepCount: 'Of each node.',
  reportKeepDays: 'Younger ones always stay.',
  statusEventKeepCount: 'Of each node.',
  statusEventKeepDays: 'Younger ones always stay.',
  historyKeepDays:
    'Deleted with status events: what had ended before. What deleted nodes ran is kept as long.',
};

const SECTIONS: readonly { legend: string; names: readonly NumberName[] }[] = [
  { legend: 'Versions', names: ['keepVersions', 'keepDays'] },
  { legend: 'Reports', names: ['reportKeepCount', 'reportKeepDays'] },
  { legend: 'Status events', names: ['statusEventKeepCount', 'statusEventKeepDays'] },
  { legend: 'What nodes ran', names: ['historyKeepDays'] },
  { legend: 'Schedule', names: ['scheduleIntervalHours'] },
];

export function Rules({ edit }: { edit: Edit<RuleTexts> }) {
  const maySave = can('server.settings.write');
  const mayTry = can('retention.manage');
  const missing = 'To save rules takes the permission server.settings.write.';
  const run = async () => {
    const changes = Object.entries(edit.changes).map(([name, value]) => [
      name,
      typeof value === 'string' ? Number(value) : value,
    ]);
    await send('PUT', '/settings/retention', Object.fromEntries(changes), { ifMatch: edit.etag });
    return 'The rules were saved.';
  };
  return (
    <section class="card">
      <h2>Rules</h2>
      <EditForm
        label="Rules"
        edit={edit}
        run={run}
        reason={maySave || mayTry ? null : missing}
        saveReason={maySave ? null : missing}
      >
        {(problem) => (
          <div class="rules">
            {SECTIONS.map(({ legend, names }) => (
              <fieldset key={legend}>
                <legend>{legend}</legend>
                <div class="rule-fields">
                  {names.map((name) => (
                    <Field
                      key={name}
                      label={NUMBERS[name]}
                      name={name}
                      type="number"
                      min={name === 'scheduleIntervalHours' ? 1 : 0}
                      required
                      {...(HINTS[name] !== undefined && { hint: HINTS[name] })}
                      problem={problem}
                      value={edit.value[name]}
                      onInput={(text) => edit.set(name, text)}
                    />
                  ))}
                  <Flag legend={legend} edit={edit} />
                </div>
              </fieldset>
            ))}
          </div>
        )}
      </EditForm>
    </section>
  );
}

function Flag({ legend, edit }: { legend: string; edit: Edit<RuleTexts> }) {
  if (legend === 'Versions')
    return (
      <CheckField
        label="Keep all releases"
        hint="Only prereleases and drafts of parameters go."
        checked={edit.value.keepReleaseVersions}
        onChange={(checked) => edit.set('keepReleaseVersions', checked)}
      />
    );
  if (legend !== 'Schedule') return null;
  return (
    <CheckField
      label="Clean up by schedule"
      hint="Without it, cleanups run only when somebody starts them."
      checked={edit.value.enabled}
      onChange={(checked) => edit.set('enabled', checked)}
    />
  );
}
