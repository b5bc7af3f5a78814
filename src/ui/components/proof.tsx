/** How many nodes run exactly one version and have applied it, and why the others do not. */

import type { ComponentChildren } from 'preact';
import { apiOf, type Kind, links } from '../links.ts';
import { type List, useList } from '../list.ts';
import { useResource } from '../resource.ts';
import { changedUrl, usePlace } from '../router.ts';
import type { Proof, ProofNode } from '../types.ts';
import { Empty } from './empty.tsx';
import { ExportCsv } from './export-csv.tsx';
import { Checksum } from './files-table.tsx';
import { Filters } from './filters.tsx';
import { EvidenceMark, Mark } from './marks.tsx';
import { Num } from './num.tsx';
import { Part, Skeleton } from './page.tsx';
import { Problem } from './problem.tsx';
import { Count, DataTable } from './table.tsx';
import { Time } from './time.tsx';

/** What each reason says, as people would. */
const REASONS: Readonly<Record<string, string>> = {
  NeverPolled: 'Nothing is known of these nodes yet.',
  NotPolledSince: 'They have not asked since it is offered to them.',
  NotDownloaded: 'They were told of it, and have not fetched it.',
  NotReported: 'It was sent to them, and they have not said that they run it.',
  RunsOther: 'They fetched it, and a later report names another version.',
  Unresolvable: 'They get an error or nothing.',
};

const FILTERS = [
  { name: 'reason', label: 'Reason', choices: Object.keys(REASONS) },
  { name: 'evidence', label: 'Evidence', choices: ['Declared', 'Served', 'Told'] },
  { name: 'outcome', label: 'Outcome', choices: ['Applied', 'Failed', 'Untested'] },
] as const;

interface Props {
  kind: Kind;
  name: string;
  version: string;
}

/** Left out for users who may not see nodes; ask `can('nodes.read')` before. Of published versions alone. */
export function ProofPart({ kind, name, version }: Props) {
  const place = usePlace();
  const path = apiOf(kind, name, 'versions', version, 'proof');
  const proof = useResource<Proof>(path);
  const isListed =
    place.query.get('nodes') === 'all' || FILTERS.some((filter) => place.query.get(filter.name) !== null);
  const urlOf = (changes: Record<string, string | null>) =>
    changedUrl(place.path, place.query, {
      file: null,
      blame: null,
      page: null,
      reason: null,
      outcome: null,
      ...changes,
    });
  return (
    <>
      <Part of={proof} heading="Proof">
        {({ nodes, reasons }) => (
          <div class="card proof">
            <div class="bar">
              <span class="proof-count">
                <Count shown={nodes.applied} total={nodes.offered} />
              </span>
              <span>
                nodes have applied exactly this version.{' '}
                {nodes.offered > 0 && <a href={urlOf({ nodes: 'all' })}>List the nodes</a>}
              </span>
            </div>
            <dl class="facts parts">
              <Figure label="Declared" value={nodes.declared} says="say themselves that they run it" />
              <Figure label="Applied" value={nodes.applied} says="of these reported it without errors" />
              <Figure label="Failed" value={nodes.failed} says="reported errors, or their LCM is in Error">
                {nodes.failed > 0 && (
                  <a href={urlOf({ outcome: 'Failed', nodes: null })}>Which nodes failed?</a>
                )}
              </Figure>
              <Figure label="Untested" value={nodes.untested} says="have not reported it yet" />
              <Figure label="Served" value={nodes.served} says="have fetched it whole" />
              <Figure label="Told" value={nodes.told} says="know of it" />
              <Figure label="Others" value={nodes.others} says="have not asked since, or run another" />
            </dl>
            <dl class="facts parts" aria-label="By which way it is offered">
              <Figure label="Direct" value={nodes.direct} says="are assigned it, and follow" />
              <Figure label="By composites" value={nodes.viaComposites} says="get it from a composite" />
              <Figure label="Pinned" value={nodes.pinned} says="get exactly this version" />
            </dl>
            {reasons.length > 0 && (
              <ul class="reasons" aria-label="Why nodes do not run it">
                {reasons.map(({ reason, nodes: count }) => (
                  <li key={reason}>
                    <a href={urlOf({ reason, nodes: null })}>{reason}</a>: <Num value={count} />{' '}
                    <span class="muted">{REASONS[reason]}</span>
                  </li>
                ))}
              </ul>
            )}
          </div>
        )}
      </Part>
      {isListed && <ProofNodes path={path} fileName={`${name}-${version}-nodes.csv`} />}
    </>
  );
}

interface FigureProps {
  label: string;
  value: number;
  says: string;
  children?: ComponentChildren;
}

function Figure({ label, value, says, children }: FigureProps) {
  return (
    <>
      <dt>{label}</dt>
      <dd>
        <Num value={value} /> <span class="muted">{says}</span> {children}
      </dd>
    </>
  );
}

function ProofNodes({ path, fileName }: { path: string; fileName: string }) {
  const list = useList<ProofNode>(`${path}/nodes`, {
    filters: FILTERS.map(({ name }) => name),
    sorts: false,
  });
  return (
    <section class="part" aria-busy={list.isBusy}>
      <div class="bar">
        <h2>Nodes</h2>
        <span class="actions">
          <ExportCsv path={list.wholePath} file={fileName} total={list.total} />
        </span>
      </div>
      <Filters list={list} fields={FILTERS} />
      {list.resource.problem !== null && <Problem problem={list.resource.problem} />}
      {list.isBusy && list.rows.length === 0 ? <Skeleton lines={3} /> : <NodesTable list={list} />}
    </section>
  );
}

function NodesTable({ list }: { list: List<ProofNode> }) {
  const none = (
    <Empty>
      <p>No node meets these filters.</p>
    </Empty>
  );
  return (
    <DataTable
      name="Nodes"
      list={list}
      keyOf={({ nodeId }) => nodeId}
      none={none}
      columns={[
        { label: 'Name', isName: true, cell: ({ nodeId, fqdn }) => <a href={links.node(nodeId)}>{fqdn}</a> },
        { label: 'Way', cell: (node) => <Way node={node} /> },
        { label: 'Reason', cell: ({ reason }) => reason ?? <span class="muted">none, it runs it</span> },
        { label: 'Outcome', cell: ({ outcome }) => <OutcomeMark outcome={outcome} /> },
        { label: 'Evidence', cell: ({ evidence }) => <EvidenceMark evidence={evidence} /> },
        { label: 'Since', cell: ({ since }) => <Time at={since} /> },
        {
          label: 'Checksum',
          cell: ({ checksum, fqdn }) =>
            checksum === null ? (
              <span class="muted">unknown</span>
            ) : (
              <Checksum checksum={checksum} of={fqdn} />
            ),
        },
      ]}
    />
  );
}

function Way({ node: { via, isPinned } }: { node: ProofNode }) {
  return (
    <>
      {via === null && <span class="muted">a composite that you may not read</span>}
      {via === 'Direct' && via}
      {via !== null && via !== 'Direct' && <a href={links.named('composites', via)}>{via}</a>}
      {isPinned && <span class="muted"> pinned</span>}
    </>
  );
}

function OutcomeMark({ outcome }: { outcome: ProofNode['outcome'] }) {
  return outcome === null ? <span class="muted">none</span> : <Mark word={outcome} />;
}
