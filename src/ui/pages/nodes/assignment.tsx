/** The fields that say which configuration a node gets, and which versions of it. */

import { useId, useState } from 'preact/hooks';
import type { ApiProblem } from '../../client.ts';
import { Field, SelectField } from '../../components/field.tsx';
import { apiPath } from '../../links.ts';
import { useResource } from '../../resource.ts';
import type { Composite, CompositeVersion, Configuration, NodeDetails, Version } from '../../types.ts';

/** As it is typed. */
export interface AssignmentDraft {
  configurationName: string;
  /** What the user chose where both a configuration and a composite have this name. */
  kind: 'configuration' | 'composite';
  version: string;
  majorVersion: string;
  prereleaseChannel: string;
}

export function draftOf(assignment: NodeDetails['assignment']): AssignmentDraft {
  return {
    configurationName: assignment?.configurationName ?? '',
    kind: assignment?.isComposite ? 'composite' : 'configuration',
    version: assignment?.version ?? '',
    majorVersion: String(assignment?.majorVersion ?? ''),
    prereleaseChannel: assignment?.prereleaseChannel ?? '',
  };
}

interface Names {
  /** What the typed name stands for, as far as the user may read it. */
  kinds: readonly AssignmentDraft['kind'][];
  configurations: readonly Configuration[];
  composites: readonly Composite[];
}

function useNames(name: string): Names {
  const options = { poll: false };
  const configurations = useResource<Configuration[]>('/configurations?take=1000', options).data ?? [];
  const composites = useResource<Composite[]>('/composite-configurations?take=1000', options).data ?? [];
  const has = (all: readonly { name: string }[]) => all.some((one) => one.name === name);
  return {
    configurations,
    composites,
    kinds: [
      ...(has(configurations) ? (['configuration'] as const) : []),
      ...(has(composites) ? (['composite'] as const) : []),
    ],
  };
}

export interface AssignmentForm {
  draft: AssignmentDraft;
  change(members: Partial<AssignmentDraft>): void;
  names: Names;
  isComposite: boolean;
  /** The members of the API's body. */
  members(): Record<string, unknown>;
}

export function useAssignment(before: NodeDetails['assignment']): AssignmentForm {
  const [draft, setDraft] = useState(() => draftOf(before));
  const names = useNames(draft.configurationName);
  // Only where both kinds have this name does the user's choice decide.
  const [kind = 'configuration'] = names.kinds.length === 1 ? names.kinds : [draft.kind];
  const isComposite = kind === 'composite';
  return {
    draft,
    names,
    isComposite,
    change: (members) => setDraft((typed) => ({ ...typed, ...members })),
    members() {
      const { configurationName, version, majorVersion, prereleaseChannel } = draft;
      const given = (text: string) => (text.trim() === '' ? null : text.trim());
      const isPinned = given(version) !== null;
      const major = isPinned ? null : given(majorVersion);
      return {
        configurationName: configurationName.trim(),
        isComposite,
        version: given(version),
        majorVersion: major === null ? null : Number(major),
        prereleaseChannel: isPinned ? null : given(prereleaseChannel),
      };
    },
  };
}

export function AssignmentFields({ form, problem }: { form: AssignmentForm; problem: ApiProblem | null }) {
  const { draft, names, change } = form;
  const list = useId();
  return (
    <>
      <Field
        label="Configuration"
        name="configurationName"
        required
        autocomplete="off"
        list={list}
        value={draft.configurationName}
        onInput={(configurationName) => change({ configurationName })}
        hint={hintOf(form)}
        problem={problem}
      />
      <datalist id={list}>
        {names.configurations.map(({ name, id }) => (
          <option key={id} value={name} label="configuration" />
        ))}
        {names.composites.map(({ name, id }) => (
          <option key={id} value={name} label="composite" />
        ))}
      </datalist>
      {names.kinds.length > 1 && (
        <SelectField
          label="Kind"
          name="isComposite"
          value={draft.kind}
          onInput={(kind) => change({ kind: kind === 'composite' ? 'composite' : 'configuration' })}
          choices={[
            { value: 'configuration', label: 'Configuration' },
            { value: 'composite', label: 'Composite' },
          ]}
        />
      )}
      <VersionFields form={form} problem={problem} />
    </>
  );
}

function hintOf({ draft, names, isComposite }: AssignmentForm): string {
  if (draft.configurationName === '') return 'The name of a configuration or of a composite.';
  if (names.kinds.length === 0) return 'Nothing that you may read has this name.';
  if (names.kinds.length > 1) return 'A configuration and a composite have this name.';
  return isComposite ? 'This is a composite.' : 'This is a configuration.';
}

function VersionFields({ form, problem }: { form: AssignmentForm; problem: ApiProblem | null }) {
  const { draft, change, names, isComposite } = form;
  const list = useId();
  const isPinned = draft.version.trim() !== '';
  const kind = isComposite ? '/composite-configurations' : '/configurations';
  const path =
    names.kinds.length > 0 ? `${kind}${apiPath(draft.configurationName)}/versions?take=1000` : null;
  const versions = useResource<(Version | CompositeVersion)[]>(path, { poll: false });
  return (
    <>
      <Field
        label="Version"
        name="version"
        autocomplete="off"
        list={list}
        value={draft.version}
        onInput={(version) => change({ version })}
        hint="Exactly this published version, for good. Leave it empty to follow new versions."
        problem={problem}
      />
      <datalist id={list}>
        {versions.data
          ?.filter(({ status, withdrawn }) => status === 'Published' && withdrawn === null)
          .map(({ version }) => (
            <option key={version} value={version} />
          ))}
      </datalist>
      <div class="field-row">
        <Field
          label="Major"
          name="majorVersion"
          type="number"
          min={0}
          disabled={isPinned}
          value={isPinned ? '' : draft.majorVersion}
          onInput={(majorVersion) => change({ majorVersion })}
          hint={isPinned ? 'The version above decides.' : 'Only versions with this major number. Empty: any.'}
          problem={problem}
        />
        <Field
          label="Prerelease channel"
          name="prereleaseChannel"
          autocomplete="off"
          disabled={isPinned}
          value={isPinned ? '' : draft.prereleaseChannel}
          onInput={(prereleaseChannel) => change({ prereleaseChannel })}
          hint={
            isPinned ? 'The version above decides.' : 'Such as rc: prereleases from it on too. Empty: none.'
          }
          problem={problem}
        />
      </div>
    </>
  );
}
