/** What a chosen node would get if the text in the editor were published. */

import { useId, useState } from 'preact/hooks';
import { get } from '../../client.ts';
import { Field } from '../../components/field.tsx';
import { PreviewImpact } from '../../components/preview.tsx';
import { apiPath } from '../../links.ts';
import { usePlace } from '../../router.ts';
import { can } from '../../session.ts';
import type { NodeDetails } from '../../types.ts';
import type { FileName } from './file-data.ts';
import { useNodeProposals } from './node-proposals.ts';
import type { Draft } from './use-draft.ts';

export function MergePart({ named, draft }: { named: FileName; draft: Draft }) {
  const place = usePlace();
  const [typed, setTyped] = useState(place.query.get('node') ?? '');
  const nodes = useNodeProposals(typed);
  const listId = useId();
  if (!can('nodes.read') || draft.isPassthrough) return null;
  const wanted = typed.trim().toLowerCase();
  const find = async () => {
    // The path of a node takes its name too.
    const reply = await get<NodeDetails>(apiPath('nodes', wanted));
    return reply === null ? [] : [reply.data.id];
  };
  const change = {
    kind: 'SetParameters' as const,
    configurationName: named.name,
    scopeTypeName: named.scopeTypeName,
    scopeValue: named.scopeValue,
    version: draft.version,
    content: draft.text,
    contentType: draft.isJson ? 'application/json' : 'application/yaml',
  };
  const type = (value: string) => {
    setTyped(value);
    place.setQuery({ node: value.trim() }, false);
  };
  return (
    <section class="part">
      <h2>Preview merge</h2>
      <p class="muted">
        Shows all parameters that a node would get with the text above, saved or not, beside those that it
        gets now.
      </p>
      <div class="merge-node">
        <Field
          label="Node"
          name="node"
          hint="Its full name."
          value={typed}
          onInput={type}
          list={listId}
          autocomplete="off"
        />
        <datalist id={listId}>
          {nodes.map(({ id, fqdn }) => (
            <option key={id} value={fqdn} />
          ))}
        </datalist>
      </div>
      <PreviewImpact
        deed="Preview merge"
        paramName="merge"
        changes={[change]}
        nodeIds={{ names: wanted, find }}
        isDisabled={wanted === ''}
      />
    </section>
  );
}
