/** The pages of people, keys, webhooks and settings. They are loaded together: few files are quicker than many, and the next page is there already. */

export { GroupPage } from './access/group.tsx';
export { GroupsPage } from './access/groups.tsx';
export { MappingsPage } from './access/mappings.tsx';
export { RolePage } from './access/role.tsx';
export { RolesPage } from './access/roles.tsx';
export { UserPage } from './access/user.tsx';
export { UsersPage } from './access/users.tsx';
export { RegistrationKeysPage } from './keys/registration-keys.tsx';
export { MePage } from './me/me.tsx';
export { RetentionPage } from './retention/retention.tsx';
export { SettingsPage } from './settings/settings.tsx';
export { WebhooksPage } from './webhooks/list.tsx';
export { WebhookPage } from './webhooks/webhook.tsx';
