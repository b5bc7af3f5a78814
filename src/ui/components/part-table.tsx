/** The table of a list that is a part of a page, with what stands in its place while it is loaded or cannot be. */

import { Skeleton } from './page.tsx';
import { Problem } from './problem.tsx';
import { DataTable, type DataTableProps } from './table.tsx';

export function PartTable<T>(props: DataTableProps<T>) {
  const { resource, rows } = props.list;
  if (resource.state === 'loading' && rows.length === 0) return <Skeleton lines={3} />;
  return (
    <>
      {resource.problem !== null && (
        <Problem problem={resource.problem} onRetry={() => void resource.reload()} />
      )}
      <DataTable {...props} />
    </>
  );
}
