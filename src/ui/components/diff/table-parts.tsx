/** The rows and cells of the table of a difference. */

import { useMemo } from 'preact/hooks';
import { DOTS } from '../../sealed.ts';
import { Dots } from '../secret.tsx';
import { type Part, type Row, type Side, visiblePieces } from './rows.ts';

interface BodyProps {
  rows: readonly Row[];
  /** The rows from `start` to `end`, exclusive. */
  start: number;
  end: number;
  isSplit: boolean;
}

/** The columns and their headings. */
export function Head({ isSplit }: { isSplit: boolean }) {
  return (
    <>
      <colgroup>
        {(isSplit ? SPLIT_COLUMNS : UNIFIED_COLUMNS).map(([name], index) => (
          <col key={index} class={`diff-col-${name}`} />
        ))}
      </colgroup>
      <thead>
        <tr>
          {(isSplit ? SPLIT_COLUMNS : UNIFIED_COLUMNS).map(([name, label], index) => (
            <th key={index} scope="col">
              {name === 'sign' ? <span class="visually-hidden">{label}</span> : label}
            </th>
          ))}
        </tr>
      </thead>
    </>
  );
}

const UNIFIED_COLUMNS = [
  ['number', 'Old'],
  ['number', 'New'],
  ['sign', 'Change'],
  ['text', 'Text'],
] as const;

const SPLIT_COLUMNS = [
  ['number', 'Old'],
  ['sign', 'Removed'],
  ['text', 'Before'],
  ['number', 'New'],
  ['sign', 'Added'],
  ['text', 'After'],
] as const;

/** A block of rows. It is made once: showing the next block leaves it alone. */
export function Body({ rows, start, end, isSplit }: BodyProps) {
  return useMemo(
    () => (
      <tbody>
        {rows.slice(start, end).map((row, index) => (
          <TableRow key={index} row={row} columns={isSplit ? SPLIT_COLUMNS.length : UNIFIED_COLUMNS.length} />
        ))}
      </tbody>
    ),
    [rows, start, end, isSplit],
  );
}

function TableRow({ row, columns }: { row: Row; columns: number }) {
  if (row.kind === 'hunk') {
    return (
      <tr class="diff-hunk">
        <td colSpan={columns}>{row.text}</td>
      </tr>
    );
  }
  if (row.kind === 'pair') {
    return (
      <tr>
        <Half side={row.before} number={row.before?.oldNumber ?? null} />
        <Half side={row.after} number={row.after?.newNumber ?? null} />
      </tr>
    );
  }
  const { line } = row;
  return (
    <tr>
      <td class="diff-number">{line.oldNumber}</td>
      <td class="diff-number">{line.newNumber}</td>
      <Cells side={line} />
    </tr>
  );
}

function Half({ side, number }: { side: Side | null; number: number | null }) {
  if (side === null) {
    return (
      <>
        <td class="diff-number" />
        <td class="diff-sign" />
        <td class="diff-nothing" />
      </>
    );
  }
  return (
    <>
      <td class="diff-number">{number}</td>
      <Cells side={side} />
    </>
  );
}

const SIGNS = { Added: '+', Removed: '-', Context: null };

function Cells({ side: { kind, parts } }: { side: Side }) {
  return (
    <>
      <td class="diff-sign" data-kind={kind}>
        {SIGNS[kind]}
      </td>
      <td class="diff-text" data-kind={kind}>
        {kind === 'Added' && <ins>{parts.map(showPart)}</ins>}
        {kind === 'Removed' && <del>{parts.map(showPart)}</del>}
        {kind === 'Context' && parts.map(showPart)}
      </td>
    </>
  );
}

function showPart({ text, isMarked }: Part, index: number) {
  const pieces = visiblePieces(text).map(({ text, name }, at) => {
    if (name === null) return text;
    if (text === DOTS) return <Dots key={at} name={name} />;
    return (
      <span key={at} class="diff-char" role="img" aria-label={name}>
        {text}
      </span>
    );
  });
  return isMarked ? <mark key={index}>{pieces}</mark> : pieces;
}
