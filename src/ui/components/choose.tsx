/** Several of a list, by checkboxes, with a filter where the list is long. */

import { useId, useState } from 'preact/hooks';
import { Num } from './num.tsx';

export interface Choosable {
  value: string;
  label: string;
  hint?: string | null;
  /** Those of one group stand together below its name. */
  group?: string;
  /** Why it cannot be chosen, or taken away. */
  reason?: string | null;
}

interface ChooseProps {
  legend: string;
  /** A heading above says the same already. */
  isLegendHidden?: boolean;
  items: readonly Choosable[];
  chosen: ReadonlySet<string>;
  onChange: (chosen: ReadonlySet<string>) => void;
  hint?: string;
  /** What stands there where there is nothing to choose from. */
  none?: string;
}

/** A shorter list is seen at a glance. */
const FILTER_FROM = 9;

export function Choose(props: ChooseProps) {
  const { legend, isLegendHidden = false, items, chosen, onChange, hint, none } = props;
  const id = useId();
  const [filter, setFilter] = useState('');
  const wanted = filter.trim().toLowerCase();
  const shown = items.filter(({ label, hint: text }) =>
    `${label} ${text ?? ''}`.toLowerCase().includes(wanted),
  );
  const toggle = (value: string) => {
    const next = new Set(chosen);
    if (!next.delete(value)) next.add(value);
    onChange(next);
  };
  return (
    <fieldset class="choose-several" aria-describedby={hint === undefined ? undefined : `${id}-hint`}>
      <legend class={isLegendHidden ? 'visually-hidden' : ''}>{legend}</legend>
      {hint !== undefined && (
        <p id={`${id}-hint`} class="hint">
          {hint}
        </p>
      )}
      {items.length >= FILTER_FROM && (
        <ItemFilter label={`Filter ${legend.toLowerCase()}`} value={filter} onInput={setFilter} />
      )}
      {items.length === 0 && none !== undefined && <p class="muted">{none}</p>}
      <div class="choose-groups">
        {groupsOf(shown).map(([group, members]) => (
          <Group key={group} name={group} items={members} chosen={chosen} onToggle={toggle} />
        ))}
      </div>
      {items.length > 0 && shown.length === 0 && <p class="muted">Nothing has this in its name.</p>}
      {items.length > 0 && (
        <p class="hint">
          <Num value={items.filter(({ value }) => chosen.has(value)).length} /> of{' '}
          <Num value={items.length} /> chosen
        </p>
      )}
    </fieldset>
  );
}

function groupsOf(items: readonly Choosable[]): [string, Choosable[]][] {
  const groups = new Map<string, Choosable[]>();
  for (const item of items) {
    const group = item.group ?? '';
    groups.set(group, [...(groups.get(group) ?? []), item]);
  }
  return [...groups];
}

function ItemFilter({
  label,
  value,
  onInput,
}: {
  label: string;
  value: string;
  onInput: (text: string) => void;
}) {
  return (
    <input
      type="text"
      aria-label={label}
      placeholder={label}
      autocomplete="off"
      spellcheck={false}
      value={value}
      onInput={(event) => onInput(event.currentTarget.value)}
      onKeyDown={(event) => {
        // It would send the form around it.
        if (event.key === 'Enter') event.preventDefault();
      }}
    />
  );
}

interface GroupProps {
  name: string;
  items: readonly Choosable[];
  chosen: ReadonlySet<string>;
  onToggle: (value: string) => void;
}

function Group({ name, items, chosen, onToggle }: GroupProps) {
  const boxes = items.map((item) => (
    <Item
      key={item.value}
      item={item}
      isChosen={chosen.has(item.value)}
      onToggle={() => onToggle(item.value)}
    />
  ));
  if (name === '') return <div class="choose-group">{boxes}</div>;
  return (
    <fieldset class="choose-group">
      <legend>{name}</legend>
      {boxes}
    </fieldset>
  );
}

function Item({ item, isChosen, onToggle }: { item: Choosable; isChosen: boolean; onToggle: () => void }) {
  const id = useId();
  const { label, reason = null } = item;
  const text = [item.hint, reason].filter(Boolean).join('. ');
  return (
    <div class="check">
      <input
        type="checkbox"
        id={id}
        checked={isChosen}
        disabled={reason !== null}
        aria-describedby={text === '' ? undefined : `${id}-hint`}
        onChange={onToggle}
      />
      <label for={id}>{label}</label>
      {text !== '' && (
        <p id={`${id}-hint`} class="hint">
          {text}
        </p>
      )}
    </div>
  );
}
