/** Who may do what with a configuration. */

import { CONFIGURATIONS_CRUMB, ConfigurationTabs } from '../../components/configuration-tabs.tsx';
import { Page } from '../../components/page.tsx';
import { Permissions, useGrants } from '../../components/permissions.tsx';
import { apiOf } from '../../links.ts';
import { useResource } from '../../resource.ts';
import type { Configuration } from '../../types.ts';

export function ConfigurationPermissionsPage({ name }: { name: string }) {
  const path = apiOf('configurations', name, 'permissions');
  const configuration = useResource<Configuration>(apiOf('configurations', name));
  const grants = useGrants(path);
  return (
    <Page
      heading={name}
      tab="Permissions"
      of={[grants.resource]}
      isEmpty={grants.total === 0}
      isBusy={grants.isBusy}
      crumbs={[CONFIGURATIONS_CRUMB]}
      tools={<ConfigurationTabs name={name} current="Permissions" configuration={configuration.data} />}
    >
      <Permissions path={path} on={name} list={grants} />
    </Page>
  );
}
