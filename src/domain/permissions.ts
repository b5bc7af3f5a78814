/** The permissions that roles hold, the scopes that tokens may name, the ladder of grants, the built-in roles. */

export const PERMISSIONS = {
  'server.settings.read': 'Read the server settings',
  'server.settings.write': 'Change the server settings',
  'users.manage': 'Create, change and delete users, reset passwords, set roles of users',
  'groups.manage': 'Create, change and delete groups, their members, roles and external mappings',
  'roles.manage': 'Create, change and delete roles',
  'registration-keys.manage': 'Create, list and revoke registration keys',
  'nodes.read': 'Read nodes, their tags and status history',
  'nodes.write': 'Change node settings and tags',
  'nodes.delete': 'Delete nodes',
  'nodes.assign-configuration': 'Assign configurations to nodes',
  'reports.read': 'Read the reports of a node',
  'reports.read-all': 'Read the reports of all nodes',
  'retention.manage': 'Run retention and read its history',
  'configurations.create': 'Create configurations',
  'configurations.admin-override': 'Manage every configuration without a grant',
  'composite-configurations.create': 'Create composite configurations',
  'composite-configurations.admin-override': 'Manage every composite configuration without a grant',
  'parameters.admin-override': 'Manage the parameters of every configuration without a grant',
  'scopes.admin-override': 'Change scope types and scope values',
  'audit.read': 'Read the audit trail',
  'rollouts.manage': 'Roll versions out, and pause, halt, approve and complete rollouts',
  'webhooks.manage': 'Manage webhooks and read the feed of events',
  'secrets.reveal': 'See secrets of readable parameters in the clear',
} as const;

export type Permission = keyof typeof PERMISSIONS;
export const PERMISSION_NAMES = Object.keys(PERMISSIONS) as Permission[];

/** In no built-in role. As nobody hands out what they lack, its first holder is made on the server (`hawser allow-reveal`). */
export const REVEAL: Permission = 'secrets.reveal';

/** What a grant can be held on. */
export type GrantKind = 'configuration' | 'composite' | 'parameters';

/** For each kind, the token scope that lets a token use its owner's grants, and the permission above all grants. */
export const GRANT_RULES: Record<GrantKind, { scope: string; override: Permission }> = {
  configuration: { scope: 'configurations.grants', override: 'configurations.admin-override' },
  composite: {
    scope: 'composite-configurations.grants',
    override: 'composite-configurations.admin-override',
  },
  parameters: { scope: 'parameters.grants', override: 'parameters.admin-override' },
};

/** Every scope a token may name. */
export const TOKEN_SCOPES: ReadonlySet<string> = new Set([
  ...PERMISSION_NAMES,
  ...Object.values(GRANT_RULES).map((rule) => rule.scope),
]);

export type GrantLevel = 'Read' | 'Modify' | 'Manage';
/** Each gives what those before it give. */
export const GRANT_LEVELS: readonly GrantLevel[] = ['Read', 'Modify', 'Manage'];

/** Whether the level that is held is enough for the level that is needed. Null means that none is held. */
export function reaches(held: GrantLevel | null, needed: GrantLevel): boolean {
  return held !== null && GRANT_LEVELS.indexOf(held) >= GRANT_LEVELS.indexOf(needed);
}

/** The highest of several levels, or null if there are none. */
export function highestLevel(levels: readonly GrantLevel[]): GrantLevel | null {
  return levels.reduce<GrantLevel | null>((best, level) => (reaches(best, level) ? best : level), null);
}

/** The lower of two levels. Null is lower than any level. */
export function lowerLevel(one: GrantLevel | null, other: GrantLevel | null): GrantLevel | null {
  return other === null || reaches(one, other) ? other : one;
}

export interface BuiltInRole {
  id: string;
  name: string;
  description: string;
  permissions: readonly Permission[];
}

/** The ids are the same on every server, so that code and scripts can name these roles. */
export const ADMINISTRATOR_ROLE_ID = '00000000-0000-0000-0000-000000000011';
export const OPERATOR_ROLE_ID = '00000000-0000-0000-0000-000000000012';

export const BUILT_IN_ROLES: readonly BuiltInRole[] = [
  {
    id: ADMINISTRATOR_ROLE_ID,
    name: 'Administrator',
    description: 'May do everything but see secrets in the clear',
    permissions: PERMISSION_NAMES.filter((name) => name !== REVEAL),
  },
  {
    id: OPERATOR_ROLE_ID,
    name: 'Operator',
    description: 'Runs the fleet',
    permissions: [
      'nodes.read',
      'nodes.write',
      'nodes.assign-configuration',
      'reports.read',
      'reports.read-all',
      'server.settings.read',
      'configurations.create',
      'composite-configurations.create',
      'rollouts.manage',
    ],
  },
  {
    id: '00000000-0000-0000-0000-000000000013',
    name: 'Author',
    description: 'Writes configurations',
    permissions: ['configurations.create', 'composite-configurations.create', 'nodes.read', 'reports.read'],
  },
  {
    id: '00000000-0000-0000-0000-000000000014',
    name: 'Viewer',
    description: 'Looks on',
    permissions: ['nodes.read', 'reports.read', 'server.settings.read'],
  },
];

export const BUILT_IN_GROUPS = [
  {
    id: '00000000-0000-0000-0000-000000000021',
    name: 'Administrators',
    description: 'May do everything',
    roleId: ADMINISTRATOR_ROLE_ID,
  },
  {
    id: '00000000-0000-0000-0000-000000000022',
    name: 'Operators',
    description: 'Run the fleet',
    roleId: OPERATOR_ROLE_ID,
  },
] as const;
