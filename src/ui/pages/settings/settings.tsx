/** The settings of the whole server, in sections that are saved one by one. */

import { ForbiddenPage, Page } from '../../components/page.tsx';
import { useResource } from '../../resource.ts';
import { can } from '../../session.ts';
import type {
  Freeze,
  LcmDefaults,
  RolloutSettings,
  ServerSettings,
  ValidationSettings,
} from '../../types.ts';
import { FreezeSection } from './freeze-section.tsx';
import { LcmSection } from './lcm-section.tsx';
import { RolloutsSection } from './rollouts-section.tsx';
import { ServerSection } from './server-section.tsx';
import { ValidationSection } from './validation-section.tsx';

export function SettingsPage() {
  return can('server.settings.read') ? <Settings /> : <ForbiddenPage heading="Settings" />;
}

function Settings() {
  const server = useResource<ServerSettings>('/settings');
  const lcm = useResource<LcmDefaults>('/settings/lcm-defaults');
  const validation = useResource<ValidationSettings>('/settings/validation');
  const rollouts = useResource<RolloutSettings>('/settings/rollouts');
  const freeze = useResource<Freeze>('/settings/freeze');
  const reason = can('server.settings.write')
    ? null
    : 'To change this takes the permission server.settings.write.';
  return (
    <Page heading="Settings" of={[server, lcm, validation, rollouts, freeze]}>
      <div class="columns">
        {server.data !== null && <ServerSection data={server.data} etag={server.etag} reason={reason} />}
        {lcm.data !== null && <LcmSection data={lcm.data} etag={lcm.etag} reason={reason} />}
        {validation.data !== null && (
          <ValidationSection data={validation.data} etag={validation.etag} reason={reason} />
        )}
        {rollouts.data !== null && (
          <RolloutsSection data={rollouts.data} etag={rollouts.etag} reason={reason} />
        )}
        {freeze.data !== null && <FreezeSection data={freeze.data} reason={reason} />}
      </div>
      {can('retention.manage') && (
        <p>
          What is kept and what goes is set under <a href="/ui/retention">Retention</a>.
        </p>
      )}
    </Page>
  );
}
