/** Table `Children`: which configurations a version consists of, in which order, and which versions of them nodes get. */

import type { ComponentChildren } from 'preact';
import { Empty } from '../../components/empty.tsx';
import { Mark } from '../../components/marks.tsx';
import { Num } from '../../components/num.tsx';
import { type Column, SimpleTable } from '../../components/table.tsx';
import { links } from '../../links.ts';
import type { CompositeItem, Configuration } from '../../types.ts';
import { typedOf } from './child-fields.tsx';

interface Props {
  /** In their order. */
  items: readonly CompositeItem[];
  /** What says which version a child follows now; null while it is not known. */
  configurations: readonly Configuration[] | null;
  /** Buttons for each child. */
  deeds?: (item: CompositeItem, at: number) => ComponentChildren;
  /** What stands there where there is no child. */
  none: ComponentChildren;
}

export function ChildrenTable({ items, configurations, deeds, none }: Props) {
  const followed = new Map(configurations?.map((each) => [each.name, each.latestPublishedVersion]));
  const columns: Column<CompositeItem>[] = [
    { label: 'Order', isNumber: true, cell: ({ order }) => <Num value={order} /> },
    { label: 'Configuration', isName: true, isLong: true, cell: (item) => <Child item={item} /> },
    {
      label: 'Version',
      isLong: true,
      cell: (item) => <ChildVersion item={item} followed={followed.get(item.childConfigurationName)} />,
    },
  ];
  if (deeds !== undefined)
    columns.push({ label: 'Actions', cell: (item) => deeds(item, items.indexOf(item)) });
  return (
    <SimpleTable
      name="Children"
      rows={items}
      keyOf={({ id }) => id}
      columns={columns}
      none={<Empty>{none}</Empty>}
    />
  );
}

/** One that stock git has named, and that does not exist, has no page. */
function Child({
  item: { childConfigurationName: name, childConfigurationId: id },
}: {
  item: CompositeItem;
}) {
  if (id !== null) return <a href={links.named('configurations', name)}>{name}</a>;
  return (
    <>
      {name} <Mark word="There is no such configuration" tone="bad" />
    </>
  );
}

interface VersionProps {
  item: CompositeItem;
  /** The highest published version of the child; null if there is none, undefined if it is not known. */
  followed: string | null | undefined;
}

function ChildVersion({ item, followed }: VersionProps) {
  const { childConfigurationName: name, activeVersion, majorVersion, pinnedToWithdrawn } = item;
  if (activeVersion !== null)
    return (
      <span class="bar">
        <a href={links.version('configurations', name, activeVersion)}>{activeVersion}</a>
        {pinnedToWithdrawn && <Mark word="Pinned to a withdrawn version" tone="warn" />}
      </span>
    );
  // What a list of configurations says is the highest of all majors.
  if (majorVersion !== null) return <>follows {typedOf(item)}</>;
  if (followed === undefined) return <>follows</>;
  if (followed === null)
    return (
      <span class="bar">
        follows <Mark word="Nothing is published yet" tone="warn" />
      </span>
    );
  return (
    <>
      follows, <a href={links.version('configurations', name, followed)}>{followed}</a> is the highest
      published
      {/^\d+\.\d+\.\d+-/.test(followed) && <span class="muted">, for nodes that take its prereleases</span>}
    </>
  );
}
