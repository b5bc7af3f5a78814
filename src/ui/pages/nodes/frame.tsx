/** What all pages of one node share: its name, state, deeds and tabs. */

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { send } from '../../client.ts';
import { Mark, StatusMark } from '../../components/marks.tsx';
import { Page } from '../../components/page.tsx';
import { apiPath, links } from '../../links.ts';
import { forget, type Resource, useResource } from '../../resource.ts';
import { usePlace } from '../../router.ts';
import { can } from '../../session.ts';
import type { NodeDetails } from '../../types.ts';
import { NodesDialog } from './deed-dialogs.tsx';
import { type NodeTab, NodeTabs } from './tabs.tsx';
import type { Action } from './targets.ts';

export const useNode = (id: string): Resource<NodeDetails> => useResource(`/nodes${apiPath(id)}`);

interface FrameProps {
  /** From the address: an id, or the fqdn. */
  id: string;
  tab: NodeTab;
  node: Resource<NodeDetails>;
  /** What the tab needs besides the node. */
  of?: readonly Resource<unknown>[];
  isEmpty?: boolean;
  isBusy?: boolean;
  /** Buttons of the tab, before those of the node. */
  actions?: ComponentChildren;
  /** What stands below the tabs however the reading goes, such as filters. */
  tools?: ComponentChildren;
  /** Gets the node once all is there. */
  children: (node: NodeDetails) => ComponentChildren;
}

export function NodeFrame(props: FrameProps) {
  const { id, tab, node, of = [], isEmpty = false, isBusy = false, actions, tools, children } = props;
  const [dialog, setDialog] = useState<Action | null>(null);
  const { go } = usePlace();
  const { data } = node;
  const run = async (action: Action, members: Readonly<Record<string, unknown>>) => {
    if (data === null) return null;
    const done = await doToOne(data, action, members);
    if (action === 'Delete') {
      for (const name of [data.id, data.fqdn]) forget(`/nodes${apiPath(name)}`);
      go(links.nodes());
    }
    return done;
  };
  return (
    <Page
      heading={data?.fqdn ?? 'Node'}
      tab={tab === 'Overview' ? undefined : tab}
      of={[node, ...of]}
      isEmpty={isEmpty}
      isBusy={isBusy}
      crumbs={[{ href: links.nodes(), label: 'Nodes' }]}
      beside={data !== null && <States node={data} />}
      actions={
        data !== null && (
          <>
            {actions}
            <Deeds node={data} onChoose={setDialog} />
          </>
        )
      }
      tools={
        data !== null && (
          <>
            <NodeTabs id={id} current={tab} />
            {tools}
            {dialog !== null && (
              <NodesDialog
                action={dialog}
                node={data}
                targets={{ ids: [data.id], filter: {}, count: 1, names: [data.fqdn] }}
                run={run}
                onClose={() => setDialog(null)}
              />
            )}
          </>
        )
      }
    >
      {data !== null && children(data)}
    </Page>
  );
}

function States({ node: { status, isStale, parameterProblems } }: { node: NodeDetails }) {
  return (
    <span class="node-marks">
      <StatusMark status={status} />
      {isStale && <Mark word="Stale" tone="warn" />}
      {parameterProblems > 0 && (
        <Mark word="problems" tone="bad">
          {parameterProblems} parameter {parameterProblems === 1 ? 'problem' : 'problems'}
        </Mark>
      )}
    </span>
  );
}

function Deeds({ node, onChoose }: { node: NodeDetails; onChoose: (action: Action) => void }) {
  const button = (action: Action) => (
    <button key={action} type="button" onClick={() => onChoose(action)}>
      {action}
    </button>
  );
  return (
    <>
      {can('nodes.assign-configuration') && button('Assign')}
      {can('nodes.assign-configuration') && node.assignment !== null && button('Unassign')}
      {can('nodes.write') && button('Tag')}
      {can('nodes.delete') && button('Delete')}
    </>
  );
}

/** @returns what was done @throws ApiProblem */
async function doToOne(
  { id, fqdn }: NodeDetails,
  action: Action,
  members: Readonly<Record<string, unknown>>,
): Promise<string> {
  const path = `/nodes${apiPath(id)}`;
  if (action === 'Assign') {
    await send('PUT', `${path}/configuration`, members);
    return `${members['configurationName']} is assigned to ${fqdn}.`;
  }
  if (action === 'Unassign') {
    await send('DELETE', `${path}/configuration`);
    return `Nothing is assigned to ${fqdn} any more.`;
  }
  if (action === 'Tag') {
    await send('POST', `${path}/tags`, members);
    return `${fqdn} is tagged.`;
  }
  await send('DELETE', path);
  return `${fqdn} is deleted.`;
}
