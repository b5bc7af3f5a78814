/** Tables: of rows that are there, and of lists that the API pages. */

import type { ComponentChildren } from 'preact';
import type { List } from '../list.ts';
import { PAGE_SIZE } from '../list.ts';
import type { Selection } from '../selection.ts';
import { Num } from './num.tsx';

export interface Column<T> {
  label: string;
  cell: (row: T) => ComponentChildren;
  /** Its cells name the rows; they hold a link to what the row stands for. */
  isName?: boolean;
  isNumber?: boolean;
  /** The API's word for sorting by this column. */
  sort?: string;
  /** Long text, which may break anywhere. */
  isLong?: boolean;
}

interface SimpleProps<T> {
  /** The accessible name. */
  name: string;
  rows: readonly T[];
  columns: readonly Column<T>[];
  keyOf: (row: T) => string;
  /** Shows how many rows there are of how many. Default: the table says nothing. */
  total?: number;
  /** What stands in place of the rows where there are none. */
  none?: ComponentChildren;
}

/** Rows that are there already. */
export function SimpleTable<T>({ name, rows, columns, keyOf, total, none }: SimpleProps<T>) {
  return (
    <div class="table-box">
      {rows.length === 0 && none !== undefined ? (
        none
      ) : (
        <Scroller>
          <table>
            <caption class="visually-hidden">{name}</caption>
            <thead>
              <tr>
                {columns.map((column) => (
                  <th key={column.label} scope="col" class={classOf(column)}>
                    {column.label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={keyOf(row)}>
                  {columns.map((column) => (
                    <Cell key={column.label} column={column} row={row} />
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </Scroller>
      )}
      {total !== undefined && <Count shown={rows.length} total={total} />}
    </div>
  );
}

export interface DataTableProps<T> {
  name: string;
  list: List<T>;
  columns: readonly Column<T>[];
  keyOf: (row: T) => string;
  selection?: Selection<T>;
  /** What stands there where no row meets the filter, or there is none at all. */
  none: ComponentChildren;
}

/** One page of a list, with the links to the other pages. */
export function DataTable<T>({ name, list, columns, keyOf, selection, none }: DataTableProps<T>) {
  const { rows, total, isBusy, page } = list;
  if (rows.length === 0 && !isBusy)
    return (
      <div class="table-box">
        {total > 0 ? <BeyondEnd list={list} /> : none}
        <Count shown={0} total={total} />
      </div>
    );
  return (
    <div class="table-box">
      <Scroller>
        <table class={isBusy ? 'busy' : ''}>
          <caption class="visually-hidden">{name}</caption>
          <thead>
            <tr>
              {selection !== undefined && <PageCheckbox list={list} selection={selection} />}
              {columns.map((column) => (
                <HeadCell key={column.label} column={column} list={list} />
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={keyOf(row)} class={selection?.has(row) ? 'chosen' : ''}>
                {selection !== undefined && <RowCheckbox row={row} selection={selection} />}
                {columns.map((column) => (
                  <Cell key={column.label} column={column} row={row} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroller>
      <div class="table-foot">
        <Count shown={rows.length} total={total} />
        {(page > 1 || total > PAGE_SIZE) && <Pager list={list} />}
      </div>
    </div>
  );
}

/**
 * A wide table scrolls by itself, so that the page does not. The keyboard can reach it. Its name says nothing of the
 * table, which has a name itself: fields are looked for by words such as Node.
 */
export function Scroller({ children, class: classes = '' }: { children: ComponentChildren; class?: string }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms.
    <div
      class={`table-scroll ${classes}`.trim()}
      role="group"
      aria-label="Scrolls sideways"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard (WCAG 2.1.1).
      tabIndex={0}
    >
      {children}
    </div>
  );
}

function classOf<T>({ isNumber, isLong }: Column<T>): string {
  return `${isNumber ? 'number' : ''} ${isLong ? 'long' : ''}`.trim();
}

function Cell<T>({ column, row }: { column: Column<T>; row: T }) {
  const content = column.cell(row);
  if (column.isName)
    return (
      <th scope="row" class={classOf(column)}>
        {content}
      </th>
    );
  return <td class={classOf(column)}>{content}</td>;
}

function HeadCell<T>({ column, list }: { column: Column<T>; list: List<T> }) {
  const { label, sort } = column;
  if (sort === undefined)
    return (
      <th scope="col" class={classOf(column)}>
        {label}
      </th>
    );
  const direction = list.sort === sort ? 'ascending' : list.sort === `-${sort}` ? 'descending' : undefined;
  const next = direction === 'ascending' ? `-${sort}` : sort;
  return (
    <th scope="col" class={classOf(column)} aria-sort={direction ?? 'none'}>
      <a href={list.sortUrl(next)} class="sort">
        {label}
        <span aria-hidden="true" class="sort-sign">
          {direction === 'ascending' ? '▲' : direction === 'descending' ? '▼' : '↕'}
        </span>
      </a>
    </th>
  );
}

function PageCheckbox<T>({ list, selection }: { list: List<T>; selection: Selection<T> }) {
  const isWhole = list.rows.length > 0 && list.rows.every((row) => selection.has(row));
  return (
    <th scope="col" class="choose">
      <input
        type="checkbox"
        aria-label="Select page"
        checked={isWhole}
        onChange={() => selection.togglePage()}
      />
    </th>
  );
}

function RowCheckbox<T>({ row, selection }: { row: T; selection: Selection<T> }) {
  return (
    <td class="choose">
      <input
        type="checkbox"
        aria-label={`Select ${selection.nameOf(row)}`}
        checked={selection.has(row)}
        onChange={() => selection.toggle(row)}
      />
    </td>
  );
}

/** How many rows are shown of how many there are. Its text has digits alone, so that it can be searched and copied. */
export function Count({ shown, total }: { shown: number; total: number }) {
  return (
    <p role="status" class="count">
      <Num value={shown} /> of <Num value={total} />
    </p>
  );
}

/** Links to the pages before and after this one. */
export function Pager<T>({ list }: { list: List<T> }) {
  const { page, pageCount } = list;
  return (
    <nav aria-label="Pages" class="pager">
      {page > 1 && <a href={list.pageUrl(page - 1)}>Previous</a>}
      <span>
        Page <Num value={page} /> of <Num value={pageCount} />
      </span>
      {page < pageCount && <a href={list.pageUrl(page + 1)}>Next</a>}
    </nav>
  );
}

function BeyondEnd<T>({ list }: { list: List<T> }) {
  return (
    <div class="empty">
      <p>
        The list has no page <Num value={list.page} /> any more.
      </p>
      <a href={list.pageUrl(1)}>Go to the first page</a>
    </div>
  );
}
