/** The files that differ between two versions of a configuration, each with its lines. */

import { useState } from 'preact/hooks';
import { apiOf, withQuery } from '../links.ts';
import type { Comparison, FileChange } from '../types.ts';
import { CopyLine } from './copy-line.tsx';
import { DiffFile, DiffSummary, fileAnchor } from './diff-file.tsx';
import type { DiffMode } from './diff-table.tsx';
import { Empty } from './empty.tsx';
import { MoreFiles } from './more-files.tsx';
import { Num } from './num.tsx';
import { cloneLine } from './versions-part.tsx';

const KIND = 'configurations';
/** So many files are shown at once. Their lines are read when they come into view. */
const BLOCK = 100;
/** The lines of so many files are read at once, so that the browser's own search finds them. */
const EAGER = 10;

interface ComparedProps {
  name: string;
  comparison: Comparison;
  mode: DiffMode;
  /** The level of the headings of files. */
  level?: 2 | 3;
}

export function ComparedFiles({ name, comparison, mode, level = 2 }: ComparedProps) {
  const { files, from, to } = comparison;
  const [shown, setShown] = useState(BLOCK);
  // A pasted link may lead to a file further down.
  const linked = files.findIndex(({ path }) => location.hash === `#${fileAnchor(path)}`);
  const end = Math.max(shown, linked + 1);
  const urlOf = (path: string) =>
    withQuery(apiOf(KIND, name, 'compare', 'files', ...path.split('/')), {
      from: from?.version,
      to: to.version,
    });
  if (files.length === 0)
    return (
      <Empty>
        <p>These versions have the same files.</p>
      </Empty>
    );
  return (
    <>
      <Totals totals={comparison.totals} />
      <nav aria-label="Changed files">
        <ul class="changed-files">
          {files.map((file, index) => (
            <li key={file.path}>
              <a href={`#${fileAnchor(file.path)}`} onClick={() => setShown(Math.max(shown, index + 1))}>
                {file.path}
              </a>{' '}
              <DiffSummary {...file} />
            </li>
          ))}
        </ul>
      </nav>
      {files.slice(0, end).map((file, index) => (
        // The lines of another commit are other lines.
        <div key={`${to.commit} ${file.path}`} class="part">
          <DiffFile change={file} url={urlOf(file.path)} mode={mode} level={level} isEager={index < EAGER} />
          {isTooLarge(file) && <GitCommand name={name} comparison={comparison} path={file.path} />}
        </div>
      ))}
      <MoreFiles left={files.length - end} onMore={() => setShown(end + BLOCK)} />
    </>
  );
}

function Totals({ totals }: { totals: Comparison['totals'] }) {
  const parts = (['added', 'removed', 'modified', 'renamed'] as const).filter((part) => totals[part] > 0);
  const { additions, deletions } = totals;
  return (
    <p>
      Files:{' '}
      {parts.map((part, index) => (
        <span key={part}>
          {index > 0 && ', '}
          <Num value={totals[part]} /> {part}
        </span>
      ))}
      . Lines: <Num value={additions} /> added, <Num value={deletions} /> removed.
    </p>
  );
}

function isTooLarge({ isBinary, additions }: FileChange): boolean {
  return !isBinary && additions === null;
}

/** What shows the difference where the console does not. */
function GitCommand({ name, comparison, path }: { name: string; comparison: Comparison; path: string }) {
  const { from, to } = comparison;
  if (from === null) return null;
  const command = `git diff ${refOf(from)} ${refOf(to)} -- ${quoted(path)}`;
  return (
    <>
      <p class="hint">Git shows it: clone the repository once, and compare there.</p>
      <CopyLine text={cloneLine(KIND, name)} label="the clone line" />
      <CopyLine text={command} label={`the command for ${path}`} />
    </>
  );
}

function refOf({ version, status }: { version: string; status: 'Draft' | 'Published' }): string {
  return quoted(status === 'Published' ? `v${version}` : `origin/draft/${version}`);
}

/** For a POSIX shell, quoted only where that is needed. */
function quoted(text: string): string {
  return /^[\w./@+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
