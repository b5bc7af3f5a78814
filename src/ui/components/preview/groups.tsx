/** The groups of a preview: nodes that change alike, with what they get before and after. */

import { useState } from 'preact/hooks';
import { apiPath, links } from '../../links.ts';
import { useList } from '../../list.ts';
import type { PreviewGroup } from '../../types.ts';
import { Mark } from '../marks.tsx';
import { Num } from '../num.tsx';
import { Skeleton } from '../page.tsx';
import { Problem } from '../problem.tsx';
import { Count, Pager } from '../table.tsx';
import { GroupDetails } from './group-details.tsx';
import { count, type ResultProps } from './shared.ts';

/** A group takes as much room as a few rows of a table. */
const PAGE = 20;

type GroupsProps = Omit<ResultProps, 'deed'>;

/** The largest group first, as the API gives them. */
export function Groups(props: GroupsProps) {
  const { id, paramName } = props;
  const list = useList<PreviewGroup>(`${apiPath('previews', id)}/groups`, {
    ...{ pageName: `${paramName}-groups`, size: PAGE, sorts: false, poll: false },
  });
  const { problem } = list.resource;
  if (problem !== null) return <Problem problem={problem} onRetry={() => void list.resource.reload()} />;
  if (list.isBusy && list.rows.length === 0) return <Skeleton lines={3} />;
  return (
    <>
      <ul class="impact-groups" aria-label="Groups of nodes that change alike">
        {list.rows.map((group) => (
          <Group key={group.id} group={group} {...props} />
        ))}
      </ul>
      {list.pageCount > 1 && (
        <div class="table-foot">
          <Count shown={list.rows.length} total={list.total} />
          <Pager list={list} />
        </div>
      )}
    </>
  );
}

function Group({ group, ...props }: GroupsProps & { group: PreviewGroup }) {
  const [isOpen, setOpen] = useState(props.isNarrowed);
  const Heading = `h${props.level}` as const;
  return (
    <li class="card impact-group">
      <div class="impact-head">
        <Mark word={group.change} />
        <Heading>{count(group.nodeCount, 'node')}</Heading>
        <Sides group={group} />
      </div>
      <NewProblems group={group} />
      <Samples group={group} />
      <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>{summaryOf(group)}</summary>
        {isOpen && <GroupDetails group={group} {...props} />}
      </details>
    </li>
  );
}

type Side = PreviewGroup['before'];

function Sides({ group: { change, before, after } }: { group: PreviewGroup }) {
  if (change === 'Unchanged') return <p class="sides">{nameAfter(null, before)}</p>;
  return (
    <p class="sides">
      <span>{nameAfter(null, before)}</span>
      <span aria-hidden="true">→</span>
      <span class="visually-hidden">becomes</span>
      <span>{nameAfter(before, after)}</span>
    </p>
  );
}

function nameAfter(before: Side, after: Side): string {
  if (after === null) return 'nothing';
  return before?.configurationName === after.configurationName
    ? after.version
    : `${after.configurationName} ${after.version}`;
}

/** What was in order before and is not any more comes first. */
function NewProblems({ group: { newProblems } }: { group: PreviewGroup }) {
  if (newProblems.length === 0) return null;
  return (
    <div class="new-problems">
      <p>
        <Mark
          word={newProblems.length === 1 ? '1 new problem' : `${newProblems.length} new problems`}
          tone="bad"
        />
      </p>
      <ul class="faults">
        {newProblems.map(({ path, message, code }) => (
          <li key={`${path} ${code}`}>
            <code>{path}</code> {message} <span class="muted">{code}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Samples({ group: { sampleNodes, nodeCount } }: { group: PreviewGroup }) {
  const others = nodeCount - sampleNodes.length;
  return (
    <ul class="samples" aria-label="Nodes">
      {sampleNodes.map(({ nodeId, fqdn }) => (
        <li key={nodeId}>
          <a href={links.node(nodeId)}>{fqdn}</a>
        </li>
      ))}
      {others > 0 && (
        <li class="muted">
          and <Num value={others} /> more
        </li>
      )}
    </ul>
  );
}

/** For example `1 modified file, 2 renamed files, 3 parameter changes`. */
function summaryOf({ change, files, parameterChanges }: PreviewGroup): string {
  if (change === 'Unresolvable') return 'Why';
  const parts = (['added', 'removed', 'modified', 'renamed'] as const)
    .filter((kind) => files[kind] > 0)
    .map((kind) => count(files[kind], `${kind} file`));
  if (parameterChanges > 0) parts.push(count(parameterChanges, 'parameter change'));
  return parts.length === 0 ? 'No file and no parameter changes' : parts.join(', ');
}
