/** What a user may do, and from which role, of its own or of a group, each permission comes. */

import { Part } from '../../components/page.tsx';
import { useCatalogue } from '../../components/permission-catalogue.ts';
import { SimpleTable } from '../../components/table.tsx';
import { apiPath, links } from '../../links.ts';
import { useResources } from '../../resource.ts';
import { can } from '../../session.ts';
import type { GroupDetails, HeldRole, KnownPermission, Role, UserDetails } from '../../types.ts';
import { useRoles } from './roles-of.ts';

/** A role, and the group through which the user holds it; null: the user holds it directly. */
interface Source {
  role: HeldRole;
  group: GroupDetails | null;
}

interface Effect extends KnownPermission {
  sources: readonly Source[];
}

export function Effective({ user }: { user: UserDetails }) {
  const roles = useRoles();
  const catalogue = useCatalogue();
  const seesGroups = can('groups.manage');
  const groups = useResources<GroupDetails>(
    seesGroups ? user.groups.map(({ id }) => apiPath('groups', id)) : [],
  );
  if (roles === null)
    return (
      <section class="part">
        <h2>Effective permissions</h2>
        <p class="muted">You may not see roles, and so not what they permit.</p>
      </section>
    );
  const sources: Source[] = [
    ...user.roles.map((role) => ({ role, group: null })),
    ...groups.flatMap(({ data: group }) => group?.roles.map((role) => ({ role, group })) ?? []),
  ];
  return (
    <Part of={roles} heading="Effective permissions">
      {(all) => (
        <>
          {!seesGroups && user.groups.length > 0 && (
            <p class="hint">
              You may not see groups. What the groups of {user.username} add is missing here.
            </p>
          )}
          {!user.isActive && <p class="hint">The account is inactive. It would have these permissions.</p>}
          <EffectTable effects={effectsOf(catalogue.data ?? [], all, sources)} />
        </>
      )}
    </Part>
  );
}

function effectsOf(
  catalogue: readonly KnownPermission[],
  roles: readonly Role[],
  sources: readonly Source[],
): Effect[] {
  const permitted = new Map(roles.map(({ id, permissions }) => [id, new Set<string>(permissions)]));
  return catalogue
    .map((permission) => ({
      ...permission,
      sources: sources.filter(({ role }) => permitted.get(role.id)?.has(permission.name)),
    }))
    .filter((effect) => effect.sources.length > 0);
}

function EffectTable({ effects }: { effects: readonly Effect[] }) {
  return (
    <SimpleTable
      name="Effective permissions"
      rows={effects}
      keyOf={({ name }) => name}
      none={<p class="muted">None. Roles, one's own or those of groups, give permissions.</p>}
      columns={[
        { label: 'Permission', isName: true, cell: ({ name }) => name },
        { label: 'Meaning', isLong: true, cell: ({ description }) => description },
        { label: 'From', isLong: true, cell: ({ sources }) => <Sources sources={sources} /> },
      ]}
    />
  );
}

function Sources({ sources }: { sources: readonly Source[] }) {
  return (
    <ul>
      {sources.map(({ role, group }) => (
        <li key={`${role.id} ${group?.id}`}>
          role <a href={links.role(role.id)}>{role.name}</a>
          {group !== null && (
            <>
              {' '}
              of group <a href={links.group(group.id)}>{group.name}</a>
            </>
          )}
        </li>
      ))}
    </ul>
  );
}
