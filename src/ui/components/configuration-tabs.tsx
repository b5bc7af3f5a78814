/** The tabs of a configuration. What the user may not see is not among them. */

import { links } from '../links.ts';
import type { Configuration } from '../types.ts';
import { type Tab, Tabs } from './tabs.tsx';

/** @param configuration null while it is not known; all tabs stand there then, so that nothing moves */
export function ConfigurationTabs({
  name,
  current,
  configuration,
}: {
  name: string;
  current: 'Versions' | 'Parameters' | 'Permissions' | 'Settings';
  configuration: Configuration | null;
}) {
  const isShown = {
    Parameters: configuration === null || configuration.parametersAccess !== null,
    Permissions:
      configuration === null ||
      current === 'Permissions' ||
      [configuration.access, configuration.parametersAccess].includes('Manage'),
  };
  const tabs: (Tab | false)[] = [
    { href: links.named('configurations', name), label: 'Versions' },
    isShown.Parameters && { href: links.parameters(name), label: 'Parameters' },
    isShown.Permissions && { href: links.named('configurations', name, 'permissions'), label: 'Permissions' },
    { href: links.named('configurations', name, 'settings'), label: 'Settings' },
  ];
  return <Tabs label={name} tabs={tabs.filter((tab) => tab !== false)} current={current} />;
}

/** The way back to the list of configurations. */
export const CONFIGURATIONS_CRUMB = { href: links.list('configurations'), label: 'Configurations' };
