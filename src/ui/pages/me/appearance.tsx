/** How the console looks and listens to keys, in this browser. */

import { useId, useState } from 'preact/hooks';
import { CheckField } from '../../components/field.tsx';
import { SINGLE_KEYS } from '../../components/palette.tsx';
import { keep, readKept } from '../../kept.ts';

/** Read by theme-choice.ts, which sets the theme before anything is painted. */
const THEME = 'hawser.theme';

const THEMES = ['System', 'Light', 'Dark'] as const;
type Theme = (typeof THEMES)[number];

function shownTheme(): Theme {
  const chosen = document.documentElement.dataset['theme'];
  return THEMES.find((theme) => theme.toLowerCase() === chosen) ?? 'System';
}

function choose(theme: Theme): void {
  const word = theme.toLowerCase();
  if (theme === 'System') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = word;
  keep(THEME, theme === 'System' ? null : word);
}

export function Appearance() {
  const [theme, setTheme] = useState(shownTheme);
  const [hasKeys, setKeys] = useState(readKept(SINGLE_KEYS) !== 'off');
  return (
    <section class="card">
      <h2>This browser</h2>
      <ThemeChoice
        theme={theme}
        onChange={(next) => {
          choose(next);
          setTheme(next);
        }}
      />
      <CheckField
        label="Single-key shortcuts"
        hint="The key / opens the search. Ctrl+K opens it in any case."
        checked={hasKeys}
        onChange={(checked) => {
          keep(SINGLE_KEYS, checked ? null : 'off');
          setKeys(checked);
        }}
      />
    </section>
  );
}

function ThemeChoice({ theme, onChange }: { theme: Theme; onChange: (theme: Theme) => void }) {
  const id = useId();
  return (
    <div role="radiogroup" aria-labelledby={id} class="field">
      <strong id={id}>Theme</strong>
      <div class="radios">
        {THEMES.map((each) => (
          <label key={each}>
            <input type="radio" name="theme" checked={each === theme} onChange={() => onChange(each)} />
            {each}
          </label>
        ))}
      </div>
    </div>
  );
}
