/** Assigns a configuration to a node that has none yet. */

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
  const nodes = useResource<NodeSummary[]>('/nodes?unassigned=true&take=100');
  const [node, setNode] = useState('');
  const [configuration, setConfiguration] = useState('');
  const chosen = nodes.data?.find(({ id }) => id === node) ?? nodes.data?.[0];
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
            choices={(nodes.data ?? []).map(({ id, fqdn }) => ({ value: id, label: fqdn }))}
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
