/** The table of parameter files: a row for each scope, a column for each major version. */

import { Mark } from '../../components/marks.tsx';
import { Num } from '../../components/num.tsx';
import { Scroller } from '../../components/table.tsx';
import { apiPath, links, withQuery } from '../../links.ts';
import type { List } from '../../list.ts';
import { useResources } from '../../resource.ts';
import type { ParameterFile, ScopeType, ScopeValue } from '../../types.ts';
import { newFileLink } from './addresses.ts';
import { OF_DELETED_NODE, useFilesOfDeletedNodes } from './deleted-nodes.ts';
import { activeOf, compareMajors, isOffered, MOST, majorOf, nextVersion } from './model.ts';
import { type Row, rowsOf } from './rows.ts';

interface MatrixProps {
  name: string;
  list: List<ParameterFile>;
  /** By precedence, the weakest first. */
  types: readonly ScopeType[];
  majors: readonly string[];
  isChangeable: boolean;
}

export function MatrixTable({ name, list, types, majors, isChangeable }: MatrixProps) {
  const { values, isLoading } = useValues(list, types);
  const ofDeleted = useFilesOfDeletedNodes(name, list.rows);
  const hasDefault = list.query['status'] === undefined && list.query['scopeValue'] === undefined;
  const isDefaultMeant = isMeant(list.query['scopeTypeName'], 'Default');
  const { rows, left } = rowsOf({
    ...{ types, files: list.rows, values },
    hasDefault: hasDefault && isDefaultMeant && list.page === 1,
  });
  const columns = [
    ...(majors.length === 0 ? ['1'] : majors),
    ...(list.rows.some(({ version }) => majorOf(version) === null) ? [null] : []),
  ];
  return (
    <>
      <Scroller>
        <table class="matrix" aria-busy={isLoading}>
          <caption class="visually-hidden">Parameter files</caption>
          <thead>
            <tr>
              <th scope="col">Scope type</th>
              <th scope="col">Scope value</th>
              {columns.map((major) => (
                <th key={major} scope="col">
                  {major === null ? 'No SemVer' : `Major ${major}`}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <MatrixRow key={row.key} {...{ name, row, columns, isChangeable, ofDeleted }} />
            ))}
          </tbody>
        </table>
      </Scroller>
      {left > 0 && (
        <p class="muted">
          <Num value={left} /> more scope values have no file. Filter by the scope value to see one of them.
        </p>
      )}
    </>
  );
}

function isMeant(wanted: string | undefined, text: string): boolean {
  return wanted === undefined || wanted.toLowerCase() === text.toLowerCase();
}

/** The values that nodes can be tagged with, where the table shows scopes without files. */
function useValues({ query, total }: List<ParameterFile>, types: readonly ScopeType[]) {
  // Where files are left out, nobody can tell from this page which scopes have none.
  const isShown = query['status'] === undefined && total <= MOST;
  const meant = types.filter(
    ({ isSystem, name }) => isShown && !isSystem && isMeant(query['scopeTypeName'], name),
  );
  const resources = useResources<ScopeValue[]>(
    meant.map(({ id }) => withQuery(apiPath('scope-types', id, 'values'), { take: MOST })),
    { poll: false },
  );
  const values = new Map(
    meant.map(({ id }, at) => [
      id,
      (resources[at]?.data ?? []).filter(({ value }) => isMeant(query['scopeValue'], value)),
    ]),
  );
  return { values, isLoading: resources.some(({ state }) => state === 'loading') };
}

interface RowProps {
  name: string;
  row: Row;
  columns: readonly (string | null)[];
  isChangeable: boolean;
  /** The ids of files of nodes that were deleted. */
  ofDeleted: ReadonlySet<string>;
}

function MatrixRow({ name, row, columns, isChangeable, ofDeleted }: RowProps) {
  const { scopeTypeName, scopeValue } = row;
  const query = { scopeTypeName, scopeValue };
  return (
    <tr>
      <td>{scopeTypeName}</td>
      <th scope="row">
        <a href={withQuery(links.parameters(name), query)}>{scopeValue ?? 'Default'}</a>
      </th>
      {columns.map((major) => (
        <td key={major}>
          <Cell {...{ name, row, major, isChangeable, ofDeleted }} />
        </td>
      ))}
    </tr>
  );
}

interface CellProps extends Omit<RowProps, 'columns'> {
  major: string | null;
}

function Cell({ name, row, major, isChangeable, ofDeleted }: CellProps) {
  const files = row.files.filter(({ version }) => majorOf(version) === major);
  if (files.length > 0) return <Files {...{ name, files, ofDeleted }} />;
  // The highest version comes first, so this is one of the nearest lower major.
  const fallback = row.files
    .filter((file) => isOffered(file) && !ofDeleted.has(file.id))
    .map(({ version }) => majorOf(version))
    .find((each) => each !== null && major !== null && compareMajors(each, major) < 0);
  return (
    <span class="cell">
      {isChangeable && major !== null && (
        <a href={newFileLink(name, row, { version: nextVersion(row.files, major) })} class="new-file">
          New
        </a>
      )}
      {fallback !== undefined && <span class="muted">Major {fallback} counts</span>}
    </span>
  );
}

interface FilesProps extends Pick<RowProps, 'name' | 'ofDeleted'> {
  files: readonly ParameterFile[];
}

/** What counts, then the drafts. Published versions that do not count any more are on the page of the file. */
function Files({ name, files, ofDeleted }: FilesProps) {
  const active = activeOf(files.filter(({ id }) => !ofDeleted.has(id))) ?? activeOf(files);
  const drafts = files.filter(({ status }) => status === 'Draft');
  const withdrawn = files.filter((file) => file.withdrawn !== null).length;
  const older = files.length - drafts.length - withdrawn - (active === undefined ? 0 : 1);
  return (
    <span class="cell">
      {[...(active === undefined ? [] : [active]), ...drafts].map((file) => (
        <span key={file.id} class="cell-file">
          <a href={links.parameterFile(name, file)}>{file.version}</a>
          {file.status === 'Draft' && <Mark word="Draft" />}
          {ofDeleted.has(file.id) && <Mark word={OF_DELETED_NODE} tone="idle" />}
          {file.isPassthrough && <Mark word="Passthrough" tone="idle" />}
          {file.needsMigration && <Mark word="Breaks the schema" tone="warn" />}
        </span>
      ))}
      {older > 0 && (
        <span class="muted">
          <Num value={older} /> older
        </span>
      )}
      {withdrawn > 0 && (
        <span class="muted">
          <Num value={withdrawn} /> withdrawn
        </span>
      )}
    </span>
  );
}
