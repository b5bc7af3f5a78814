/** All versions of a scope's file, with links to them. */

import { Mark } from '../../components/marks.tsx';
import { type Column, SimpleTable } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { VersionMark } from '../../components/version-mark.tsx';
import { links } from '../../links.ts';
import type { ParameterFile } from '../../types.ts';
import { OF_DELETED_NODE, useFilesOfDeletedNodes } from './deleted-nodes.ts';
import type { FileData, FileName } from './file-data.ts';

export function VersionsPart({ named, data }: { named: FileName; data: FileData }) {
  const files = data.series.data ?? [];
  const ofDeleted = useFilesOfDeletedNodes(named.name, files);
  const columns: Column<ParameterFile>[] = [
    {
      label: 'Version',
      isName: true,
      cell: (file) => (
        <a
          href={links.parameterFile(named.name, file)}
          aria-current={!named.isNew && file.version === named.version ? 'page' : undefined}
        >
          {file.version}
        </a>
      ),
    },
    {
      label: 'Status',
      cell: ({ id, status, withdrawn, isPassthrough, needsMigration }) => (
        <>
          <VersionMark version={{ status, withdrawn }} />{' '}
          {ofDeleted.has(id) && <Mark word={OF_DELETED_NODE} tone="idle" />}{' '}
          {isPassthrough && <Mark word="Passthrough" tone="idle" />}{' '}
          {needsMigration && <Mark word="Breaks the schema" tone="warn" />}
        </>
      ),
    },
    { label: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
    { label: 'Created by', cell: ({ createdBy }) => createdBy },
    { label: 'Published', cell: ({ publishedAt }) => <Time at={publishedAt} /> },
  ];
  if (files.length === 0) return null;
  return (
    <section class="part">
      <h2>Versions</h2>
      <SimpleTable
        name="Versions"
        rows={files}
        columns={columns}
        keyOf={({ id }) => id}
        total={data.series.total ?? files.length}
      />
    </section>
  );
}
