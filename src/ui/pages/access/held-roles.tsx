/** The roles that a user or a group holds, and the choice of others. */

import { send } from '../../client.ts';
import { Choose } from '../../components/choose.tsx';
import { EditForm, useEdit } from '../../components/edit-form.tsx';
import { Part } from '../../components/page.tsx';
import type { HeldRole } from '../../types.ts';
import { heldItems, roleItems, useRoles } from './roles-of.ts';

interface HeldRolesProps {
  /** The path of the roles in the API. */
  path: string;
  held: readonly HeldRole[];
  /** That of the user or group. */
  etag: string | null;
  /** The name of the user or group. */
  whose: string;
}

export function HeldRoles({ path, held, etag, whose }: HeldRolesProps) {
  const roles = useRoles();
  const edit = useEdit({ roleIds: held.map(({ id }) => id).sort() }, etag);
  const chosen = new Set(edit.value.roleIds);
  const run = async () => {
    await send('PUT', path, edit.value, { ifMatch: edit.etag });
    return `The roles of ${whose} were saved.`;
  };
  if (roles === null && held.length === 0)
    return <p class="muted">No role. You may not see the roles, so you cannot give any.</p>;
  const choose = (next: ReadonlySet<string>) => edit.set('roleIds', [...next].sort());
  const ids = new Set(held.map(({ id }) => id));
  return (
    <EditForm label={`Roles of ${whose}`} edit={edit} run={run} deed="Save roles">
      {() =>
        roles === null ? (
          <Choose
            legend="Roles"
            isLegendHidden
            hint="You may not see the other roles, so you can only take roles away."
            items={heldItems(held)}
            chosen={chosen}
            onChange={choose}
          />
        ) : (
          <Part of={roles}>
            {(all) => (
              <Choose
                legend="Roles"
                isLegendHidden
                items={roleItems(all, ids)}
                chosen={chosen}
                onChange={choose}
              />
            )}
          </Part>
        )
      }
    </EditForm>
  );
}
