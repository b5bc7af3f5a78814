/** What is done to the chosen nodes of the list, and what the server answered. */

import { useId, useState } from 'preact/hooks';
import { SimpleTable } from '../../components/table.tsx';
import { links } from '../../links.ts';
import type { List } from '../../list.ts';
import type { Selection } from '../../selection.ts';
import { can } from '../../session.ts';
import type { BulkResult, NodeSummary } from '../../types.ts';
import { NodesDialog } from './deed-dialogs.tsx';
import { type Action, countOf, doToNodes, sentenceOf, type Targets } from './targets.ts';

const DEEDS: readonly { action: Action; needs: string }[] = [
  { action: 'Assign', needs: 'nodes.assign-configuration' },
  { action: 'Unassign', needs: 'nodes.assign-configuration' },
  { action: 'Tag', needs: 'nodes.write' },
  { action: 'Untag', needs: 'nodes.write' },
  { action: 'Delete', needs: 'nodes.delete' },
];

/** The deeds that the user may do. Without any there is nothing to choose nodes for. */
export const allowedDeeds = () => DEEDS.filter(({ needs }) => can(needs));

export interface Outcome {
  action: Action;
  result: BulkResult;
}

/** So many names stand in a dialog. */
const NAMES = 3;

function targetsOf(list: List<NodeSummary>, { chosen, isAll, count }: Selection<NodeSummary>): Targets {
  return isAll
    ? { ids: null, filter: list.query, count, names: list.rows.slice(0, NAMES).map(({ fqdn }) => fqdn) }
    : { ids: [...chosen.keys()], filter: {}, count, names: [...chosen.values()].slice(0, NAMES) };
}

interface BarProps {
  list: List<NodeSummary>;
  selection: Selection<NodeSummary>;
  onDone: (outcome: Outcome) => void;
}

export function BulkBar({ list, selection, onDone }: BarProps) {
  const [open, setOpen] = useState<{ action: Action; targets: Targets } | null>(null);
  const id = useId();
  const { count, isAll } = selection;
  const run = async (action: Action, members: Readonly<Record<string, unknown>>, targets: Targets) => {
    const result = await doToNodes(targets, action, members);
    onDone({ action, result });
    selection.clear();
    return sentenceOf(action, result);
  };
  return (
    <div class="bar bulk">
      <p id={id} aria-live="polite" class="bulk-count">
        {isAll ? `All ${countOf(count)} are selected.` : `${countOf(count)} selected.`}
      </p>
      {!isAll && list.total > 0 && (
        <button type="button" class="small" onClick={() => selection.chooseAll()}>
          Select all {list.total}
        </button>
      )}
      {count > 0 && (
        <button type="button" class="small quiet" onClick={() => selection.clear()}>
          Clear selection
        </button>
      )}
      <span class="bulk-deeds">
        {allowedDeeds().map(({ action }) => (
          <button
            key={action}
            type="button"
            disabled={count === 0}
            aria-describedby={count === 0 ? id : undefined}
            onClick={() => setOpen({ action, targets: targetsOf(list, selection) })}
          >
            {action}
          </button>
        ))}
      </span>
      {open !== null && <NodesDialog {...open} run={run} onClose={() => setOpen(null)} />}
    </div>
  );
}

/** So many failures are shown at once. */
const BLOCK = 100;

/** The nodes to which the last deed was not done, and why. It stays until somebody dismisses it. */
export function Failures({ outcome, onDismiss }: { outcome: Outcome; onDismiss: () => void }) {
  const { action, result } = outcome;
  const [shown, setShown] = useState(BLOCK);
  return (
    <section class="card failures" aria-labelledby="failures">
      <div class="bar">
        <h2 id="failures">
          {action}: {countOf(result.failed.length)} failed
        </h2>
        <button type="button" class="small" onClick={onDismiss}>
          Dismiss
        </button>
      </div>
      <p>{sentenceOf(action, result)}</p>
      <SimpleTable
        name="Failed nodes"
        rows={result.failed.slice(0, shown)}
        keyOf={({ nodeId, fqdn }) => nodeId ?? fqdn ?? ''}
        total={result.failed.length}
        columns={[
          {
            label: 'Name',
            isName: true,
            cell: ({ nodeId, fqdn }) =>
              fqdn === null || nodeId === null ? (
                <code>{nodeId ?? fqdn}</code>
              ) : (
                <a href={links.node(nodeId)}>{fqdn}</a>
              ),
          },
          { label: 'Code', cell: ({ code }) => <code>{code}</code> },
          { label: 'Message', isLong: true, cell: ({ message }) => message },
        ]}
      />
      {shown < result.failed.length && (
        <p>
          <button type="button" onClick={() => setShown(shown + BLOCK)}>
            Show more
          </button>
        </p>
      )}
    </section>
  );
}
