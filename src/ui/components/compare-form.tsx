/** Chooses two versions of one thing, and leads to what differs between them. */

import { useId, useState } from 'preact/hooks';
import { type Kind, links } from '../links.ts';
import { usePlace } from '../router.ts';
import { type AnyVersion, stateOfVersion } from './version-mark.tsx';

interface Props {
  kind: Kind;
  name: string;
  /** Highest first. */
  versions: readonly Pick<AnyVersion, 'version' | 'status' | 'withdrawn'>[];
  /** The two that are compared already. */
  range?: { from: string; to: string };
}

export function CompareForm({ kind, name, versions, range }: Props) {
  const place = usePlace();
  const usual = range ?? { from: versions[1]?.version ?? '', to: versions[0]?.version ?? '' };
  const [chosen, setChosen] = useState<Partial<typeof usual>>({});
  const { from, to } = { ...usual, ...chosen };
  if (versions.length < 2) return null;
  return (
    <form
      class="compare-form"
      aria-label="Compare"
      onSubmit={(event) => {
        event.preventDefault();
        place.go(links.compare(kind, name, from, to));
      }}
    >
      <Choose
        label="From"
        value={from}
        versions={versions}
        onChoose={(value) => setChosen({ from: value, to })}
      />
      <Choose
        label="To"
        value={to}
        versions={versions}
        onChoose={(value) => setChosen({ from, to: value })}
      />
      <button type="submit" disabled={from === to}>
        Compare
      </button>
    </form>
  );
}

interface ChooseProps extends Pick<Props, 'versions'> {
  label: string;
  value: string;
  onChoose: (version: string) => void;
}

function Choose({ label, value, versions, onChoose }: ChooseProps) {
  const id = useId();
  return (
    <span class="filter">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onChoose(event.currentTarget.value)}>
        {versions.map((version) => (
          <option key={version.version} value={version.version}>
            {version.version}
            {stateOfVersion(version) !== 'Published' && ` (${stateOfVersion(version).toLowerCase()})`}
          </option>
        ))}
      </select>
    </span>
  );
}
