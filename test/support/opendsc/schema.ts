/**
 * The tables of an OpenDSC server, with the names and types of all columns that are known. A type may be followed by `?`
 * for columns that may be null and by `> Table` for references. Tables come after those that they refer to.
 */

export type Columns = Record<string, string>;

const MADE = 'CreatedAt time, CreatedBy text?';
const CHANGED = 'CreatedAt time, UpdatedAt time?';
const MODIFIED = 'CreatedAt time, ModifiedAt time?';
const GRANT =
  'PrincipalType text, PrincipalId guid, PermissionLevel text, GrantedAt time, GrantedByUserId guid?';

export const TABLES: Readonly<Record<string, Columns>> = {
  __EFMigrationsHistory: columns('MigrationId text, ProductVersion text'),
  Users: columns(
    'Id guid, Username text, Email text, PasswordHash text?, PasswordSalt text?, AccountType text',
    'EmailConfirmed bool, RequirePasswordChange bool, LockoutEnd time?, AccessFailedCount int',
    'IsActive bool, Description text?, ManagedByGroupId guid?, CreatedByUserId guid?',
    MODIFIED,
  ),
  Groups: columns('Id guid, Name text, Description text?, IsSystemGroup bool', MODIFIED),
  Roles: columns('Id guid, Name text, Description text?, IsSystemRole bool, Permissions text', MODIFIED),
  UserGroups: columns('UserId guid > Users, GroupId guid > Groups'),
  UserRoles: columns('UserId guid > Users, RoleId guid > Roles'),
  GroupRoles: columns('GroupId guid > Groups, RoleId guid > Roles'),
  ExternalGroupMappings: columns(
    'Id guid, ExternalGroupId text, ExternalGroupName text?, Provider text, GroupId guid > Groups',
    MODIFIED,
  ),
  ExternalLogins: columns(
    'Id guid, UserId guid > Users, Provider text, ProviderKey text, ProviderDisplayName text?',
    'CreatedAt time',
  ),
  PersonalAccessTokens: columns(
    'Id guid, UserId guid > Users, Name text, TokenHash text, TokenPrefix text, Scopes text',
    'ExpiresAt time?, LastUsedAt time?, LastUsedIpAddress text?, IsRevoked bool, CreatedAt time',
    'RevokedAt time?',
  ),
  ScopeTypes: columns(
    'Id guid, Name text, Description text?, Precedence int, IsSystem bool, IsEnabled bool',
    'ValueMode int',
    CHANGED,
  ),
  ScopeValues: columns('Id guid, ScopeTypeId guid > ScopeTypes, Value text, Description text?', CHANGED),
  Configurations: columns('Id guid, Name text, Description text?, UseServerManagedParameters bool', CHANGED),
  ParameterSchemas: columns(
    'Id guid, ConfigurationId guid > Configurations, GeneratedJsonSchema text?, SchemaVersion text?',
    CHANGED,
  ),
  ConfigurationVersions: columns(
    'Id guid, ConfigurationId guid > Configurations, Version text, EntryPoint text',
    'ParameterSchemaId guid? > ParameterSchemas, Status int, PrereleaseChannel text?',
    MADE,
  ),
  ConfigurationFiles: columns(
    'Id guid, VersionId guid > ConfigurationVersions, RelativePath text, ContentType text?',
    'Checksum text, CreatedAt time',
  ),
  ConfigurationSettings: columns(
    'ConfigurationId guid > Configurations, EnforceSemverCompliance bool?, ParameterValidation text?',
    'RetentionEnabled bool?, RetentionKeepVersions int?, RetentionKeepDays int?',
    'RetentionKeepReleaseVersions bool?, UpdatedAt time, UpdatedBy text?',
  ),
  CompositeConfigurations: columns('Id guid, Name text, Description text?, EntryPoint text', CHANGED),
  CompositeConfigurationVersions: columns(
    'Id guid, CompositeConfigurationId guid > CompositeConfigurations, Version text, Status int',
    'PrereleaseChannel text?',
    MADE,
  ),
  CompositeConfigurationItems: columns(
    'Id guid, CompositeConfigurationVersionId guid > CompositeConfigurationVersions',
    'ChildConfigurationId guid > Configurations, ActiveVersion text?, MajorVersion int?, Order int',
  ),
  ParameterFiles: columns(
    'Id guid, ParameterSchemaId guid > ParameterSchemas, ConfigurationId guid? > Configurations',
    'ScopeTypeId guid > ScopeTypes, ScopeValue text?, Version text, MajorVersion int',
    'ContentType text?, Checksum text, Status int, IsPassthrough bool',
    MADE,
  ),
  ConfigurationPermissions: columns('Id guid, ConfigurationId guid > Configurations', GRANT),
  CompositeConfigurationPermissions: columns(
    'Id guid, CompositeConfigurationId guid > CompositeConfigurations',
    GRANT,
  ),
  ParameterPermissions: columns('Id guid, ParameterId guid > ParameterSchemas', GRANT),
  Nodes: columns(
    'Id guid, Fqdn text, ConfigurationName text?, ConfigurationSource int, ConfigurationMode int?',
    'ConfigurationModeInterval duration?, ReportCompliance bool?, DesiredConfigurationMode int?',
    'DesiredConfigurationModeInterval duration?, DesiredReportCompliance bool?',
    'CertificateThumbprint text, CertificateSubject text, CertificateNotAfter time, LastCheckIn time?',
    'Status text, LcmStatus text, CreatedAt time',
  ),
  NodeTags: columns('NodeId guid > Nodes, ScopeValueId guid > ScopeValues, AssignedAt time'),
  NodeConfigurations: columns(
    'NodeId guid > Nodes, ConfigurationId guid? > Configurations',
    'CompositeConfigurationId guid? > CompositeConfigurations, ActiveVersion text?',
    'ActiveCompositeVersion text?, ConfigurationVersionId guid? > ConfigurationVersions',
    'CompositeConfigurationVersionId guid? > CompositeConfigurationVersions, MajorVersion int?',
    'PrereleaseChannel text?, AssignedAt time',
  ),
  NodeStatusEvents: columns('Id serial, NodeId guid > Nodes, LcmStatus text?, Timestamp time'),
  Reports: columns(
    'Id guid, NodeId guid > Nodes, Timestamp time, Operation text, InDesiredState bool',
    'HadErrors bool, ResultJson text',
  ),
  RegistrationKeys: columns(
    'Id guid, Key text, ExpiresAt time, MaxUses int?, CurrentUses int, IsRevoked bool',
    'Description text?, CreatedAt time',
  ),
  ServerSettings: columns(
    'Id serial, CertificateRotationInterval duration, StalenessMultiplier real',
    'DefaultConfigurationMode int?, DefaultConfigurationModeInterval duration?',
    'DefaultReportCompliance bool?, RetentionEnabled bool, RetentionKeepVersions int',
    'RetentionKeepDays int, RetentionKeepReleaseVersions bool, RetentionScheduleInterval duration',
    'RetentionReportKeepCount int, RetentionReportKeepDays int, RetentionStatusEventKeepCount int',
    'RetentionStatusEventKeepDays int',
  ),
  ValidationSettings: columns(
    'Id guid, EnforceSemverCompliance bool, DefaultParameterValidation text',
    'AllowSemverComplianceOverride bool, AllowParameterValidationOverride bool, UpdatedAt time',
    'UpdatedBy text?',
  ),
  AuditLogs: columns(
    'Id guid, UserId guid?, Username text?, Action text, ResourceType text, ResourceId guid?',
    'Details text?, IpAddress text?, Timestamp time',
  ),
  RetentionRuns: columns(
    'Id guid, StartedAt time, CompletedAt time?, VersionType text, IsScheduled bool, IsDryRun bool',
    'DeletedCount int, KeptCount int, Error text?',
  ),
};

function columns(...lists: string[]): Columns {
  const entries = lists
    .flatMap((list) => list.split(', '))
    .map((column) => {
      const [name = '', ...type] = column.split(' ');
      return [name, type.join(' ')];
    });
  return Object.fromEntries(entries);
}
