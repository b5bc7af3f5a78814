/** What changes for the nodes of a group: files line by line, parameters, and which nodes they are. */

import { apiPath, links } from '../../links.ts';
import { useList } from '../../list.ts';
import { useResource } from '../../resource.ts';
import { usePlace } from '../../router.ts';
import type { PreviewGroup, PreviewGroupDetails, PreviewNode } from '../../types.ts';
import { DiffFile } from '../diff-file.tsx';
import { ExportCsv } from '../export-csv.tsx';
import { Num } from '../num.tsx';
import { Skeleton } from '../page.tsx';
import { Problem } from '../problem.tsx';
import { type Column, DataTable } from '../table.tsx';
import { MergedParameters } from './merged.tsx';
import { ParameterChanges } from './parameter-changes.tsx';
import type { ResultProps } from './shared.ts';

/** The file of a bundle that holds the merged parameters. */
const PARAMETERS = 'parameters.yaml';

type DetailsProps = Omit<ResultProps, 'deed'> & { group: PreviewGroup };

export function GroupDetails(props: DetailsProps) {
  const { id, group } = props;
  const details = useResource<PreviewGroupDetails>(apiPath('previews', id, 'groups', group.id), {
    poll: false,
  });
  const { data, problem } = details;
  return (
    <div class="impact-details" aria-busy={details.state === 'loading'}>
      {problem !== null && (
        <Problem
          problem={problem}
          // What was not kept is not there later either.
          {...(problem.code !== 'narrow_preview' && { onRetry: () => void details.reload() })}
        />
      )}
      {data === null ? problem === null && <Skeleton lines={3} /> : <Content {...props} details={data} />}
      {group.nodeCount > group.sampleNodes.length && <GroupNodes {...props} />}
    </div>
  );
}

function Content({ id, details, level, mode }: DetailsProps & { details: PreviewGroupDetails }) {
  const { code, message, mergedParameters, fileChanges, parameters } = details;
  const Heading = `h${(level + 1) as 4 | 5}` as const;
  // The merged parameters are that file already.
  const files = fileChanges.filter(({ path }) => mergedParameters === null || path !== PARAMETERS);
  const group = apiPath('previews', id, 'groups', details.id);
  return (
    <>
      {code !== null && (
        <p class="warning">
          {message ?? 'These nodes would get nothing any more.'} <code>{code}</code>
        </p>
      )}
      {mergedParameters !== null && (
        <MergedParameters path={PARAMETERS} mode={mode} {...mergedParameters} Heading={Heading} />
      )}
      {parameters.length > 0 && <ParameterChanges changes={parameters} Heading={Heading} />}
      {files.length > 0 && (
        <section>
          <Heading>Files</Heading>
          {files.map((change) => (
            <DiffFile
              key={change.path}
              id={`impact-${details.id}-${encodeURIComponent(change.path)}`}
              change={change}
              url={`${group}/files/${change.path.split('/').map(encodeURIComponent).join('/')}`}
              mode={mode}
              level={5}
            />
          ))}
        </section>
      )}
    </>
  );
}

const COLUMNS: readonly Column<PreviewNode>[] = [
  { label: 'Name', isName: true, cell: ({ nodeId, fqdn }) => <a href={links.node(nodeId)}>{fqdn}</a> },
];

/** All nodes of the group. They are unfolded where the URL names a page of them. */
function GroupNodes({ id, group, paramName }: DetailsProps) {
  const place = usePlace();
  const pageName = `${paramName}-nodes-${group.id}`;
  return (
    <details open={place.query.has(pageName)}>
      <summary>
        All <Num value={group.nodeCount} /> nodes
      </summary>
      <NodeTable id={id} groupId={group.id} pageName={pageName} />
    </details>
  );
}

function NodeTable({ id, groupId, pageName }: { id: string; groupId: string; pageName: string }) {
  const list = useList<PreviewNode>(`${apiPath('previews', id)}/nodes`, {
    ...{ fixed: { groupId }, pageName, sorts: false, poll: false },
  });
  const { problem } = list.resource;
  if (problem !== null) return <Problem problem={problem} onRetry={() => void list.resource.reload()} />;
  return (
    <>
      <ExportCsv path={list.wholePath} file={`preview-group-${groupId}.csv`} total={list.total} />
      <DataTable
        name="Nodes of the group"
        list={list}
        columns={COLUMNS}
        keyOf={({ nodeId }) => nodeId}
        none={<p>The group has no node.</p>}
      />
    </>
  );
}
