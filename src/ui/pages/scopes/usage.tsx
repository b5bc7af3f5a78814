/** Where a scope value is used: the nodes that are tagged with it, and the parameter files that are for it. */

import { useEffect, useState } from 'preact/hooks';
import { ApiProblem, get } from '../../client.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Num } from '../../components/num.tsx';
import { Problem } from '../../components/problem.tsx';
import { Progress } from '../../components/progress.tsx';
import { type Column, SimpleTable } from '../../components/table.tsx';
import { apiPath, links, withQuery } from '../../links.ts';
import { useResource } from '../../resource.ts';
import { can } from '../../session.ts';
import type { Configuration, NodeSummary, ParameterFile, ScopeType, ScopeValue } from '../../types.ts';

/** How many nodes are tagged with the value, as a link to them. */
export function NodesOfValue({ valueId }: { valueId: string }) {
  const nodes = useResource<NodeSummary[]>(withQuery('/nodes', { scopeValueId: valueId, take: 1 }), {
    poll: false,
  });
  if (nodes.total === null) return <span class="muted">{nodes.state === 'loading' ? '…' : 'unknown'}</span>;
  return (
    <a href={links.nodes({ scopeValueId: valueId })} aria-label={`${nodes.total} nodes`}>
      <Num value={nodes.total} />
    </a>
  );
}

interface UsageProps {
  type: ScopeType;
  value: ScopeValue;
  onClose: () => void;
}

interface Found {
  done: number;
  of: number | null;
  uses: { name: string; files: number }[];
  problem: ApiProblem | null;
}

const NOTHING: Found = { done: 0, of: null, uses: [], problem: null };

export function UsageDialog({ type, value, onClose }: UsageProps) {
  const [found, setFound] = useState<Found>(NOTHING);
  useEffect(() => {
    const over = new AbortController();
    lookThrough(type, value, over.signal, setFound).catch((error: unknown) => {
      if (over.signal.aborted) return;
      if (!(error instanceof ApiProblem)) throw error;
      setFound((before) => ({ ...before, problem: error }));
    });
    return () => over.abort();
  }, []);
  const { done, of, uses, problem } = found;
  return (
    <Dialog heading={`Usage of ${type.name}/${value.value}`} onClose={onClose}>
      <div class="part">
        {can('nodes.read') && (
          <p>
            Nodes that are tagged with it: <NodesOfValue valueId={value.id} />
          </p>
        )}
        {problem !== null && <Problem problem={problem} />}
        {problem === null && done !== of && (
          <Progress label="Configurations looked at" value={done} max={of} />
        )}
        {(uses.length > 0 || done === of) && <Uses {...{ type, value, uses }} />}
        <div class="dialog-foot">
          <button type="button" onClick={onClose}>
            Close
          </button>
        </div>
      </div>
    </Dialog>
  );
}

interface UsesProps {
  type: ScopeType;
  value: ScopeValue;
  uses: Found['uses'];
}

function Uses({ type, value, uses }: UsesProps) {
  const query = { scopeTypeName: type.name, scopeValue: value.value };
  const columns: Column<Found['uses'][number]>[] = [
    {
      label: 'Configuration',
      isName: true,
      cell: ({ name }) => <a href={withQuery(links.parameters(name), query)}>{name}</a>,
    },
    { label: 'Parameter files', isNumber: true, cell: ({ files }) => <Num value={files} /> },
  ];
  return (
    <SimpleTable
      name="Usage"
      rows={uses}
      columns={columns}
      keyOf={({ name }) => name}
      none={<p class="muted">No configuration that you may see has a parameter file for it.</p>}
    />
  );
}

/** The most that one answer of the API has. */
const MOST = 1_000;
/** How many configurations are asked at once. */
const AT_ONCE = 4;

/** Asks each configuration whose parameters the user may see. The API has no list of all of them together. */
async function lookThrough(
  type: ScopeType,
  value: ScopeValue,
  signal: AbortSignal,
  show: (change: (before: Found) => Found) => void,
): Promise<void> {
  const names: string[] = [];
  for (let seen = 0, total = 1; seen < total; ) {
    const reply = await get<Configuration[]>(
      withQuery('/configurations', { take: MOST, skip: seen || null }),
      {
        signal,
      },
    );
    if (reply === null || reply.data.length === 0) break;
    seen += reply.data.length;
    total = reply.total ?? seen;
    names.push(...reply.data.filter((each) => each.parametersAccess !== null).map(({ name }) => name));
  }
  show((before) => ({ ...before, of: names.length }));
  const query = { scopeTypeName: type.name, scopeValue: value.value, take: 1 };
  const left = [...names];
  const work = async () => {
    for (let name = left.shift(); name !== undefined; name = left.shift()) {
      const path = withQuery(`${apiPath('configurations', name)}/parameter-files`, query);
      const files = (await get<ParameterFile[]>(path, { signal }))?.total ?? 0;
      const use = files > 0 ? [{ name, files }] : [];
      show((before) => ({
        ...before,
        done: before.done + 1,
        uses: [...before.uses, ...use].sort((a, b) => (a.name < b.name ? -1 : 1)),
      }));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}
