/** What a cleanup deleted, or would delete: figures for each type, and a list of versions. */

import { useState } from 'preact/hooks';
import { Num } from '../../components/num.tsx';
import { SimpleTable } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import type { RetentionResult } from '../../types.ts';

/** So many versions are shown at first. */
const SHOWN = 200;

interface CleanupResultProps {
  results: readonly RetentionResult[];
  isDryRun: boolean;
}

export function CleanupResult({ results, isDryRun }: CleanupResultProps) {
  const [isWhole, setWhole] = useState(false);
  const deleted = isDryRun ? 'Would go' : 'Deleted';
  const versions = results.flatMap(({ versionType, deletedVersions }) =>
    (deletedVersions ?? []).map((version) => ({ ...version, versionType })),
  );
  const shown = isWhole ? versions : versions.slice(0, SHOWN);
  return (
    <>
      <SimpleTable
        name={isDryRun ? 'Dry run' : 'Cleanup'}
        rows={results}
        keyOf={({ runId }) => runId}
        columns={[
          { label: 'Type', isName: true, cell: ({ versionType }) => versionType },
          {
            label: deleted,
            isNumber: true,
            cell: ({ deletedCount }) => <Num value={deletedCount} />,
          },
          { label: 'Kept', isNumber: true, cell: ({ keptCount }) => <Num value={keptCount} /> },
        ]}
      />
      {versions.length > 0 && (
        <SimpleTable
          name={isDryRun ? 'Versions that would be deleted' : 'Deleted versions'}
          rows={shown}
          total={versions.length}
          keyOf={({ versionType, name, version }) => `${versionType} ${name} ${version}`}
          columns={[
            { label: 'Name', isName: true, isLong: true, cell: ({ name }) => name },
            { label: 'Version', cell: ({ version }) => version },
            { label: 'Type', cell: ({ versionType }) => versionType },
            { label: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
            { label: 'Reason', isLong: true, cell: ({ reason }) => reason },
          ]}
        />
      )}
      {versions.length > shown.length && (
        <p>
          <button type="button" onClick={() => setWhole(true)}>
            Show all
          </button>
        </p>
      )}
    </>
  );
}
