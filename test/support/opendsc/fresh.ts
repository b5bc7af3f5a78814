/** What an OpenDSC server has after its first start. */

import type { Named } from './options.ts';
import type { OpenDscSite } from './site.ts';
import { hashPassword } from './values.ts';

const HOUR = 3_600_000;

const ADMINISTRATOR = [
  ...['server.settings.read', 'server.settings.write', 'users.manage', 'groups.manage', 'roles.manage'],
  ...['registration-keys.manage', 'nodes.read', 'nodes.write', 'nodes.delete', 'nodes.assign-configuration'],
  ...['reports.read', 'reports.read-all', 'retention.manage', 'configurations.admin-override'],
  ...['composite-configurations.admin-override', 'parameters.admin-override', 'scopes.admin-override'],
];
const OPERATOR = [
  'nodes.read',
  'nodes.write',
  'nodes.assign-configuration',
  'reports.read',
  'server.settings.read',
];
const VIEWER = ['server.settings.read', 'reports.read'];

/** Takes 30 ms, so it is made once. */
let adminPassword: ReturnType<typeof hashPassword> | undefined;

/** Adds it all. The password of `admin` is `admin`, and has to be changed. */
export function addFreshRows(site: OpenDscSite): { defaultScope: Named; nodeScope: Named; admin: Named } {
  site.add('__EFMigrationsHistory', { MigrationId: '20260105080000_Initial', ProductVersion: '10.0.1' });
  const system = { IsSystemRole: true };
  const administrator = site.role({ name: 'Administrator', permissions: ADMINISTRATOR, columns: system });
  site.role({ name: 'Operator', permissions: OPERATOR, columns: system });
  site.role({ name: 'Viewer', permissions: VIEWER, columns: system });
  const administrators = site.group({
    name: 'Administrators',
    columns: { Description: 'Default group for administrators' },
  });
  site.group({ name: 'Operators', columns: { Description: 'Default group for operators' } });
  adminPassword ??= hashPassword('admin');
  const admin = site.user({
    username: 'admin',
    password: null,
    columns: { ...adminPassword, Email: 'admin@localhost', RequirePasswordChange: true },
  });
  site.member({ user: admin, role: administrator });
  site.member({ user: admin, group: administrators });
  site.member({ group: administrators, role: administrator });
  addSettings(site);
  return { ...addScopes(site), admin };
}

function addScopes(site: OpenDscSite): { defaultScope: Named; nodeScope: Named } {
  const add = (number: number, name: string, precedence: number) => {
    const id = `00000000-0000-0000-0000-00000000000${number}`;
    const columns = { Precedence: precedence, IsSystem: true, IsEnabled: true, ValueMode: 0 };
    site.add('ScopeTypes', { Id: id, Name: name, ...columns });
    return { id, name };
  };
  return { defaultScope: add(1, 'Default', 0), nodeScope: add(2, 'Node', 100) };
}

function addSettings(site: OpenDscSite): void {
  site.add('ServerSettings', {
    CertificateRotationInterval: 60 * 24 * HOUR,
    StalenessMultiplier: 2,
    RetentionKeepVersions: 10,
    RetentionKeepDays: 90,
    RetentionKeepReleaseVersions: true,
    RetentionScheduleInterval: 24 * HOUR,
    RetentionReportKeepCount: 1_000,
    RetentionReportKeepDays: 30,
    RetentionStatusEventKeepCount: 200,
    RetentionStatusEventKeepDays: 7,
  });
  site.add('ValidationSettings', {
    Id: '00000000-0000-0000-0000-000000000001',
    EnforceSemverCompliance: true,
    DefaultParameterValidation: 'Strict',
    AllowSemverComplianceOverride: true,
    AllowParameterValidationOverride: true,
  });
}
