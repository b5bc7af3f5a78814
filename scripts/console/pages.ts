/** All pages of the console, with the names of a seeded site. The tests with axe and the screenshots go through them. */

import type { Site } from './seed.ts';
import type { Role } from './site/people.ts';

export type PageState = 'ready' | 'empty' | 'error' | 'forbidden';

export interface ConsolePage {
  /** A short name for files and titles of tests. */
  name: string;
  path: string;
  /** What the h1 says. */
  heading: string | RegExp;
  /** Who looks; `admin` if it is missing. */
  user?: Role;
  /** `ready` if it is missing. */
  state?: PageState;
}

const PARTS = { fleet: fleetPages, content: contentPages, server: serverPages };

/** The addresses of the contract, as the administrator of the seeded site sees them: of one part, or all. */
export function pagesOf(site: Site, part?: keyof typeof PARTS): ConsolePage[] {
  const parts = part === undefined ? Object.values(PARTS) : [PARTS[part]];
  return parts.flatMap((make) => make(site));
}

function fleetPages({ nodes, reports }: Site): ConsolePage[] {
  const { fqdn, id } = nodes.hostile;
  const node = `/ui/nodes/${id}`;
  return [
    { name: 'fleet', path: '/ui/', heading: 'Fleet' },
    { name: 'nodes', path: '/ui/nodes', heading: 'Nodes' },
    { name: 'nodes-filtered', path: '/ui/nodes?status=Error&sort=-lastCheckIn', heading: 'Nodes' },
    { name: 'node', path: node, heading: fqdn },
    { name: 'node-parameters', path: `${node}/parameters`, heading: fqdn },
    {
      name: 'node-parameters-problems',
      path: `/ui/nodes/${nodes.withProblems.id}/parameters`,
      heading: nodes.withProblems.fqdn,
    },
    { name: 'node-diff', path: `/ui/nodes/${nodes.behind.id}/diff`, heading: nodes.behind.fqdn },
    { name: 'node-reports', path: `${node}/reports`, heading: fqdn },
    { name: 'node-history', path: `${node}/history`, heading: fqdn },
    { name: 'reports', path: '/ui/reports', heading: 'Reports' },
    { name: 'report-hostile', path: `/ui/reports/${reports.hostile}`, heading: reports.hostile },
    { name: 'report-long', path: `/ui/reports/${reports.long}`, heading: reports.long },
  ];
}

function contentPages({ composite }: Site): ConsolePage[] {
  const shop = '/ui/configurations/shop';
  const stack = `/ui/composites/${composite}`;
  return [
    { name: 'configurations', path: '/ui/configurations', heading: 'Configurations' },
    { name: 'configuration', path: shop, heading: 'shop' },
    { name: 'configuration-permissions', path: `${shop}/permissions`, heading: 'shop' },
    { name: 'configuration-settings', path: `${shop}/settings`, heading: 'shop' },
    { name: 'version', path: `${shop}/versions/2.1.0`, heading: 'shop 2.1.0' },
    { name: 'version-withdrawn', path: `${shop}/versions/1.2.0`, heading: 'shop 1.2.0' },
    { name: 'compare', path: `${shop}/compare/1.1.0...2.1.0`, heading: /^shop/ },
    { name: 'draft', path: `${shop}/drafts/2.2.0`, heading: 'shop 2.2.0' },
    { name: 'review', path: `${shop}/drafts/2.2.0/review`, heading: 'Review shop 2.2.0' },
    { name: 'parameters', path: `${shop}/parameters`, heading: 'shop' },
    // It is there after `rollOutDatabase`.
    {
      name: 'rollout',
      path: '/ui/configurations/database/rollouts/2.1.0',
      heading: 'Rollout database 2.1.0',
    },
    {
      name: 'parameter-draft',
      path: `${shop}/parameters/file?scopeTypeName=Environment&scopeValue=prod&version=2.0.1`,
      heading: /2\.0\.1/,
    },
    { name: 'composites', path: '/ui/composites', heading: 'Composites' },
    { name: 'composite', path: stack, heading: composite },
    { name: 'composite-permissions', path: `${stack}/permissions`, heading: composite },
    { name: 'composite-settings', path: `${stack}/settings`, heading: composite },
    { name: 'composite-version', path: `${stack}/versions/1.0.0`, heading: `${composite} 1.0.0` },
    {
      name: 'composite-compare',
      path: `${stack}/compare/1.0.0...1.1.0`,
      heading: new RegExp(`^${composite}`),
    },
    { name: 'composite-draft', path: `${stack}/drafts/1.1.0`, heading: `${composite} 1.1.0` },
    { name: 'composite-review', path: `${stack}/drafts/1.1.0/review`, heading: `Review ${composite} 1.1.0` },
    // They are there after `proposeChange`.
    { name: 'change-sets', path: '/ui/change-sets', heading: 'Change sets' },
    { name: 'change-set', path: '/ui/change-sets/1', heading: 'Faster shops in Europe' },
    { name: 'scopes', path: '/ui/scopes', heading: 'Scopes' },
  ];
}

function serverPages({ users, group, role, webhook }: Site): ConsolePage[] {
  const access = '/ui/access';
  return [
    { name: 'users', path: `${access}/users`, heading: 'Users' },
    { name: 'user', path: `${access}/users/${users.viewer.id}`, heading: users.viewer.username },
    { name: 'groups', path: `${access}/groups`, heading: 'Groups' },
    { name: 'group', path: `${access}/groups/${group.id}`, heading: group.name },
    { name: 'roles', path: `${access}/roles`, heading: 'Roles' },
    { name: 'role', path: `${access}/roles/${role.id}`, heading: role.name },
    { name: 'mappings', path: `${access}/mappings`, heading: 'Mappings' },
    { name: 'registration-keys', path: '/ui/registration-keys', heading: 'Registration keys' },
    { name: 'retention', path: '/ui/retention', heading: 'Retention' },
    { name: 'webhooks', path: '/ui/webhooks', heading: 'Webhooks' },
    // It has deliveries after `rollOutDatabase`.
    { name: 'webhook', path: `/ui/webhooks/${webhook.id}`, heading: webhook.host },
    { name: 'audit', path: '/ui/audit', heading: 'Audit' },
    { name: 'settings', path: '/ui/settings', heading: 'Settings' },
    { name: 'me', path: '/ui/me', heading: 'You' },
  ];
}

/** Pages as they look to somebody who may see nothing of them, and pages of what is not there. */
export function otherStatesOf(site: Site): ConsolePage[] {
  const user = 'nobody';
  const state = 'forbidden';
  return [
    { name: 'nodes-forbidden', path: '/ui/nodes', heading: 'Nodes', user, state },
    { name: 'reports-forbidden', path: '/ui/reports', heading: 'Reports', user, state },
    { name: 'users-forbidden', path: '/ui/access/users', heading: 'Users', user, state },
    { name: 'webhooks-forbidden', path: '/ui/webhooks', heading: 'Webhooks', user, state },
    { name: 'audit-forbidden', path: '/ui/audit', heading: 'Audit', user, state },
    { name: 'me-without-role', path: '/ui/me', heading: 'You', user },
    { name: 'nodes-none-found', path: '/ui/nodes?fqdn=no-such-node', heading: 'Nodes', state: 'empty' },
    { name: 'nodes-bad-filter', path: '/ui/nodes?status=Sometimes', heading: 'Nodes', state: 'error' },
    {
      ...{ name: 'configuration-missing', path: '/ui/configurations/no-such', heading: /./ },
      state: 'error',
    },
    {
      ...{ name: 'rollout-missing', path: '/ui/configurations/shop/rollouts/9.9.9', heading: /^Rollout/ },
      state: 'error',
    },
    {
      name: 'change-sets-none-found',
      path: '/ui/change-sets?state=Failed',
      heading: 'Change sets',
      state: 'empty',
    },
    { name: 'change-set-missing', path: '/ui/change-sets/99', heading: 'Change 99', state: 'error' },
    {
      name: 'change-set-of-viewer',
      path: '/ui/change-sets/1',
      heading: 'Faster shops in Europe',
      user: 'viewer',
    },
    {
      name: 'configuration-read-only',
      path: '/ui/configurations/os-baseline',
      heading: 'os-baseline',
      user: 'viewer',
    },
    {
      name: 'node-of-viewer',
      path: `/ui/nodes/${site.nodes.hostile.id}`,
      heading: site.nodes.hostile.fqdn,
      user: 'viewer',
    },
  ];
}
