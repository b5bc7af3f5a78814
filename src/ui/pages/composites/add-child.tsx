/** The form that adds a child to a draft. It stays open for the next one. */

import { useState } from 'preact/hooks';
import { send } from '../../client.ts';
import { useDeed } from '../../components/dialog.tsx';
import { Problem } from '../../components/problem.tsx';
import { apiOf } from '../../links.ts';
import type { CompositeVersion, Configuration } from '../../types.ts';
import { ChildField, ChildVersionField, givenBy } from './child-fields.tsx';
import { KIND } from './shared.tsx';

interface Props {
  name: string;
  draft: CompositeVersion;
  configurations: readonly Configuration[] | null;
}

export function AddChild({ name, draft, configurations }: Props) {
  const [child, setChild] = useState('');
  const [version, setVersion] = useState('');
  const isIn = new Set(draft.items.map(({ childConfigurationName }) => childConfigurationName));
  const names = (configurations ?? []).map((each) => each.name);
  const { isBusy, problem, start } = useDeed(async () => {
    const body = { childConfigurationName: child.trim(), ...givenBy(version) };
    await send('POST', apiOf(KIND, name, 'versions', draft.version, 'children'), body);
    return `${child.trim()} is added.`;
  });
  const add = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    if (!(await start())) return;
    setChild('');
    setVersion('');
    form.querySelector('input')?.focus();
  };
  return (
    <form aria-label="Add a child" class="card add-child" onSubmit={(event) => void add(event)}>
      <div class="pair">
        <ChildField
          value={child}
          onInput={setChild}
          names={names.filter((each) => !isIn.has(each))}
          problem={problem}
        />
        <ChildVersionField
          value={version}
          onInput={setVersion}
          name={names.includes(child.trim()) ? child.trim() : null}
          problem={problem}
        />
      </div>
      {problem !== null && <Problem problem={problem} />}
      <div class="bar">
        <button type="submit" class="primary" disabled={isBusy} aria-busy={isBusy}>
          Add
        </button>
      </div>
    </form>
  );
}
