/** Which scope type gives the rings of rollouts. */

import { send } from '../../client.ts';
import { EditForm, useEdit } from '../../components/edit-form.tsx';
import { SelectField } from '../../components/field.tsx';
import { useResource } from '../../resource.ts';
import type { RolloutSettings, ScopeType } from '../../types.ts';
import type { SectionProps } from './server-section.tsx';

export function RolloutsSection({ data, etag, reason }: SectionProps<RolloutSettings>) {
  const types = useResource<ScopeType[]>('/scope-types?take=1000');
  const edit = useEdit({ type: data.rolloutScopeType ?? '' }, etag);
  const run = async () => {
    const body = { rolloutScopeType: edit.value.type || null };
    await send('PUT', '/settings/rollouts', body, { ifMatch: edit.etag });
    return 'The rings of rollouts were saved.';
  };
  const names = (types.data ?? [])
    .filter(({ valueMode, isSystem }) => valueMode === 'Restricted' && !isSystem)
    .map(({ name }) => name);
  // What is set stands there also while the types are on their way.
  const all = new Set([...names, ...(data.rolloutScopeType === null ? [] : [data.rolloutScopeType])]);
  return (
    <section class="card">
      <h2>Rollouts</h2>
      <EditForm label="Rollouts" edit={edit} run={run} reason={reason}>
        {(problem) => (
          <SelectField
            label="Scope type of the rings"
            name="rolloutScopeType"
            hint="Its values, in their order, are the rings that a version reaches one after the other. It must be Restricted. Rollouts that are under way keep theirs."
            choices={[
              { value: '', label: 'none: nothing can be rolled out' },
              ...[...all].map((name) => ({ value: name, label: name })),
            ]}
            problem={problem}
            value={edit.value.type}
            onInput={(type) => edit.set('type', type)}
          />
        )}
      </EditForm>
    </section>
  );
}
