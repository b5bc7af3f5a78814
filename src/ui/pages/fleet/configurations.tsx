/** What is assigned to how many nodes, how these are, and which versions they are offered. */

import { Empty } from '../../components/empty.tsx';
import { Num } from '../../components/num.tsx';
import { SimpleTable } from '../../components/table.tsx';
import { apiPath, links, withQuery } from '../../links.ts';
import { useReadable } from '../../readable.ts';
import { useResource } from '../../resource.ts';
import type { FleetSummary, VersionUse } from '../../types.ts';

type Assigned = FleetSummary['configurations'][number];

const STATUSES = ['Compliant', 'NonCompliant', 'Error', 'Unknown'] as const;
/** The versions of so many are asked for; of the others somebody looks at the configuration itself. */
const WITH_VERSIONS = 12;
/** In milliseconds. They are many questions, so they are asked half as often as others. */
const PAUSE = 30_000;

export function ConfigurationsTable({ summary }: { summary: FleetSummary }) {
  const { configurations } = summary;
  const readable = useReadable();
  const mayRead = ({ name, isComposite }: Assigned) =>
    isComposite ? readable.composite(name) : readable.configuration(name);
  const spread = new Set(configurations.filter(mayRead).slice(0, WITH_VERSIONS));
  return (
    <section class="part">
      <h2>Configurations</h2>
      <SimpleTable
        name="Configurations"
        rows={configurations}
        keyOf={({ name, isComposite }) => `${isComposite} ${name}`}
        none={
          <Empty>
            <p>
              Nothing is assigned to any node. Publish a version under{' '}
              <a href={links.list('configurations')}>Configurations</a>, then assign it under{' '}
              <a href={links.nodes()}>Nodes</a>.
            </p>
          </Empty>
        }
        columns={[
          {
            label: 'Name',
            isName: true,
            cell: (assigned) => <Name assigned={assigned} mayRead={mayRead(assigned)} />,
          },
          {
            label: 'Nodes',
            isNumber: true,
            cell: ({ name, nodes }) => (
              <a href={links.nodes({ configurationName: name })}>
                <Num value={nodes} />
              </a>
            ),
          },
          ...STATUSES.map((status) => ({
            label: status,
            isNumber: true,
            cell: ({ name, byStatus }: Assigned) => (
              <StatusCount name={name} status={status} count={byStatus[status] ?? 0} />
            ),
          })),
          {
            label: 'Offered versions',
            isLong: true,
            cell: (assigned) => (spread.has(assigned) ? <Versions assigned={assigned} /> : null),
          },
        ]}
      />
    </section>
  );
}

/** A link, where the user may read what is assigned. */
function Name({ assigned: { name, isComposite }, mayRead }: { assigned: Assigned; mayRead: boolean }) {
  const href = links.named(isComposite ? 'composites' : 'configurations', name);
  return (
    <>
      {mayRead ? <a href={href}>{name}</a> : name}
      {isComposite && <span class="muted"> composite</span>}
    </>
  );
}

function StatusCount({ name, status, count }: { name: string; status: string; count: number }) {
  if (count === 0) return <span class="muted">0</span>;
  return (
    <a href={links.nodes({ configurationName: name, status })} aria-label={`${count} ${status} of ${name}`}>
      <Num value={count} />
    </a>
  );
}

/** Which versions the nodes are offered, the most offered first. */
function Versions({ assigned: { name, isComposite } }: { assigned: Assigned }) {
  const path = `/fleet/configurations${apiPath(name)}/versions`;
  const uses = useResource<VersionUse[]>(withQuery(path, { isComposite: isComposite ? 'true' : null }), {
    pause: () => PAUSE,
  });
  if (uses.state === 'loading')
    return (
      <span class="muted" aria-busy="true">
        is counted
      </span>
    );
  const offered = (uses.data ?? []).filter(({ offered: count }) => count > 0);
  const shown = offered.toSorted((a, b) => b.offered - a.offered).slice(0, 4);
  return (
    <ul class="spread">
      {shown.map(({ version, offered: count }) => (
        <li key={version}>
          <a href={links.version(isComposite ? 'composites' : 'configurations', name, version)}>{version}</a>{' '}
          <Num value={count} />
        </li>
      ))}
      {offered.length > shown.length && <li class="muted">and {offered.length - shown.length} more</li>}
    </ul>
  );
}
