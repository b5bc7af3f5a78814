/** Assigns a configuration to a node: to the first one that has none yet, unless somebody chooses another. */

import { useState } from 'preact/hooks';
import { send } from '../../client.ts';
import { DeedDialog } from '../../components/dialog.tsx';
import { SelectField } from '../../components/field.tsx';
import { apiPath, links } from '../../links.ts';
import { useResource } from '../../resource.ts';
import type { Configuration, NodeSummary } from '../../types.ts';

interface Props {
  published: readonly Configuration[];
  onClose: () => void;
}

export function AssignFirst({ published, onClose }: Props) {
  const nodes = useResource<NodeSummary[]>('/nodes?take=100');
  const [node, setNode] = useState('');
  const [configuration, setConfiguration] = useState('');
  const all = nodes.data ?? [];
  const waits = ({ configurationName: assigned }: NodeSummary) => assigned === null;
  const chosen = all.find(({ id }) => id === node) ?? all.find(waits) ?? all[0];
  const configurationName = configuration || (published[0]?.name ?? '');
  const run = async () => {
    if (chosen === undefined) return null;
    const body = { configurationName, isComposite: false };
    await send('PUT', `${apiPath('nodes', chosen.id)}/configuration`, body);
    return `${configurationName} is assigned to ${chosen.fqdn}.`;
  };
  return (
    <DeedDialog
      heading="Assign a configuration"
      deed="Assign"
      run={run}
      onClose={onClose}
      isDisabled={chosen === undefined || configurationName === ''}
    >
      {(problem) => (
        <>
          <SelectField
            {...{ label: 'Node', name: 'node', problem }}
            value={chosen?.id ?? ''}
            onInput={setNode}
            choices={all.map(({ id, fqdn }) => ({ value: id, label: fqdn }))}
          />
          <SelectField
            {...{ label: 'Configuration', name: 'configurationName', problem }}
            value={configurationName}
            onInput={setConfiguration}
            choices={published.map(({ name }) => ({ value: name, label: name }))}
          />
          <p class="hint">
            The node follows the newest published version. Many nodes, one version for good and composites are
            chosen under <a href={links.nodes()}>Nodes</a>.
          </p>
        </>
      )}
    </DeedDialog>
  );
}
