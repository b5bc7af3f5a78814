/** The fields that say which configuration is a child, and which version of it nodes get. */

import { useId } from 'preact/hooks';
import type { ApiProblem } from '../../client.ts';
import { Field } from '../../components/field.tsx';
import { apiOf, withQuery } from '../../links.ts';
import { useResource } from '../../resource.ts';
import type { CompositeItem, Version } from '../../types.ts';

interface FieldProps {
  value: string;
  onInput: (value: string) => void;
  problem: ApiProblem | null;
}

/** Field `Configuration`. @param names proposed ones; any other can be typed */
export function ChildField({ names, ...field }: FieldProps & { names: readonly string[] }) {
  const list = useId();
  return (
    <div>
      <Field
        label="Configuration"
        name="childConfigurationName"
        {...field}
        {...{ list }}
        required
        autocomplete="off"
        hint="It gets the last place."
      />
      <datalist id={list}>
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </div>
  );
}

/** Field `Version`. @param name the configuration whose versions are proposed; null while it is not known */
export function ChildVersionField({ name, ...field }: FieldProps & { name: string | null }) {
  const list = useId();
  const path = name === null ? null : withQuery(apiOf('configurations', name, 'versions'), { take: 1_000 });
  const versions = useResource<Version[]>(path, { poll: false });
  const isOffered = ({ withdrawn }: Version) => withdrawn === null;
  return (
    <div>
      <Field
        label="Version"
        name="activeVersion"
        {...field}
        {...{ list }}
        autocomplete="off"
        hint="Always this one, or 1.x for the highest published one of major 1. Leave it empty to follow the highest of all."
      />
      <datalist id={list}>
        {versions.data?.filter(isOffered).map(({ version, status }) => (
          <option key={version} value={version} label={status === 'Draft' ? 'draft' : undefined} />
        ))}
      </datalist>
    </div>
  );
}

type Given = Pick<CompositeItem, 'activeVersion' | 'majorVersion'>;

/** What the API takes of what was typed. */
export function givenBy(typed: string): Given {
  const version = typed.trim();
  const [, major] = /^(\d+)\.x$/.exec(version) ?? [];
  if (major !== undefined) return { activeVersion: null, majorVersion: Number(major) };
  return { activeVersion: version === '' ? null : version, majorVersion: null };
}

/** How that is typed. */
export function typedOf({ activeVersion, majorVersion }: Given): string {
  return activeVersion ?? (majorVersion === null ? '' : `${majorVersion}.x`);
}
