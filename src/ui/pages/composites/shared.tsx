/** What the pages of composites share: what they read, and their tabs. */

import { type Tab, Tabs } from '../../components/tabs.tsx';
import { apiOf, links } from '../../links.ts';
import { type Resource, useResource } from '../../resource.ts';
import type { Composite, CompositeDetails, CompositeVersion, Configuration } from '../../types.ts';

export const KIND = 'composites';

/** A composite with all its versions, highest first. */
export function useComposite(name: string): Resource<CompositeDetails> {
  return useResource<CompositeDetails>(apiOf(KIND, name));
}

/** Its versions as a list of their own. */
export function versionsOf(composite: Resource<CompositeDetails>): Resource<CompositeVersion[]> {
  return { ...composite, data: composite.data?.versions ?? null };
}

/** The configurations that the user may read, a thousand of them at most. */
export function useConfigurations(): readonly Configuration[] | null {
  return useResource<Configuration[]>('/configurations?take=1000').data;
}

export function CompositeTabs({
  name,
  current,
  composite,
}: {
  name: string;
  current: 'Versions' | 'Permissions' | 'Settings';
  /** Null while it is not known; all tabs stand there then, so that nothing moves. */
  composite: Composite | null;
}) {
  const tabs: Tab[] = [{ href: links.named(KIND, name), label: 'Versions' }];
  if (composite === null || composite.access === 'Manage' || current === 'Permissions')
    tabs.push({ href: links.named(KIND, name, 'permissions'), label: 'Permissions' });
  tabs.push({ href: links.named(KIND, name, 'settings'), label: 'Settings' });
  return <Tabs label={name} tabs={tabs} current={current} />;
}
