/** All commands, in the order in which the help lists them. */

import { api } from './commands/api.ts';
import { AUDIT_COMMANDS } from './commands/audit.ts';
import { CHANGE_COMMANDS } from './commands/change.ts';
import { completionCommand } from './commands/completion.ts';
import { COMPOSITE_COMMANDS } from './commands/composite.ts';
import { CONFIG_COMMANDS } from './commands/config.ts';
import { events } from './commands/events.ts';
import { FREEZE_COMMANDS } from './commands/freeze.ts';
import { GROUP_COMMANDS } from './commands/group.ts';
import { hosts, whoami } from './commands/hosts.ts';
import { KEY_COMMANDS } from './commands/key.ts';
import { login } from './commands/login.ts';
import { logout } from './commands/logout.ts';
import { NODE_COMMANDS } from './commands/node.ts';
import { PARAM_COMMANDS } from './commands/param.ts';
import { fleet } from './commands/past.ts';
import { proof } from './commands/proof.ts';
import { REPORT_COMMANDS } from './commands/report.ts';
import { RETENTION_COMMANDS } from './commands/retention.ts';
import { ROLE_COMMANDS } from './commands/role.ts';
import { ROLLOUT_COMMANDS } from './commands/rollout.ts';
import { SCOPE_COMMANDS } from './commands/scope.ts';
import { SECRET_COMMANDS } from './commands/secret.ts';
import { SETTINGS_COMMANDS } from './commands/settings.ts';
import { TOKEN_COMMANDS } from './commands/token.ts';
import { USER_COMMANDS } from './commands/user.ts';
import { WEBHOOK_COMMANDS } from './commands/webhook.ts';
import type { Command } from './declaration.ts';

export const PROGRAM = 'hawserctl';

/** What groups of commands are about, by their first word. */
export const GROUPS: Readonly<Record<string, string>> = {
  config: 'configurations and their versions',
  composite: 'composites of configurations, and their versions',
  param: 'parameters of a configuration, by scope',
  secret: 'secrets among parameters: encrypting them, and seeing one',
  scope: 'scope types, such as Environment, and their values',
  node: 'nodes, what they are assigned and what they run',
  report: 'what nodes have reported',
  change: 'many deeds as one proposal, which is applied and taken back as one',
  rollout: 'versions that reach the nodes ring by ring',
  key: 'registration keys, with which machines become nodes',
  user: 'people and service accounts, and the roles that they hold',
  group: 'groups, their members, and the roles that they hold',
  role: 'roles, which are sets of permissions',
  token: 'tokens of your own, and those of service accounts',
  webhook: 'whom the server calls with events',
  audit: 'who did what',
  retention: 'what was cleaned up, and cleanups by hand',
  settings: 'the settings of the server',
  freeze: 'a time in which nobody may change what nodes get',
};

export const COMMANDS: readonly Command[] = [
  ...[login, logout, hosts, whoami],
  ...CONFIG_COMMANDS,
  ...COMPOSITE_COMMANDS,
  ...PARAM_COMMANDS,
  ...SECRET_COMMANDS,
  ...SCOPE_COMMANDS,
  ...NODE_COMMANDS,
  fleet,
  ...REPORT_COMMANDS,
  proof,
  ...CHANGE_COMMANDS,
  ...ROLLOUT_COMMANDS,
  ...KEY_COMMANDS,
  ...USER_COMMANDS,
  ...GROUP_COMMANDS,
  ...ROLE_COMMANDS,
  ...TOKEN_COMMANDS,
  ...WEBHOOK_COMMANDS,
  events,
  ...AUDIT_COMMANDS,
  ...RETENTION_COMMANDS,
  ...SETTINGS_COMMANDS,
  ...FREEZE_COMMANDS,
  api,
  completionCommand(PROGRAM, () => COMMANDS),
];
