/** The parts of the console, and who may see them. */

import { can } from '../session.ts';

export interface Entry {
  href: string;
  label: string;
  /** One of these is needed to see anything there. Without any it is open to all users. */
  needs?: readonly string[];
}

export interface NavigationGroup {
  label: string;
  entries: readonly Entry[];
}

export const GROUPS: readonly NavigationGroup[] = [
  {
    label: 'Fleet',
    entries: [
      { href: '/ui/', label: 'Fleet' },
      { href: '/ui/nodes', label: 'Nodes', needs: ['nodes.read'] },
      { href: '/ui/reports', label: 'Reports', needs: ['reports.read-all'] },
    ],
  },
  {
    label: 'Content',
    entries: [
      { href: '/ui/configurations', label: 'Configurations' },
      { href: '/ui/composites', label: 'Composites' },
      { href: '/ui/change-sets', label: 'Change sets' },
      { href: '/ui/scopes', label: 'Scopes' },
    ],
  },
  {
    label: 'Access',
    entries: [
      { href: '/ui/access/users', label: 'Users', needs: ['users.manage'] },
      { href: '/ui/access/groups', label: 'Groups', needs: ['groups.manage'] },
      { href: '/ui/access/roles', label: 'Roles', needs: ['roles.manage'] },
      { href: '/ui/access/mappings', label: 'Mappings', needs: ['groups.manage'] },
      { href: '/ui/registration-keys', label: 'Registration keys', needs: ['registration-keys.manage'] },
    ],
  },
  {
    label: 'Server',
    entries: [
      { href: '/ui/retention', label: 'Retention', needs: ['retention.manage'] },
      { href: '/ui/webhooks', label: 'Webhooks', needs: ['webhooks.manage'] },
      { href: '/ui/audit', label: 'Audit', needs: ['audit.read'] },
      { href: '/ui/settings', label: 'Settings', needs: ['server.settings.read'] },
    ],
  },
];

/** Those entries of a group that the user may see. */
export function shownIn({ entries }: NavigationGroup): readonly Entry[] {
  return entries.filter(({ needs }) => needs === undefined || needs.some(can));
}

/** All entries that the user may see. */
export function shownEntries(): readonly Entry[] {
  return [...GROUPS.flatMap(shownIn), { href: '/ui/me', label: 'You' }];
}
