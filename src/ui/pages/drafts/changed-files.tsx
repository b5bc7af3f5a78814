/** The files that a draft changes against the version below it. */

import { DiffFile, DiffSummary, fileAnchor } from '../../components/diff-file.tsx';
import type { DiffMode } from '../../components/diff-table.tsx';
import { Num } from '../../components/num.tsx';
import { Part } from '../../components/page.tsx';
import { apiOf, withQuery } from '../../links.ts';
import type { Resource } from '../../resource.ts';
import type { Comparison } from '../../types.ts';

/** With more files, a list of them leads to each. */
const FEW = 3;

interface Props {
  name: string;
  comparison: Resource<Comparison>;
  mode: DiffMode;
}

export function ChangedFiles({ name, comparison, mode }: Props) {
  return (
    <Part of={comparison}>
      {(shown) => (
        <>
          <Totals comparison={shown} />
          {shown.files.length > FEW && (
            <ul class="changed-files">
              {shown.files.map((change) => (
                <li key={change.path}>
                  <a href={`#${fileAnchor(change.path)}`}>{change.path}</a> <DiffSummary {...change} />
                </li>
              ))}
            </ul>
          )}
          {shown.files.map((change) => (
            // The lines of another commit are other lines.
            <DiffFile
              key={`${shown.to.commit} ${change.path}`}
              change={change}
              url={urlOf(name, shown, change.path)}
              mode={mode}
              level={3}
            />
          ))}
        </>
      )}
    </Part>
  );
}

function urlOf(name: string, { from, to }: Comparison, path: string): string {
  const address = apiOf('configurations', name, 'compare', 'files', ...path.split('/'));
  return withQuery(address, { from: from?.version, to: to.version });
}

function Totals({ comparison: { from, files, totals } }: { comparison: Comparison }) {
  const against = from === null ? 'no version below, so all files are new' : from.version;
  if (files.length === 0) return <p>Compared with {against}: the files are the same.</p>;
  return (
    <p>
      Compared with {against}: <Num value={files.length} /> {files.length === 1 ? 'file' : 'files'},{' '}
      <span class="diff-plus">+{totals.additions}</span> <span class="diff-minus">-{totals.deletions}</span>{' '}
      {totals.additions + totals.deletions === 1 ? 'line' : 'lines'}.
    </p>
  );
}
