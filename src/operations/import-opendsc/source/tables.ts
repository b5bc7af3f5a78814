/** The tables of an OpenDSC server that are read: which columns, and what their values mean. */

import {
  bool,
  type Column,
  duration,
  enumeration,
  filled,
  guid,
  integer,
  lowerCase,
  named,
  nullable,
  optional,
  real,
  secret,
  text,
  textList,
  time,
  upperCase,
} from './converters.ts';
import type { SourceGrant, SourceSite } from './site.ts';

/** One table, whose rows become values of the type `R`. A column has the name of its member in PascalCase. */
export interface SourceTable<R> {
  readonly name: string;
  readonly columns: { readonly [M in keyof R]-?: Column<R[M]> };
  /** Whether the rows come in the order in which they were made, by `CreatedAt`; otherwise in that of their ids. */
  readonly isByAge?: boolean;
  /** Whether a release may be without the table, which then has no rows. */
  readonly isOptional?: boolean;
}

/** The type of the rows that a member of the site holds. */
type RowOf<M extends keyof SourceSite> =
  NonNullable<SourceSite[M]> extends readonly (infer R)[] ? R : NonNullable<SourceSite[M]>;

type Tables = { readonly [M in Exclude<keyof SourceSite, 'notCarried'>]: SourceTable<RowOf<M>> };

const description = nullable(text);
const mode = nullable(enumeration('Monitor', 'Remediate'));
const validation = enumeration('None', 'Warn', 'Strict');
const status = enumeration('Draft', 'Published');
const version = { id: guid, version: text, status, createdAt: time, createdBy: filled };

/** By whose id `resourceId` is. */
const grantsOf = (table: string, resource: string): SourceTable<SourceGrant> => ({
  name: table,
  columns: {
    resourceId: named(resource, guid),
    principalType: enumeration('User', 'Group'),
    principalId: guid,
    permissionLevel: enumeration('Read', 'Modify', 'Manage'),
  },
});

/** What is known of people and of what they may do. */
const PEOPLE = {
  users: {
    name: 'Users',
    isByAge: true,
    columns: {
      id: guid,
      username: text,
      email: text,
      passwordHash: secret(filled),
      passwordSalt: secret(filled),
      accountType: enumeration('User', 'ServiceAccount'),
      isActive: bool,
      requirePasswordChange: bool,
      lockoutEnd: time,
      accessFailedCount: optional(integer, 0),
      description: optional(description, null),
      createdAt: optional(time, null),
    },
  },
  groups: {
    name: 'Groups',
    columns: { id: guid, name: text, description },
  },
  roles: {
    name: 'Roles',
    columns: { id: guid, name: text, description, isSystemRole: bool, permissions: textList },
  },
  userGroups: { name: 'UserGroups', columns: { userId: guid, groupId: guid } },
  userRoles: { name: 'UserRoles', columns: { userId: guid, roleId: guid } },
  groupRoles: { name: 'GroupRoles', columns: { groupId: guid, roleId: guid } },
  groupMappings: {
    name: 'ExternalGroupMappings',
    columns: {
      id: guid,
      provider: text,
      externalGroupId: text,
      externalGroupName: nullable(text),
      groupId: guid,
    },
  },
  externalLogins: {
    name: 'ExternalLogins',
    isOptional: true,
    columns: { userId: guid, provider: text, providerKey: text },
  },
  configurationGrants: grantsOf('ConfigurationPermissions', 'ConfigurationId'),
  compositeGrants: grantsOf('CompositeConfigurationPermissions', 'CompositeConfigurationId'),
  parameterGrants: grantsOf('ParameterPermissions', 'ParameterId'),
} satisfies Partial<Tables>;

const SETTINGS = {
  serverSettings: {
    name: 'ServerSettings',
    columns: {
      certificateRotationInterval: duration,
      stalenessMultiplier: real,
      defaultConfigurationMode: mode,
      defaultConfigurationModeInterval: nullable(duration),
      defaultReportCompliance: nullable(bool),
      retentionEnabled: bool,
      retentionKeepVersions: integer,
      retentionKeepDays: integer,
      retentionKeepReleaseVersions: bool,
      retentionScheduleInterval: duration,
      retentionReportKeepCount: integer,
      retentionReportKeepDays: integer,
      retentionStatusEventKeepCount: integer,
      retentionStatusEventKeepDays: integer,
    },
  },
  validationSettings: {
    name: 'ValidationSettings',
    columns: {
      enforceSemverCompliance: bool,
      defaultParameterValidation: validation,
      allowSemverComplianceOverride: bool,
      allowParameterValidationOverride: bool,
    },
  },
  configurationSettings: {
    name: 'ConfigurationSettings',
    columns: {
      configurationId: guid,
      enforceSemverCompliance: nullable(bool),
      parameterValidation: nullable(validation),
      retentionEnabled: nullable(bool),
      retentionKeepVersions: nullable(integer),
      retentionKeepDays: nullable(integer),
      retentionKeepReleaseVersions: nullable(bool),
    },
  },
  registrationKeys: {
    name: 'RegistrationKeys',
    columns: {
      id: guid,
      key: secret(text),
      expiresAt: time,
      maxUses: nullable(integer),
      currentUses: integer,
      isRevoked: bool,
      description: optional(description, null),
      createdAt: optional(time, null),
    },
  },
} satisfies Partial<Tables>;

const CONFIGURATIONS = {
  configurations: {
    name: 'Configurations',
    isByAge: true,
    columns: { id: guid, name: text, description, useServerManagedParameters: bool, createdAt: time },
  },
  versions: {
    name: 'ConfigurationVersions',
    isByAge: true,
    columns: {
      ...{ ...version, configurationId: guid, entryPoint: text },
      parameterSchemaId: optional(nullable(guid), null),
    },
  },
  files: {
    name: 'ConfigurationFiles',
    columns: { versionId: guid, relativePath: text, checksum: lowerCase },
  },
  composites: {
    name: 'CompositeConfigurations',
    isByAge: true,
    columns: { id: guid, name: text, description, entryPoint: text, createdAt: time },
  },
  compositeVersions: {
    name: 'CompositeConfigurationVersions',
    isByAge: true,
    columns: { ...version, compositeConfigurationId: guid },
  },
  compositeItems: {
    name: 'CompositeConfigurationItems',
    columns: {
      id: guid,
      compositeConfigurationVersionId: guid,
      childConfigurationId: guid,
      activeVersion: filled,
      order: integer,
    },
  },
} satisfies Partial<Tables>;

const PARAMETERS = {
  scopeTypes: {
    name: 'ScopeTypes',
    columns: {
      id: guid,
      name: text,
      description,
      precedence: integer,
      isSystem: bool,
      isEnabled: optional(bool, true),
      valueMode: enumeration('Unrestricted', 'Restricted'),
    },
  },
  scopeValues: { name: 'ScopeValues', columns: { id: guid, scopeTypeId: guid, value: text, description } },
  parameterSchemas: {
    name: 'ParameterSchemas',
    columns: {
      id: guid,
      configurationId: guid,
      generatedJsonSchema: nullable(text),
      schemaVersion: nullable(text),
      createdAt: time,
    },
  },
  parameterFiles: {
    name: 'ParameterFiles',
    isByAge: true,
    columns: {
      ...version,
      parameterSchemaId: guid,
      scopeTypeId: guid,
      scopeValue: filled,
      contentType: nullable(text),
      checksum: lowerCase,
      isPassthrough: optional(bool, false),
    },
  },
} satisfies Partial<Tables>;

const NODES = {
  nodes: {
    name: 'Nodes',
    isByAge: true,
    columns: {
      id: guid,
      fqdn: text,
      configurationSource: enumeration('Local', 'Pull'),
      configurationMode: mode,
      configurationModeInterval: nullable(duration),
      reportCompliance: nullable(bool),
      desiredConfigurationMode: mode,
      desiredConfigurationModeInterval: nullable(duration),
      desiredReportCompliance: nullable(bool),
      certificateThumbprint: upperCase,
      certificateSubject: text,
      certificateNotAfter: time,
      lastCheckIn: time,
      status: text,
      lcmStatus: text,
      createdAt: time,
    },
  },
  nodeTags: { name: 'NodeTags', columns: { nodeId: guid, scopeValueId: guid } },
  assignments: {
    name: 'NodeConfigurations',
    columns: {
      nodeId: guid,
      configurationId: nullable(guid),
      compositeConfigurationId: nullable(guid),
      majorVersion: nullable(integer),
      prereleaseChannel: filled,
    },
  },
} satisfies Partial<Tables>;

export const TABLES: Tables = { ...PARAMETERS, ...PEOPLE, ...SETTINGS, ...CONFIGURATIONS, ...NODES };
