/** What a version changes against the published version below it. */

import { useEffect, useRef } from 'preact/hooks';
import { useDiffMode } from '../../components/diff-mode.tsx';
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

interface ChangesProps {
  named: FileName;
  data: FileData;
  /** Of the draft whose changes are shown. When it is another one, they are read anew. */
  etag?: string | null;
}

/** The difference as a table that is named by the path. */
export function Changes({ named, data, etag = null }: ChangesProps) {
  const { version, scopeValue } = named;
  const mode = useDiffMode();
  const path = data.path && withQuery(`${data.path}/compare`, { to: version, scopeValue });
  const diff = useResource<FileDiff>(path, { poll: false });
  const shown = useRef(etag);
  useEffect(() => {
    if (shown.current !== etag) void diff.reload();
    shown.current = etag;
  }, [etag]);
  return (
    <Part of={diff}>
      {(read) => (
        <>
          <p class="muted">
            {read.change === 'Added'
              ? 'No published version is below this one, so everything is new.'
              : 'Against the highest published version below this one.'}
          </p>
          <DiffTable path={read.path} diff={read} mode={mode} />
        </>
      )}
    </Part>
  );
}
