/** The children of a draft with their deeds: moving, another version, removing. One deed is done at a time. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { send } from '../../client.ts';
import { type Run, useDeed } from '../../components/dialog.tsx';
import { Problem } from '../../components/problem.tsx';
import { apiOf, apiPath } from '../../links.ts';
import { refresh } from '../../resource.ts';
import type { CompositeItem, CompositeVersion, Configuration } from '../../types.ts';
import { ChildrenTable } from './children-table.tsx';
import { ordersAfterExchange } from './order.ts';
import { PinDialog } from './pin-dialog.tsx';
import { KIND } from './shared.tsx';

interface Props {
  name: string;
  draft: CompositeVersion;
  /** That of the draft, so that nobody moves what somebody else has moved meanwhile. */
  etag: string | null;
  configurations: readonly Configuration[] | null;
}

export function EditedChildren({ name, draft, etag, configurations }: Props) {
  const { items } = draft;
  const path = apiOf(KIND, name, 'versions', draft.version, 'children');
  const [pinned, setPinned] = useState<CompositeItem | null>(null);
  const { element, focus } = useFocus();
  const { isBusy, problem, start } = useRuns();
  const move = async (item: CompositeItem, at: number, step: 1 | -1) => {
    const neighbour = items[at + step];
    if (neighbour === undefined) return;
    await start(async () => {
      let ifMatch = etag;
      for (const { id, order } of ordersAfterExchange(items, Math.min(at, at + step))) {
        await send('PUT', path + apiPath(id), { order }, { ifMatch });
        // The first change makes another state of the draft.
        ifMatch = null;
      }
      const [child, other] = [item, neighbour].map((each) => each.childConfigurationName);
      return `${child} stands ${step < 0 ? 'above' : 'below'} ${other} now.`;
    });
    focus(step < 0 ? [`up ${item.id}`, `down ${item.id}`] : [`down ${item.id}`, `up ${item.id}`]);
  };
  const remove = async (item: CompositeItem, at: number) => {
    await start(async () => {
      await send('DELETE', path + apiPath(item.id), undefined, { ifMatch: etag });
      return `${item.childConfigurationName} is removed.`;
    });
    focus([item, items[at + 1], items[at - 1]].map((next) => `remove ${next?.id}`));
  };
  return (
    <div ref={element} class="part">
      {problem !== null && <Problem problem={problem} />}
      <ChildrenTable
        items={items}
        configurations={configurations}
        none={<p>This version has no children yet. Add the configurations that nodes shall get together.</p>}
        deeds={(item, at) => (
          <Deeds
            item={item}
            isBusy={isBusy}
            isFirst={at === 0}
            isLast={at === items.length - 1}
            onMove={(step) => void move(item, at, step)}
            onPin={() => setPinned(item)}
            onRemove={() => void remove(item, at)}
          />
        )}
      />
      {pinned !== null && (
        <PinDialog
          item={pinned}
          path={path + apiPath(pinned.id)}
          isReadable={configurations?.some((each) => each.name === pinned.childConfigurationName) ?? false}
          etag={etag}
          onClose={() => setPinned(null)}
        />
      )}
    </div>
  );
}

/** Deeds that differ from click to click, with one refusal for all. All is read anew before the next one. */
function useRuns() {
  const next = useRef<Run>(async () => null);
  const { isBusy, problem, start } = useDeed(async () => {
    try {
      return await next.current();
    } finally {
      await refresh();
    }
  }, false);
  return {
    isBusy,
    problem,
    start: (run: Run) => {
      next.current = run;
      return start();
    },
  };
}

/** Puts the focus on the first of these buttons that can be pressed, after what was done is shown. */
function useFocus() {
  const element = useRef<HTMLDivElement>(null);
  const [wanted, focus] = useState<readonly string[]>([]);
  useEffect(() => {
    const find = (key: string) =>
      element.current?.querySelector<HTMLElement>(`[data-key="${key}"]:not(:disabled)`);
    wanted
      .map(find)
      .find((button) => button !== null)
      ?.focus();
  }, [wanted]);
  return { element, focus };
}

interface DeedsProps {
  item: CompositeItem;
  isBusy: boolean;
  isFirst: boolean;
  isLast: boolean;
  onMove: (step: 1 | -1) => void;
  onPin: () => void;
  onRemove: () => void;
}

function Deeds({ item, isBusy, isFirst, isLast, onMove, onPin, onRemove }: DeedsProps) {
  const deeds = [
    { key: 'up', deed: 'Move up', isOff: isFirst, run: () => onMove(-1) },
    { key: 'down', deed: 'Move down', isOff: isLast, run: () => onMove(1) },
    { key: 'pin', deed: 'Change version', isOff: false, run: onPin },
    { key: 'remove', deed: 'Remove', isOff: false, run: onRemove },
  ];
  return (
    <span class="child-deeds">
      {deeds.map(({ key, deed, isOff, run }) => (
        <button
          key={key}
          type="button"
          class="small"
          data-key={`${key} ${item.id}`}
          disabled={isOff || isBusy}
          onClick={run}
        >
          {deed}
          <span class="visually-hidden"> {item.childConfigurationName}</span>
        </button>
      ))}
    </span>
  );
}
