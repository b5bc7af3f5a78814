/** Search for anything by its name, from everywhere: nodes, configurations, people, and the pages of the console. */

import { signal } from '@preact/signals';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { ApiProblem, get } from '../client.ts';
import { links, withQuery } from '../links.ts';
import { usePlace } from '../router.ts';
import { can } from '../session.ts';
import type { SearchHit } from '../types.ts';
import { Dialog } from './dialog.tsx';
import { shownEntries } from './navigation-entries.ts';
import { Problem } from './problem.tsx';

const isOpen = signal(false);

export function openPalette(): void {
  isOpen.value = true;
}

/** localStorage: `off` where somebody does not want keys without Ctrl to do anything (WCAG 2.1.4). */
export const SINGLE_KEYS = 'hawser.keys';
/** In milliseconds. */
const TYPING_PAUSE = 120;
/** The API finds nothing by fewer characters. */
const FEWEST = 2;

export function Palette() {
  useEffect(() => {
    addEventListener('keydown', openByKey);
    return () => removeEventListener('keydown', openByKey);
  }, []);
  return isOpen.value ? <OpenPalette /> : null;
}

function openByKey(event: KeyboardEvent): void {
  const isCombination = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k';
  const isSlash = event.key === '/' && !event.ctrlKey && !event.metaKey && !event.altKey;
  if (!isCombination && !(isSlash && mayActAlone(event))) return;
  // The first of them would go to the address bar of some browsers.
  event.preventDefault();
  if (document.querySelector('dialog[open]') === null) openPalette();
}

/** A single key acts only where it is not text. The editor is in a shadow root, so the path is asked. */
function mayActAlone(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  const isText =
    target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'));
  return !isText && localStorage.getItem(SINGLE_KEYS) !== 'off';
}

interface Option {
  key: string;
  label: string;
  kind: string;
  detail: string | null;
  href: string;
}

function OpenPalette() {
  const { go } = usePlace();
  const [typed, setTyped] = useState('');
  const [chosen, setChosen] = useState(0);
  const { hits, problem } = useHits(typed);
  const id = useId();
  const options = [...setNamed(typed), ...pagesLike(typed), ...hits.map(optionOf)];
  const current = options[Math.min(chosen, options.length - 1)];
  const close = () => (isOpen.value = false);
  const open = (option: Option | undefined) => {
    if (option === undefined) return;
    close();
    go(option.href);
  };
  const move = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && options.length > 0) {
      event.preventDefault();
      setChosen((before) => (Math.min(before, options.length - 1) + step + options.length) % options.length);
    } else if (event.key === 'Enter') {
      event.preventDefault();
      open(current);
    }
  };
  return (
    <Dialog heading="Go to" onClose={close}>
      <div class="palette">
        <input
          role="combobox"
          aria-label="Search"
          aria-expanded={options.length > 0}
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={current === undefined ? undefined : `${id}-${current.key}`}
          autocomplete="off"
          spellcheck={false}
          maxLength={100}
          value={typed}
          onInput={(event) => {
            setTyped(event.currentTarget.value);
            setChosen(0);
          }}
          onKeyDown={move}
        />
        {problem !== null && <Problem problem={problem} />}
        <div role="listbox" id={`${id}-list`} aria-label="Results" class="results">
          {options.map((option) => (
            <Result
              key={option.key}
              id={`${id}-${option.key}`}
              option={option}
              isChosen={option === current}
              onOpen={open}
            />
          ))}
        </div>
        <p class="hint" role="status">
          {hintFor(typed, options.length)}
        </p>
      </div>
    </Dialog>
  );
}

function hintFor(typed: string, count: number): string {
  if (typed.trim().length < FEWEST) return 'Type two characters or more of a name.';
  if (count === 0) return 'Nothing has such a name.';
  return `${count} found. The arrow keys choose, Enter opens.`;
}

interface ResultProps {
  id: string;
  option: Option;
  isChosen: boolean;
  onOpen: (option: Option) => void;
}

function Result({ id, option, isChosen, onOpen }: ResultProps) {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isChosen) element.current?.scrollIntoView({ block: 'nearest' });
  }, [isChosen]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the combobox, which keeps the focus.
    <div
      ref={element}
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={isChosen}
      class="result"
      onClick={() => onOpen(option)}
    >
      <span class="result-name">{option.label}</span>
      <span class="muted">
        {option.kind}
        {option.detail !== null && ` · ${option.detail}`}
      </span>
    </div>
  );
}

/** What the API finds for the text, a moment after the last key. */
function useHits(typed: string): { hits: readonly SearchHit[]; problem: ApiProblem | null } {
  const [found, setFound] = useState<{ hits: readonly SearchHit[]; problem: ApiProblem | null }>({
    hits: [],
    problem: null,
  });
  const text = typed.trim();
  useEffect(() => {
    if ([...text].length < FEWEST) {
      setFound({ hits: [], problem: null });
      return undefined;
    }
    const asking = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const reply = await get<SearchHit[]>(withQuery('/search', { q: text }), { signal: asking.signal });
        setFound({ hits: reply?.data ?? [], problem: null });
      } catch (error) {
        if (error instanceof ApiProblem) setFound({ hits: [], problem: error });
        else if (!asking.signal.aborted) throw error;
      }
    }, TYPING_PAUSE);
    return () => {
      clearTimeout(timer);
      asking.abort();
    };
  }, [text]);
  return found;
}

/** A change set as people and events name it, such as `change 42`, `#42` or `change-sets/42`. */
const SET_NAME = /^(?:#|change(?:[ -]sets?)?[ /]?)(\d{1,15})$/i;

function setNamed(typed: string): Option[] {
  const id = Number(SET_NAME.exec(typed.trim())?.[1]);
  if (!(id > 0)) return [];
  return [
    { key: `set-${id}`, label: `Change ${id}`, kind: 'Change set', detail: null, href: links.changeSet(id) },
  ];
}

function pagesLike(typed: string): Option[] {
  const text = typed.trim().toLowerCase();
  if (text === '') return [];
  return shownEntries()
    .filter(({ label }) => label.toLowerCase().includes(text))
    .map(({ label, href }) => ({
      key: `page-${label.replaceAll(' ', '-')}`,
      label,
      kind: 'Page',
      detail: null,
      href,
    }));
}

function optionOf({ kind, id, name, detail }: SearchHit): Option {
  return { key: `${kind}-${id}`, label: name, kind, detail, href: addressOf(kind, id, name) };
}

function addressOf(kind: SearchHit['kind'], id: string, name: string): string {
  switch (kind) {
    case 'Node':
      return links.node(id);
    case 'Configuration':
      return links.named('configurations', name);
    case 'Composite':
      return links.named('composites', name);
    case 'User':
      return links.user(id);
    case 'Group':
      return links.group(id);
    default:
      return can('nodes.read') ? links.nodes({ scopeValueId: id }) : '/ui/scopes';
  }
}
