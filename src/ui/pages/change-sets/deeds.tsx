/** The deeds of a change set in their order, and what is collected into it. */

import { collectInto, putSet, useBasket } from '../../basket.ts';
import { DeedButton } from '../../components/dialog.tsx';
import { type Column, SimpleTable } from '../../components/table.tsx';
import type { ChangeSet } from '../../types.ts';
import { isOpen } from './rules.ts';
import { DeedWords, type Names, NodesOf, type ShownDeed } from './words.tsx';

interface Props {
  set: ChangeSet;
  etag: string | null;
  names: Names;
  mayEdit: boolean;
  /** Called with the digest that the person has made. */
  onKnown: (digest: string) => void;
}

interface Row {
  /** The number of the deed in the set, which counts from 1. */
  place: number;
  deed: ShownDeed;
}

export function DeedsPart({ set, etag, names, mayEdit, onKnown }: Props) {
  const { deeds, hiddenDeeds, state } = set;
  const rows = deeds.map((deed, at): Row => ({ place: at + 1, deed }));
  const remove = async ({ place }: Row) => {
    onKnown(await putSet(set, { deeds: deeds.filter((_, at) => at !== place - 1) }, etag));
    // The button is gone with its row, and with it the place of the keyboard.
    document.getElementById('main')?.focus();
    return `Deed ${place} was removed.`;
  };
  const removing: Column<Row> = {
    label: 'Actions',
    cell: (row) => (
      <DeedButton deed="Remove" class="small" about={`deed ${row.place}`} run={() => remove(row)} />
    ),
  };
  // A set without any deed is none: it can be discarded.
  const isRemovable = isOpen(set) && mayEdit && deeds.length > 1;
  return (
    <section class="part">
      <h2>Deeds</h2>
      <SimpleTable
        name="Deeds"
        rows={rows}
        keyOf={({ place }) => String(place)}
        columns={[
          { label: 'Place', isNumber: true, cell: ({ place }) => place },
          {
            label: 'Deed',
            isName: true,
            isLong: true,
            cell: ({ deed }) => <DeedWords {...{ deed, names }} isApplied={state === 'Applied'} />,
          },
          { label: 'Nodes', cell: ({ deed: { nodeIds } }) => nodeIds && <NodesOf ids={nodeIds} /> },
          ...(isRemovable ? [removing] : []),
        ]}
      />
      {hiddenDeeds > 0 && (
        <p>
          {hiddenDeeds} more {hiddenDeeds === 1 ? 'deed is' : 'deeds are'} about things that you may not see.
        </p>
      )}
    </section>
  );
}

/** Says that what the pages offer is added to this set, or no longer. */
export function CollectButton({ id }: { id: number }) {
  const isChosen = useBasket().id === id;
  return (
    <button type="button" onClick={() => collectInto(isChosen ? null : id)}>
      {isChosen ? 'Add nothing more' : 'Add to this one'}
    </button>
  );
}
