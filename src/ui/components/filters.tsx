/** The filters of a list. They stand in the URL by the names of the API's query; each change is a step of the way back. */

import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { List } from '../list.ts';
import type { Choice } from './field.tsx';

export interface FilterField {
  /** The member of the API's query. */
  name: string;
  /** The label of the column. */
  label: string;
  /** Text by default; a flag sends `true`; a time sends RFC 3339. */
  kind?: 'text' | 'flag' | 'time';
  /** One of these, or any. */
  choices?: readonly (string | Choice)[];
}

/** A text takes effect when nobody has typed for so many milliseconds. */
const TYPING_PAUSE = 400;

export function Filters<T>({ list, fields }: { list: List<T>; fields: readonly FilterField[] }) {
  const isSet = fields.some(({ name }) => list.query[name] !== undefined);
  return (
    // biome-ignore lint/a11y/useSemanticElements: the contract asks for a form with this role.
    <form role="search" class="filters" onSubmit={(event) => event.preventDefault()}>
      {fields.map((field) => (
        <FilterInput key={field.name} field={field} list={list} />
      ))}
      {isSet && (
        <button
          type="button"
          class="quiet"
          onClick={() => list.setFilters(Object.fromEntries(fields.map(({ name }) => [name, null])))}
        >
          Clear filters
        </button>
      )}
    </form>
  );
}

function FilterInput<T>({ field, list }: { field: FilterField; list: List<T> }) {
  const { name, label, kind = 'text', choices } = field;
  const id = useId();
  const value = list.query[name] ?? '';
  if (choices !== undefined)
    return (
      <div class="filter">
        <label for={id}>{label}</label>
        <select
          id={id}
          name={name}
          value={value}
          onChange={(event) => list.setFilters({ [name]: event.currentTarget.value })}
        >
          <option value="">any</option>
          {choices.map((choice) => {
            const option = typeof choice === 'string' ? { value: choice, label: choice } : choice;
            return (
              <option key={option.value} value={option.value}>
                {option.label}
              </option>
            );
          })}
        </select>
      </div>
    );
  if (kind === 'flag')
    return (
      <div class="filter flag">
        <input
          type="checkbox"
          id={id}
          name={name}
          checked={value === 'true'}
          onChange={(event) => list.setFilters({ [name]: event.currentTarget.checked ? 'true' : null })}
        />
        <label for={id}>{label}</label>
      </div>
    );
  const change = (text: string) => list.setFilters({ [name]: text });
  return kind === 'time' ? (
    <TimeFilter id={id} label={label} name={name} value={value} onChange={change} />
  ) : (
    <TextFilter id={id} label={label} name={name} value={value} onChange={change} />
  );
}

interface InputProps {
  id: string;
  label: string;
  name: string;
  value: string;
  onChange: (text: string) => void;
}

function TextFilter({ id, label, name, value, onChange }: InputProps) {
  const [typed, setTyped] = useState(value);
  const timer = useRef<number>(undefined);
  // The way back, or a link, changes the filter without typing.
  useEffect(() => setTyped(value), [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const apply = (text: string) => {
    clearTimeout(timer.current);
    if (text.trim() !== value) onChange(text.trim());
  };
  const type = (text: string) => {
    setTyped(text);
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => apply(text), TYPING_PAUSE);
  };
  return (
    <div class="filter">
      <label for={id}>{label}</label>
      <input
        id={id}
        name={name}
        type="text"
        autocomplete="off"
        spellcheck={false}
        value={typed}
        onInput={(event) => type(event.currentTarget.value)}
        onChange={(event) => apply(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') apply(event.currentTarget.value);
        }}
      />
    </div>
  );
}

/** The field holds the browser's local time, the URL an instant. */
function TimeFilter({ id, label, name, value, onChange }: InputProps) {
  return (
    <div class="filter">
      <label for={id}>{label}</label>
      <input
        id={id}
        name={name}
        type="datetime-local"
        value={localTime(value)}
        onChange={(event) => {
          const { value: local } = event.currentTarget;
          onChange(local === '' ? '' : new Date(local).toISOString());
        }}
      />
    </div>
  );
}

function localTime(instant: string): string {
  const time = Date.parse(instant);
  if (Number.isNaN(time)) return '';
  return new Date(time - new Date(time).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
