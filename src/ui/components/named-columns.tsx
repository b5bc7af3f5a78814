/** The columns of the lists of configurations and composites. */

import { type Kind, links } from '../links.ts';
import type { Composite, Configuration, FleetSummary } from '../types.ts';
import { Num } from './num.tsx';
import type { Column } from './table.tsx';
import { Time } from './time.tsx';

/** The summary of the fleet names so many configurations and composites at most. */
const SUMMED = 100;

type Named = Configuration | Composite;

/** @param summary null while the figures of nodes are not known, or the user may not see them */
export function columnsOf(kind: Kind, summary: FleetSummary | null): Column<Named>[] {
  const columns: Column<Named>[] = [
    {
      label: 'Name',
      isName: true,
      isLong: true,
      cell: ({ name }) => <a href={links.named(kind, name)}>{name}</a>,
    },
    {
      label: 'Description',
      isLong: true,
      cell: ({ description }) => <p class="message short">{description}</p>,
    },
    {
      label: 'Latest published',
      cell: ({ name, latestPublishedVersion: version }) =>
        version === null ? (
          <span class="muted">none</span>
        ) : (
          <a href={links.version(kind, name, version)}>{version}</a>
        ),
    },
    {
      label: 'Latest',
      cell: ({ latestVersion }) => latestVersion ?? <span class="muted">none</span>,
    },
    {
      label: 'Versions',
      isNumber: true,
      cell: ({ versionCount }) =>
        versionCount === null ? <span class="muted">unknown</span> : <Num value={versionCount} />,
    },
  ];
  if (summary !== null)
    columns.push({
      label: 'Nodes',
      isNumber: true,
      cell: ({ name }) => <Nodes kind={kind} name={name} of={summary} />,
    });
  columns.push(
    { label: 'Access', cell: ({ access }) => access ?? <span class="muted">none</span> },
    { label: 'Updated', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
  );
  return columns;
}

function Nodes({ kind, name, of: { configurations } }: { kind: Kind; name: string; of: FleetSummary }) {
  const isComposite = kind === 'composites';
  const found = configurations.find((each) => each.name === name && each.isComposite === isComposite);
  if (found !== undefined)
    return (
      <a href={links.nodes({ configurationName: name })}>
        <Num value={found.nodes} />
      </a>
    );
  if (configurations.length < SUMMED) return <Num value={0} />;
  return <span class="muted">at most {configurations.at(-1)?.nodes}</span>;
}
