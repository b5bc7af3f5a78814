/** The parts of a node's page. */

import { Tabs } from '../../components/tabs.tsx';
import { links } from '../../links.ts';
import { can } from '../../session.ts';

const TABS = [
  { tab: '', label: 'Overview', needs: 'nodes.read' },
  { tab: 'parameters', label: 'Parameters', needs: 'nodes.read' },
  { tab: 'diff', label: 'Diff', needs: 'nodes.read' },
  { tab: 'reports', label: 'Reports', needs: 'reports.read' },
  { tab: 'history', label: 'History', needs: 'nodes.read' },
] as const;

export type NodeTab = (typeof TABS)[number]['label'];

export function NodeTabs({ id, current }: { id: string; current: NodeTab }) {
  const shown = TABS.filter(({ needs }) => can(needs));
  return (
    <Tabs
      label="Parts of this node"
      current={current}
      tabs={shown.map(({ tab, label }) => ({ href: links.node(id, tab), label }))}
    />
  );
}
