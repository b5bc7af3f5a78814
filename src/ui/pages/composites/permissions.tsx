/** Who may do what with a composite. */

import { Page } from '../../components/page.tsx';
import { Permissions, useGrants } from '../../components/permissions.tsx';
import { apiOf, links } from '../../links.ts';
import { CompositeTabs, KIND, useComposite } from './shared.tsx';

export function CompositePermissionsPage({ name }: { name: string }) {
  const path = apiOf(KIND, name, 'permissions');
  const composite = useComposite(name);
  const grants = useGrants(path);
  return (
    <Page
      heading={name}
      tab="Permissions"
      of={[grants.resource]}
      isEmpty={grants.total === 0}
      isBusy={grants.isBusy}
      crumbs={[{ href: links.list(KIND), label: 'Composites' }]}
      tools={<CompositeTabs name={name} current="Permissions" composite={composite.data} />}
    >
      <Permissions path={path} on={name} list={grants} />
    </Page>
  );
}
