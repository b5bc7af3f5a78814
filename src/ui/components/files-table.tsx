/** Table `Files`: the files of one version. */

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { CopyButton } from './copy-line.tsx';
import { MoreFiles } from './more-files.tsx';
import { Size } from './size.tsx';
import { type Column, SimpleTable } from './table.tsx';

/** So many rows are made at once. */
const BLOCK = 500;

export interface VersionFile {
  path: string;
  size: number;
  checksum: string;
}

interface Props<F extends VersionFile> {
  files: readonly F[];
  /** The address at which a file is shown. */
  hrefOf: (path: string) => string;
  /** The file that is shown beside the table, which is then narrow. */
  current?: string | null;
  /** What is said below the path of a file. */
  markOf?: (file: F) => ComponentChildren;
}

export function FilesTable<F extends VersionFile>({ files, hrefOf, current = null, markOf }: Props<F>) {
  const [shown, setShown] = useState(BLOCK);
  const at = files.findIndex(({ path }) => path === current);
  // The one that is shown is among the rows, wherever it stands.
  const end = Math.max(shown, at + 1);
  const columns: Column<F>[] = [
    {
      label: 'Path',
      isName: true,
      isLong: true,
      cell: (file) => (
        <>
          <a href={hrefOf(file.path)} aria-current={file.path === current ? 'true' : undefined}>
            {file.path}
          </a>
          {markOf !== undefined && <div>{markOf(file)}</div>}
        </>
      ),
    },
    { label: 'Size', isNumber: true, cell: ({ size }) => <Size bytes={size} /> },
  ];
  if (current === null)
    columns.push({ label: 'Checksum', cell: (file) => <Checksum checksum={file.checksum} of={file.path} /> });
  return (
    <>
      <SimpleTable name="Files" rows={files.slice(0, end)} keyOf={({ path }) => path} columns={columns} />
      <MoreFiles left={files.length - end} onMore={() => setShown(end + BLOCK)} />
    </>
  );
}

/** The beginning of a SHA-256 checksum; the button copies the whole. */
export function Checksum({ checksum, of }: { checksum: string; of: string }) {
  return (
    <span class="checksum">
      <code title={checksum}>{checksum.slice(0, 12)}</code>{' '}
      <CopyButton text={checksum} label={`checksum of ${of}`} />
    </span>
  );
}
