/** What a version changes against the published version below it. */

import { DiffTable } from '../../components/diff-table.tsx';
import { Part } from '../../components/page.tsx';
import { withQuery } from '../../links.ts';
import { useResource } from '../../resource.ts';
import type { FileDiff } from '../../types.ts';
import type { FileData, FileName } from './file-data.ts';

export function ChangesPart({ named, data }: { named: FileName; data: FileData }) {
  return (
    <section class="part">
      <h2>Changes</h2>
      <Changes {...{ named, data }} />
    </section>
  );
}

/** The difference as a table that is named by the path. */
export function Changes({ named, data }: { named: FileName; data: FileData }) {
  const { version, scopeValue } = named;
  const isDraft = data.file.data?.status === 'Draft';
  const path = data.path && withQuery(`${data.path}/compare`, { to: version, scopeValue });
  const diff = useResource<FileDiff>(path, { poll: isDraft });
  return (
    <Part of={diff}>
      {(read) => (
        <>
          <p class="muted">
            {read.change === 'Added'
              ? 'No published version is below this one, so everything is new.'
              : 'Against the highest published version below this one.'}
          </p>
          <DiffTable path={read.path} diff={read} mode="split" />
        </>
      )}
    </Part>
  );
}
