/** The scopes of tokens: the choice of them, and how a table shows them. */

import { Choose } from './choose.tsx';
import { Part } from './page.tsx';
import { scopeItems, useCatalogue } from './permission-catalogue.ts';

interface ScopeChoiceProps {
  /** Whether the token is the caller's own. */
  isOwn: boolean;
  chosen: ReadonlySet<string>;
  onChange: (chosen: ReadonlySet<string>) => void;
}

export function ScopeChoice({ isOwn, chosen, onChange }: ScopeChoiceProps) {
  const catalogue = useCatalogue();
  return (
    <Part of={catalogue}>
      {(all) => (
        <Choose
          legend="Scopes"
          hint="The token may do what its owner may do and its scopes name. Without any it can only ask whose it is."
          items={scopeItems(all, isOwn)}
          chosen={chosen}
          onChange={onChange}
        />
      )}
    </Part>
  );
}

export function Scopes({ scopes }: { scopes: readonly string[] }) {
  if (scopes.length === 0) return <span class="muted">none</span>;
  if (scopes.length <= 3) return scopes.join(', ');
  return (
    <details>
      <summary>{scopes.length} scopes</summary>
      {scopes.join(', ')}
    </details>
  );
}
