/** Who may do what with a configuration, and with its parameters. */

import { CONFIGURATIONS_CRUMB, ConfigurationTabs } from '../../components/configuration-tabs.tsx';
import { Page } from '../../components/page.tsx';
import { Permissions, useGrants } from '../../components/permissions.tsx';
import { apiOf } from '../../links.ts';
import { useResource } from '../../resource.ts';
import type { Configuration } from '../../types.ts';

const FALL_BACK =
  'Whoever holds no grant on the parameters may do with them what they may do with the configuration.';

export function ConfigurationPermissionsPage({ name }: { name: string }) {
  const path = apiOf('configurations', name, 'permissions');
  const parametersPath = apiOf('configurations', name, 'parameters', 'permissions');
  const configuration = useResource<Configuration>(apiOf('configurations', name));
  const ofParameters = configuration.data?.parametersAccess === 'Manage';
  // Somebody may manage the parameters alone. Everybody else gets what the API answers.
  const ofAll = !ofParameters || configuration.data?.access === 'Manage';
  const grants = useGrants(ofAll ? path : null);
  const parameterGrants = useGrants(ofParameters ? parametersPath : null, 'parametersPage');
  return (
    <Page
      heading={name}
      tab="Permissions"
      of={[...(ofAll ? [grants.resource] : []), ...(ofParameters ? [parameterGrants.resource] : [])]}
      isEmpty={grants.total + parameterGrants.total === 0}
      isBusy={grants.isBusy || parameterGrants.isBusy}
      crumbs={[CONFIGURATIONS_CRUMB]}
      tools={<ConfigurationTabs name={name} current="Permissions" configuration={configuration.data} />}
    >
      {ofAll && <Permissions path={path} on={name} list={grants} />}
      {ofParameters && (
        <>
          <h2>Parameters</h2>
          <Permissions
            path={parametersPath}
            on={`the parameters of ${name}`}
            list={parameterGrants}
            name="Permissions of parameters"
            deed="Share parameters"
            hint={FALL_BACK}
            hasScopes
          />
        </>
      )}
    </Page>
  );
}
