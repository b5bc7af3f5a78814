/** What protects a configuration, a composite or a scope value. A weaker protection comes by a change set alone. */

import { reasonAgainstProposing } from '../basket.ts';
import { type ApiProblem, send } from '../client.ts';
import { useResource } from '../resource.ts';
import { can } from '../session.ts';
import type { ConfigurationSettings, Group, PreviewChange } from '../types.ts';
import { AddToChange } from './add-to-change.tsx';
import { type Edit, EditForm, useEdit } from './edit-form.tsx';
import { CheckField, SelectField } from './field.tsx';

export type Protection = ConfigurationSettings['protection'];

/** What is protected, as a deed names it. */
type ProtectedOn = Extract<PreviewChange, { kind: 'SetProtection' }>['on'];

/** The deed that sets a protection, for a change set. @param called what is protected, such as `shop` */
export function protecting(called: string, on: ProtectedOn, protection: Protection) {
  const deed = { kind: 'SetProtection', on, protection } satisfies PreviewChange;
  return { title: `Protection of ${called}`, deeds: () => [deed] };
}

/** The groups that the user may see, a thousand at most; null where they are not known. */
export function useGroups(): readonly Group[] | null {
  return useResource<Group[]>(can('groups.manage') ? '/groups?take=1000' : null, { poll: false }).data;
}

/** @param group the name of its group */
export function protectionText({ approvals, groupId, byChangeSetOnly }: Protection, group: string): string {
  if (approvals === 0 && !byChangeSetOnly) return 'none';
  const people =
    approvals === 0 ? 'no approval' : `${approvals} ${approvals === 1 ? 'approval' : 'approvals'}`;
  const text = approvals === 0 || groupId === null ? people : `${people} of ${group}`;
  return byChangeSetOnly ? `${text}, by change sets only` : text;
}

/** The name of a group; of one that is not known no more than that it is one. */
export const groupNamed = (groups: readonly Group[] | null, id: string | null): string =>
  groups?.find((group) => group.id === id)?.name ?? 'one group';

const APPROVALS = [
  { value: '0', label: '0: nobody has to approve' },
  ...['1', '2', '3', '4', '5'].map((value) => ({ value, label: value })),
];

interface FieldsProps {
  edit: Edit<Protection>;
  problem: ApiProblem | null;
}

export function ProtectionFields({ edit, problem }: FieldsProps) {
  const known = useGroups();
  const { approvals, groupId, byChangeSetOnly } = edit.value;
  // What is set stands there also where the groups are not known.
  const isUnknown = groupId !== null && !known?.some(({ id }) => id === groupId);
  return (
    <>
      <SelectField
        label="Approvals"
        name="protection/approvals"
        hint="So many people approve a change set before it is applied. Whoever has proposed it does not count."
        choices={APPROVALS}
        value={String(approvals)}
        onInput={(typed) => edit.set('approvals', Number(typed))}
        problem={problem}
      />
      <SelectField
        label="Approved by"
        name="protection/groupId"
        hint={
          can('groups.manage')
            ? 'A group alone protects nothing.'
            : 'You may not see the groups (groups.manage), so you can choose no other one.'
        }
        choices={[
          { value: '', label: 'Anybody who may change it' },
          ...(isUnknown ? [{ value: groupId, label: groupNamed(known, groupId) }] : []),
          ...(known ?? []).map(({ id, name }) => ({ value: id, label: name })),
        ]}
        value={groupId ?? ''}
        onInput={(typed) => edit.set('groupId', typed || null)}
        problem={problem}
      />
      <CheckField
        label="Changes come by change sets alone"
        checked={byChangeSetOnly}
        onChange={(checked) => edit.set('byChangeSetOnly', checked)}
        hint="Even where nobody has to approve them."
      />
    </>
  );
}

interface FormProps {
  /** What is protected, and how it is called. */
  on: ProtectedOn;
  called: string;
  /** Its settings in the API. */
  path: string;
  data: Protection;
  etag: string | null;
  /** Why the user may not save it; null: they may. */
  reason: string | null;
}

/** A card. Those who may not save a protection may still propose it. */
export function ProtectionForm({ on, called, path, data, etag, reason }: FormProps) {
  const edit = useEdit(data, etag);
  const mayPropose = reasonAgainstProposing() === null;
  const run = async () => {
    await send('PUT', path, { protection: edit.value }, { ifMatch: edit.etag });
    return 'The protection is saved.';
  };
  return (
    <section class="card">
      <h2>Protection</h2>
      <EditForm
        label="Protection"
        {...{ edit, run }}
        reason={mayPropose ? null : reason}
        saveReason={mayPropose ? reason : null}
        beside={
          mayPropose &&
          edit.isChanged && <AddToChange {...protecting(called, on, edit.value)} onAdded={edit.forget} />
        }
      >
        {(problem) => (
          <>
            <p class="hint">
              Where it is protected, what changes nodes comes by change sets. A weaker protection comes by a
              change set, too.
            </p>
            <ProtectionFields {...{ edit, problem }} />
          </>
        )}
      </EditForm>
    </section>
  );
}
