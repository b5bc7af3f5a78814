/** The fields that say which configuration is a child, and which version of it nodes get. */

import { useId } from 'preact/hooks';
import type { ApiProblem } from '../../client.ts';
import { Field } from '../../components/field.tsx';
import { apiOf, withQuery } from '../../links.ts';
import { useResource } from '../../resource.ts';
import type { Version } from '../../types.ts';

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
        hint="Always this one. Leave it empty to follow the highest published version."
      />
      <datalist id={list}>
        {versions.data?.filter(isOffered).map(({ version, status }) => (
          <option key={version} value={version} label={status === 'Draft' ? 'draft' : undefined} />
        ))}
      </datalist>
    </div>
  );
}

/** What the API takes: null follows. */
export function pinOf(typed: string): string | null {
  return typed.trim() === '' ? null : typed.trim();
}
