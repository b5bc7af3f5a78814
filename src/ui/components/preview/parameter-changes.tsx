/** The values of parameters that change, with the files that they come from. */

import { REDACTED } from '../../sealed.ts';
import type { PreviewGroupDetails } from '../../types.ts';
import { Dots } from '../secret.tsx';
import { type Column, SimpleTable } from '../table.tsx';

type ParameterChange = PreviewGroupDetails['parameters'][number];
type Source = ParameterChange['beforeSource'];

const COLUMNS: readonly Column<ParameterChange>[] = [
  { label: 'Path', isName: true, isLong: true, cell: ({ path }) => <code>{path}</code> },
  {
    label: 'Before',
    isLong: true,
    cell: ({ before, beforeSource }) => <Value of={before} source={beforeSource} />,
  },
  {
    label: 'After',
    isLong: true,
    cell: ({ after, afterSource }) => <Value of={after} source={afterSource} />,
  },
  { label: 'Source before', cell: ({ beforeSource }) => <SourceName source={beforeSource} /> },
  { label: 'Source after', cell: ({ afterSource }) => <SourceName source={afterSource} /> },
];

interface ChangesProps {
  changes: readonly ParameterChange[];
  Heading: 'h4' | 'h5';
}

export function ParameterChanges({ changes, Heading }: ChangesProps) {
  return (
    <section class="part">
      <Heading>Parameters</Heading>
      <SimpleTable name="Parameter changes" rows={changes} columns={COLUMNS} keyOf={({ path }) => path} />
    </section>
  );
}

function Value({ of, source }: { of: unknown; source: Source }) {
  if (source === null) return <span class="muted">none</span>;
  if (of === REDACTED) return <Dots />;
  return <code>{JSON.stringify(of)}</code>;
}

/** For example `Environment prod 1.2.0`. */
function SourceName({ source }: { source: Source }) {
  if (source === null) return <span class="muted">none</span>;
  const { scopeTypeName, scopeValue, version } = source;
  return <>{[scopeTypeName, scopeValue, version].filter((part) => part !== null).join(' ')}</>;
}
