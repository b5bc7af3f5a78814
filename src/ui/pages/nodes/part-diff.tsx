/** One configuration of a node: its files and parameter files as the node runs them, against those that it is offered. */

import { DiffFile, fileAnchor } from '../../components/diff-file.tsx';
import { useDiffMode } from '../../components/diff-mode.tsx';
import { DiffTable } from '../../components/diff-table.tsx';
import { Mark } from '../../components/marks.tsx';
import { Num } from '../../components/num.tsx';
import { Part } from '../../components/page.tsx';
import { SimpleTable } from '../../components/table.tsx';
import { apiPath, links, withQuery } from '../../links.ts';
import { useResource } from '../../resource.ts';
import type { Comparison, FileDiff, ScopeType } from '../../types.ts';
import { scopeText } from './scope-text.ts';
import { type ComparedPart, type ComparedScope, compareScopes } from './sides.ts';

/** So many files are shown here; all of them are on the page that compares the versions. */
const SHOWN_FILES = 20;

export function PartDiff({ part, isComposite }: { part: ComparedPart; isComposite: boolean }) {
  const { name, runs, offered } = part;
  const [before, after] = [runs?.version ?? null, offered?.version ?? null];
  return (
    <section class="part" aria-labelledby={`part-${name}`}>
      <h2 id={`part-${name}`}>{name}</h2>
      <p>{sentenceOf(before, after)}</p>
      {before !== null && after !== null && before !== after && (
        <Files name={name} from={before} to={after} prefix={isComposite ? `${name}-` : ''} />
      )}
      <Parameters part={part} />
    </section>
  );
}

function sentenceOf(before: string | null, after: string | null): string {
  if (before === null) return `The node does not have it yet. It is offered version ${after}.`;
  if (after === null) return `The node runs version ${before}. It is not offered this any more.`;
  return before === after
    ? `Both sides have version ${after}, so the files are the same.`
    : `It runs version ${before} and is offered version ${after}.`;
}

interface FilesProps {
  name: string;
  from: string;
  to: string;
  /** Tells files of equal paths of several parts from each other. */
  prefix: string;
}

function Files({ name, from, to, prefix }: FilesProps) {
  const mode = useDiffMode();
  const path = `/configurations${apiPath(name)}/compare`;
  const comparison = useResource<Comparison>(withQuery(path, { from, to }), { poll: false });
  return (
    <Part of={comparison}>
      {({ files, totals }) => (
        <>
          <h3>Files</h3>
          <p>
            <Num value={files.length} /> {files.length === 1 ? 'file differs' : 'files differ'}, +
            <Num value={totals.additions} /> -<Num value={totals.deletions} /> lines.{' '}
            <a href={links.compare('configurations', name, from, to)}>Compare the versions</a>
          </p>
          {files.slice(0, SHOWN_FILES).map((file) => (
            <DiffFile
              key={file.path}
              change={file}
              level={4}
              mode={mode}
              id={prefix + fileAnchor(file.path)}
              url={withQuery(`${path}/files${apiPath(...file.path.split('/'))}`, { from, to })}
            />
          ))}
          {files.length > SHOWN_FILES && (
            <p>
              <Num value={files.length - SHOWN_FILES} /> more files differ.{' '}
              <a href={links.compare('configurations', name, from, to)}>Compare the versions</a>
            </p>
          )}
        </>
      )}
    </Part>
  );
}

function Parameters({ part }: { part: ComparedPart }) {
  const { name, configurationId } = part;
  const scopes = compareScopes(part);
  const types = useResource<ScopeType[]>('/scope-types?take=1000', { poll: false });
  if (scopes.length === 0) return <p class="muted">It has no parameter files on either side.</p>;
  const changed = scopes.filter(({ runs, offered }) => runs !== null && offered !== null && runs !== offered);
  return (
    <div class="part">
      <h3>Parameters</h3>
      <SimpleTable
        name={`Parameter files of ${name}`}
        rows={scopes}
        keyOf={({ scope }) => scopeText(scope)}
        columns={[
          { label: 'Scope', isName: true, cell: ({ scope }) => scopeText(scope) },
          { label: 'Runs', cell: (row) => <FileLink name={name} row={row} version={row.runs} /> },
          { label: 'Offered', cell: (row) => <FileLink name={name} row={row} version={row.offered} /> },
          { label: 'Change', cell: (row) => <Change row={row} /> },
        ]}
      />
      {configurationId !== null &&
        changed.map((row) => {
          const type = types.data?.find((one) => one.name === row.scope.scopeTypeName);
          return (
            type !== undefined && (
              <FileChanges key={scopeText(row.scope)} row={row} of={[type.id, configurationId]} name={name} />
            )
          );
        })}
    </div>
  );
}

function FileLink({
  name,
  row: { scope },
  version,
}: {
  name: string;
  row: ComparedScope;
  version: string | null;
}) {
  if (version === null) return <span class="muted">none</span>;
  return <a href={links.parameterFile(name, { ...scope, version })}>{version}</a>;
}

function Change({ row: { runs, offered } }: { row: ComparedScope }) {
  if (runs === offered) return <span class="muted">same</span>;
  if (runs === null) return <Mark word="Added" tone="info" />;
  if (offered === null) return <Mark word="Removed" tone="warn" />;
  return <Mark word="Modified" tone="info" />;
}

interface FileChangesProps {
  name: string;
  row: ComparedScope;
  /** The ids of the scope type and of the configuration. */
  of: readonly [scopeTypeId: string, configurationId: string];
}

/** The lines of one scope's file that differ. */
function FileChanges({ name, row: { scope, runs, offered }, of }: FileChangesProps) {
  const mode = useDiffMode();
  const query = { scopeValue: scope.scopeValue, from: runs, to: offered };
  const diff = useResource<FileDiff>(withQuery(`/parameters${apiPath(...of)}/compare`, query), {
    poll: false,
  });
  const path = [name, scope.scopeTypeName, ...(scope.scopeValue === null ? [] : [scope.scopeValue])].join(
    '/',
  );
  return (
    <Part of={diff}>
      {(shown) => (
        <section class="diff-file" aria-label={`${path}/${shown.path}`}>
          <div class="diff-file-head">
            <h4>{scopeText(scope)}</h4>
            <span class="muted">
              {runs} to {offered}
            </span>
          </div>
          <DiffTable path={`${path}/${shown.path}`} diff={shown} mode={mode} />
        </section>
      )}
    </Part>
  );
}
