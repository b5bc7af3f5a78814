/** What protects a composite. */

import { Page, Part } from '../../components/page.tsx';
import { ProtectionForm } from '../../components/protection.tsx';
import { apiOf, links } from '../../links.ts';
import { useResource } from '../../resource.ts';
import type { CompositeSettings } from '../../types.ts';
import { CompositeTabs, KIND, useComposite } from './shared.tsx';

export function CompositeSettingsPage({ name }: { name: string }) {
  const path = apiOf(KIND, name, 'settings');
  const composite = useComposite(name);
  const settings = useResource<CompositeSettings>(path);
  const isManager = composite.data?.access === 'Manage';
  return (
    <Page
      heading={name}
      tab="Settings"
      of={[composite]}
      crumbs={[{ href: links.list(KIND), label: 'Composites' }]}
      tools={<CompositeTabs name={name} current="Settings" composite={composite.data} />}
    >
      <div class="columns settings">
        <Part of={settings}>
          {({ protection }) => (
            <ProtectionForm
              on={{ compositeName: name }}
              called={name}
              {...{ path }}
              data={protection}
              etag={settings.etag}
              reason={isManager ? null : `Only those with Manage on ${name} may save this.`}
            />
          )}
        </Part>
      </div>
    </Page>
  );
}
