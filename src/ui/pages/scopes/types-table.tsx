/** The table of scope types, with buttons that move them. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { send } from '../../client.ts';
import { useDeed } from '../../components/dialog.tsx';
import { Mark } from '../../components/marks.tsx';
import { Num } from '../../components/num.tsx';
import { Problem } from '../../components/problem.tsx';
import { type Column, SimpleTable } from '../../components/table.tsx';
import { withQuery } from '../../links.ts';
import { can } from '../../session.ts';
import type { ScopeType } from '../../types.ts';
import { TypeDeeds } from './type-deeds.tsx';

interface TypesProps {
  /** By precedence, the weakest first. */
  types: readonly ScopeType[];
  /** The id of the one whose values are shown. */
  shown: string | undefined;
  total: number;
}

export function TypesTable({ types, shown, total }: TypesProps) {
  const [move, setMove] = useState<Move | null>(null);
  const { isBusy, problem, start } = useOrder(types, move);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (move !== null) void start().then((isDone) => !isDone && setMove(null));
  }, [move]);
  // A row that moves takes the button out of the document for a moment, and with it the focus.
  useEffect(() => {
    if (move === null) return;
    focusButton(box.current, move);
    setMove(null);
  }, [types.map(({ id }) => id).join(' ')]);
  const columns: Column<ScopeType>[] = [
    {
      label: 'Name',
      isName: true,
      cell: ({ id, name }) => (
        <a
          href={withQuery('/ui/scopes', { scopeTypeId: id })}
          aria-current={id === shown ? 'true' : undefined}
        >
          {name}
        </a>
      ),
    },
    { label: 'Precedence', isNumber: true, cell: ({ precedence }) => <Num value={precedence} /> },
    { label: 'Description', isLong: true, cell: ({ description }) => description ?? '' },
    { label: 'Values', cell: (type) => <Values type={type} /> },
    ...(can('scopes.admin-override')
      ? [
          {
            label: 'Order',
            cell: (type: ScopeType) => <Order {...{ type, types, isBusy, onMove: setMove }} />,
          },
          { label: 'Deeds', cell: (type: ScopeType) => <TypeDeeds type={type} /> },
        ]
      : []),
  ];
  return (
    <div class="part" ref={box}>
      <SimpleTable name="Scope types" rows={types} columns={columns} keyOf={({ id }) => id} total={total} />
      {problem !== null && <Problem problem={problem} />}
    </div>
  );
}

interface Move {
  id: string;
  by: 1 | -1;
}

/** Sends the order that a move makes. */
function useOrder(types: readonly ScopeType[], move: Move | null) {
  return useDeed(async () => {
    const ids = types.map(({ id }) => id);
    const from = ids.indexOf(move?.id ?? '');
    if (move === null || from < 0) return null;
    const [moved = ''] = ids.splice(from, 1);
    ids.splice(from + move.by, 0, moved);
    await send('PUT', '/scope-types/reorder', { scopeTypeIds: ids });
    const name = types[from]?.name ?? '';
    return `${name} has precedence ${from + move.by} now.`;
  });
}

const LABELS = new Map([
  [-1, 'Move up'],
  [1, 'Move down'],
]);

/** The button that was pressed; where the row cannot move on, the one for the other direction. */
function focusButton(box: HTMLElement | null, { id, by }: Move): void {
  const buttons = [...(box?.querySelectorAll<HTMLButtonElement>(`[data-move^="${id} "]`) ?? [])];
  const pressed = buttons.find((button) => button.dataset['move'] === `${id} ${by}`);
  const usable = pressed?.getAttribute('aria-disabled') === 'true' ? undefined : pressed;
  (usable ?? buttons.find((button) => button !== pressed))?.focus();
}

interface OrderProps {
  type: ScopeType;
  types: readonly ScopeType[];
  isBusy: boolean;
  onMove: (move: Move) => void;
}

/** Default stays first and Node last. */
function Order({ type, types, isBusy, onMove }: OrderProps) {
  const { id, isSystem, name } = type;
  if (isSystem) return <span class="muted">{name === 'Node' ? 'always last' : 'always first'}</span>;
  const at = types.indexOf(type);
  return (
    <span class="row-deeds">
      {([-1, 1] as const).map((by) => {
        const isEnd = types[at + by]?.isSystem !== false;
        return (
          <button
            key={by}
            type="button"
            class="small"
            data-move={`${id} ${by}`}
            disabled={isEnd}
            aria-disabled={isEnd}
            aria-describedby={`type-${id}`}
            onClick={() => !isBusy && onMove({ id, by })}
          >
            {LABELS.get(by)}
          </button>
        );
      })}
      <span id={`type-${id}`} hidden>
        {name}
      </span>
    </span>
  );
}

function Values({ type: { name, isSystem, isEnabled, valueMode } }: { type: ScopeType }) {
  if (!isEnabled) return <Mark word="Switched off" tone="warn" />;
  if (isSystem) return <>{name === 'Node' ? 'the names of nodes' : 'none, it holds for all nodes'}</>;
  return <>{valueMode === 'Restricted' ? 'Restricted to those defined' : 'Unrestricted'}</>;
}
