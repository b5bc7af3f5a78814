/** What publishing a draft would answer: what stands in the way, and what changes for parameters. */

import { apiPath, links } from '../../links.ts';
import type { PublishCheck } from '../../types.ts';
import { Faults, isError } from '../faults.tsx';
import { Mark } from '../marks.tsx';
import { Num } from '../num.tsx';
import { type Column, SimpleTable } from '../table.tsx';

type Report = NonNullable<PublishCheck['compatibility']>;
type Change = Report['breakingChanges'][number];
type AffectedFile = Report['affectedParameterFiles'][number];

interface CheckProps {
  check: PublishCheck;
  configurationName: string | null;
}

export function CheckResult({ check, configurationName }: CheckProps) {
  const { canPublish, blockers, comparedWith, compatibility, findings } = check;
  const isRefused = blockers.some(({ code }) => code === 'document_unreadable');
  return (
    <>
      {blockers.map((blocker) => (
        <Blocker key={`${blocker.code} ${blocker.message}`} blocker={blocker} />
      ))}
      {/* A refusal has the Errors already. */}
      <Faults faults={isRefused ? findings.filter((each) => !isError(each)) : findings} />
      {canPublish && (
        <p>
          {findings.some(isError) ? (
            <Mark word="It will be published although dsc cannot read it" tone="warn" />
          ) : (
            <Mark word="Can be published" tone="good" />
          )}
        </p>
      )}
      {compatibility !== null && (
        <Compatibility
          report={compatibility}
          comparedWith={comparedWith}
          configurationName={configurationName}
        />
      )}
    </>
  );
}

/** It reads as the refusal would, if somebody published all the same. */
function Blocker({ blocker: { code, message, errors } }: { blocker: PublishCheck['blockers'][number] }) {
  return (
    <div class="alert" role="alert" data-code={code}>
      <p>{message}</p>
      <Faults faults={errors} />
      <p class="alert-foot">
        <code>{code}</code>
      </p>
    </div>
  );
}

interface CompatibilityProps {
  report: Report;
  comparedWith: string | null;
  configurationName: string | null;
}

function Compatibility({ report, comparedWith, configurationName }: CompatibilityProps) {
  const { oldVersion, breakingChanges, nonBreakingChanges, affectedParameterFiles } = report;
  return (
    <>
      <p>
        The parameters are compared with those of {comparedWith ?? oldVersion}:{' '}
        {breakingChanges.length === 0
          ? 'no change breaks a parameter file.'
          : 'changes break parameter files.'}
      </p>
      {breakingChanges.length > 0 && <ChangeTable name="Breaking changes" changes={breakingChanges} />}
      {nonBreakingChanges.length > 0 && (
        <details>
          <summary>
            <Num value={nonBreakingChanges.length} /> other{' '}
            {nonBreakingChanges.length === 1 ? 'change' : 'changes'} of parameters
          </summary>
          <ChangeTable name="Other changes" changes={nonBreakingChanges} />
        </details>
      )}
      <AffectedFiles files={affectedParameterFiles} configurationName={configurationName} />
    </>
  );
}

const CHANGE_COLUMNS: readonly Column<Change>[] = [
  { label: 'Parameter', isName: true, cell: ({ parameterName }) => <code>{parameterName}</code> },
  { label: 'Change', cell: ({ changeType }) => changeType },
  { label: 'Before', isLong: true, cell: ({ oldValue }) => <Value text={oldValue} /> },
  { label: 'After', isLong: true, cell: ({ newValue }) => <Value text={newValue} /> },
  { label: 'Description', isLong: true, cell: ({ description }) => description },
];

function Value({ text }: { text: string | null }) {
  return text === null ? <span class="muted">none</span> : <code>{text}</code>;
}

function ChangeTable({ name, changes }: { name: string; changes: readonly Change[] }) {
  return (
    <SimpleTable
      name={name}
      rows={changes}
      columns={CHANGE_COLUMNS}
      keyOf={({ parameterName, changeType }) => `${parameterName} ${changeType}`}
    />
  );
}

/** Those that do not fit stand open; the others are folded, because nothing needs to be done about them. */
function AffectedFiles({
  files,
  configurationName,
}: {
  files: readonly AffectedFile[];
  configurationName: string | null;
}) {
  const unfit = files.filter(({ errors, needsMigration }) => errors.length > 0 || needsMigration);
  const fit = files.filter((file) => !unfit.includes(file));
  const table = (name: string, rows: readonly AffectedFile[]) => (
    <SimpleTable
      name={name}
      rows={rows}
      columns={fileColumns(configurationName)}
      keyOf={(file) => apiPath(file.scopeTypeName, file.scopeValue ?? '', file.version)}
    />
  );
  return (
    <>
      {unfit.length > 0 && table('Affected parameter files', unfit)}
      {fit.length > 0 && (
        <details>
          <summary>
            <Num value={fit.length} /> parameter {fit.length === 1 ? 'file fits' : 'files fit'}
          </summary>
          {table('Parameter files that fit', fit)}
        </details>
      )}
    </>
  );
}

function fileColumns(configurationName: string | null): readonly Column<AffectedFile>[] {
  return [
    {
      label: 'Parameter file',
      isName: true,
      cell: (file) => {
        const name = [file.scopeTypeName, file.scopeValue, file.version].filter(Boolean).join(' ');
        if (configurationName === null) return name;
        return <a href={links.parameterFile(configurationName, file)}>{name}</a>;
      },
    },
    {
      label: 'State',
      cell: ({ needsMigration, errors }) =>
        errors.length > 0 || needsMigration ? (
          <Mark word={needsMigration ? 'Needs migration' : 'Does not fit'} tone="warn" />
        ) : (
          <Mark word="Fits" tone="good" />
        ),
    },
    {
      label: 'Problems',
      isLong: true,
      cell: ({ errors }) => (
        <ul>
          {errors.map(({ path, message, code }) => (
            <li key={`${path} ${code} ${message}`}>
              <code>{path}</code> {message}
            </li>
          ))}
        </ul>
      ),
    },
  ];
}
