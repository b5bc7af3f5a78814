/** What differs between two versions of a configuration, file by file. */

import { useState } from 'preact/hooks';
import { CompareForm } from '../../components/compare-form.tsx';
import { CONFIGURATIONS_CRUMB } from '../../components/configuration-tabs.tsx';
import { CopyLine } from '../../components/copy-line.tsx';
import { DeedButton } from '../../components/dialog.tsx';
import { DiffFile, DiffSummary, fileAnchor } from '../../components/diff-file.tsx';
import { DiffModeChoice, useDiffMode } from '../../components/diff-mode.tsx';
import type { DiffMode } from '../../components/diff-table.tsx';
import { Empty } from '../../components/empty.tsx';
import { Num } from '../../components/num.tsx';
import { Page } from '../../components/page.tsx';
import { cloneLine, useVersions } from '../../components/versions-part.tsx';
import { save } from '../../download.ts';
import { apiOf, links, rangeOf, withQuery } from '../../links.ts';
import { useResource } from '../../resource.ts';
import type { Comparison, FileChange, Version } from '../../types.ts';

const KIND = 'configurations';
/** So many files are shown at once. Their lines are read when they come into view. */
const BLOCK = 100;

export function ComparePage({ name, range }: { name: string; range: string }) {
  const { from, to } = rangeOf(range);
  const mode = useDiffMode();
  const path = withQuery(apiOf(KIND, name, 'compare'), { from, to });
  const comparison = useResource<Comparison>(path);
  const versions = useVersions<Version>(KIND, name);
  const savePatch = async () => {
    await save(path, 'text/x-diff', `${name}-${from}...${to}.patch`);
    return null;
  };
  return (
    <Page
      heading={`${name} ${from}...${to}`}
      of={[comparison]}
      isEmpty={comparison.data?.files.length === 0}
      crumbs={[CONFIGURATIONS_CRUMB, { href: links.named(KIND, name), label: name }]}
      actions={<DeedButton deed="Download patch" run={savePatch} />}
      tools={
        <div class="bar">
          <CompareForm
            key={range}
            {...{ kind: KIND, name, range: { from, to } }}
            versions={versions.data ?? []}
          />
          <span class="bar actions">
            <a href={links.compare(KIND, name, to, from)}>Swap</a>
            <DiffModeChoice />
          </span>
        </div>
      }
    >
      {comparison.data !== null && <Files name={name} comparison={comparison.data} mode={mode} />}
    </Page>
  );
}

interface FilesProps {
  name: string;
  comparison: Comparison;
  mode: DiffMode;
}

function Files({ name, comparison, mode }: FilesProps) {
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
      {files.slice(0, end).map((file) => (
        <div key={file.path} class="part">
          <DiffFile change={file} url={urlOf(file.path)} mode={mode} />
          {isTooLarge(file) && <GitCommand name={name} comparison={comparison} path={file.path} />}
        </div>
      ))}
      {end < files.length && (
        <p>
          <button type="button" onClick={() => setShown(end + BLOCK)}>
            Show more files
          </button>{' '}
          <span class="muted">
            <Num value={files.length - end} /> are not shown yet.
          </span>
        </p>
      )}
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
