/**
 * What stands in the database of an OpenDSC server, as rows with the names of its columns. Ids are GUIDs in lower case,
 * times are epoch milliseconds, durations are milliseconds. A time that stands for "never" is null.
 */

export type { FileFault, SourceFiles } from './files.ts';

/** The status of a version, of a composite's version and of a parameter file. */
export type SourceStatus = 'Draft' | 'Published';

export interface SourceScopeType {
  id: string;
  name: string;
  description: string | null;
  precedence: number;
  isSystem: boolean;
  isEnabled: boolean;
  valueMode: 'Unrestricted' | 'Restricted';
}

export interface SourceScopeValue {
  id: string;
  scopeTypeId: string;
  value: string;
  description: string | null;
}

export interface SourceUser {
  id: string;
  username: string;
  email: string;
  /** Base64 of 32 bytes; null for an account without a password. */
  passwordHash: string | null;
  /** Base64 of 16 bytes. */
  passwordSalt: string | null;
  accountType: 'User' | 'ServiceAccount';
  isActive: boolean;
  requirePasswordChange: boolean;
  lockoutEnd: number | null;
  accessFailedCount: number;
  description: string | null;
  createdAt: number | null;
}

export interface SourceGroup {
  id: string;
  name: string;
  description: string | null;
}

export interface SourceRole {
  id: string;
  name: string;
  description: string | null;
  isSystemRole: boolean;
  /** As they stand there; some may be unknown to us. */
  permissions: readonly string[];
}

export interface SourceUserGroup {
  userId: string;
  groupId: string;
}

export interface SourceUserRole {
  userId: string;
  roleId: string;
}

export interface SourceGroupRole {
  groupId: string;
  roleId: string;
}

export interface SourceGroupMapping {
  id: string;
  provider: string;
  externalGroupId: string;
  externalGroupName: string | null;
  groupId: string;
}

export interface SourceExternalLogin {
  userId: string;
  provider: string;
  providerKey: string;
}

export interface SourceServerSettings {
  certificateRotationInterval: number;
  stalenessMultiplier: number;
  defaultConfigurationMode: 'Monitor' | 'Remediate' | null;
  defaultConfigurationModeInterval: number | null;
  defaultReportCompliance: boolean | null;
  retentionEnabled: boolean;
  retentionKeepVersions: number;
  retentionKeepDays: number;
  retentionKeepReleaseVersions: boolean;
  retentionScheduleInterval: number;
  retentionReportKeepCount: number;
  retentionReportKeepDays: number;
  retentionStatusEventKeepCount: number;
  retentionStatusEventKeepDays: number;
}

export type SourceValidation = 'None' | 'Warn' | 'Strict';

export interface SourceValidationSettings {
  enforceSemverCompliance: boolean;
  defaultParameterValidation: SourceValidation;
  allowSemverComplianceOverride: boolean;
  allowParameterValidationOverride: boolean;
}

/** Null is inherited. */
export interface SourceConfigurationSettings {
  configurationId: string;
  enforceSemverCompliance: boolean | null;
  parameterValidation: SourceValidation | null;
  retentionEnabled: boolean | null;
  retentionKeepVersions: number | null;
  retentionKeepDays: number | null;
  retentionKeepReleaseVersions: boolean | null;
}

export interface SourceRegistrationKey {
  id: string;
  /** As it was given to agents. It must not be shown. */
  key: string;
  expiresAt: number | null;
  maxUses: number | null;
  currentUses: number;
  isRevoked: boolean;
  description: string | null;
  createdAt: number | null;
}

export interface SourceConfiguration {
  id: string;
  name: string;
  description: string | null;
  useServerManagedParameters: boolean;
  createdAt: number | null;
}

export interface SourceVersion {
  id: string;
  configurationId: string;
  version: string;
  entryPoint: string;
  /** Null for one without a `parameters` block. */
  parameterSchemaId: string | null;
  status: SourceStatus;
  createdAt: number | null;
  createdBy: string | null;
}

export interface SourceConfigurationFile {
  versionId: string;
  relativePath: string;
  /** SHA-256, hexadecimal in lower case. */
  checksum: string;
}

export interface SourceComposite {
  id: string;
  name: string;
  description: string | null;
  entryPoint: string;
  createdAt: number | null;
}

export interface SourceCompositeVersion {
  id: string;
  compositeConfigurationId: string;
  version: string;
  status: SourceStatus;
  createdAt: number | null;
  createdBy: string | null;
}

/** A child of a composite's version. They are served in the order of their ids. */
export interface SourceCompositeItem {
  id: string;
  compositeConfigurationVersionId: string;
  childConfigurationId: string;
  /** Null follows the newest version. */
  activeVersion: string | null;
  order: number;
}

export interface SourceParameterSchema {
  id: string;
  configurationId: string;
  generatedJsonSchema: string | null;
  schemaVersion: string | null;
  /** Null for one that was uploaded. */
  createdAt: number | null;
}

export interface SourceParameterFile {
  id: string;
  parameterSchemaId: string;
  scopeTypeId: string;
  /** Null for the scope type Default. */
  scopeValue: string | null;
  version: string;
  contentType: string | null;
  /** SHA-256, hexadecimal in lower case; `passthrough` where the scope is skipped. */
  checksum: string;
  status: SourceStatus;
  isPassthrough: boolean;
  createdAt: number | null;
  createdBy: string | null;
}

export interface SourceNode {
  id: string;
  fqdn: string;
  configurationSource: 'Local' | 'Pull';
  configurationMode: 'Monitor' | 'Remediate' | null;
  configurationModeInterval: number | null;
  reportCompliance: boolean | null;
  desiredConfigurationMode: 'Monitor' | 'Remediate' | null;
  desiredConfigurationModeInterval: number | null;
  desiredReportCompliance: boolean | null;
  /** SHA-1, hexadecimal in upper case. */
  certificateThumbprint: string;
  certificateSubject: string;
  certificateNotAfter: number | null;
  lastCheckIn: number | null;
  status: string;
  lcmStatus: string;
  createdAt: number | null;
}

export interface SourceNodeTag {
  nodeId: string;
  scopeValueId: string;
}

export interface SourceAssignment {
  nodeId: string;
  configurationId: string | null;
  compositeConfigurationId: string | null;
  majorVersion: number | null;
  prereleaseChannel: string | null;
}

/** `resourceId` is that of a configuration, of a composite, or of a schema of the configuration whose parameters they are. */
export interface SourceGrant {
  resourceId: string;
  principalType: 'User' | 'Group';
  principalId: string;
  permissionLevel: 'Read' | 'Modify' | 'Manage';
}

/** All that is read of the database, in one transaction. Lists are in the order of their ids where nothing else is said. */
export interface SourceSite {
  scopeTypes: readonly SourceScopeType[];
  scopeValues: readonly SourceScopeValue[];
  users: readonly SourceUser[];
  groups: readonly SourceGroup[];
  roles: readonly SourceRole[];
  userGroups: readonly SourceUserGroup[];
  userRoles: readonly SourceUserRole[];
  groupRoles: readonly SourceGroupRole[];
  groupMappings: readonly SourceGroupMapping[];
  externalLogins: readonly SourceExternalLogin[];
  /** Null where the server has no row. */
  serverSettings: SourceServerSettings | null;
  validationSettings: SourceValidationSettings | null;
  configurationSettings: readonly SourceConfigurationSettings[];
  registrationKeys: readonly SourceRegistrationKey[];
  configurations: readonly SourceConfiguration[];
  /** In the order in which they were made. */
  versions: readonly SourceVersion[];
  files: readonly SourceConfigurationFile[];
  composites: readonly SourceComposite[];
  /** In the order in which they were made. */
  compositeVersions: readonly SourceCompositeVersion[];
  compositeItems: readonly SourceCompositeItem[];
  parameterSchemas: readonly SourceParameterSchema[];
  /** In the order in which they were made. */
  parameterFiles: readonly SourceParameterFile[];
  nodes: readonly SourceNode[];
  nodeTags: readonly SourceNodeTag[];
  assignments: readonly SourceAssignment[];
  configurationGrants: readonly SourceGrant[];
  compositeGrants: readonly SourceGrant[];
  parameterGrants: readonly SourceGrant[];
  /** What is not carried over, by what an operator would call it, such as `reports`. */
  notCarried: readonly { kind: string; count: number; names: readonly string[] }[];
}
