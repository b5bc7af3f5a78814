/** Shapes of nodes. */

import { z } from 'zod';
import { isChannel } from '../../domain/version-choice.ts';
import { choice, Duration, Flag, Id, Instant, Paging, Timestamp } from '../../http/schemas.ts';

export const NodeStatus = choice('Unknown', 'Compliant', 'NonCompliant', 'Error');
export const LcmStatus = choice('Unknown', 'Idle', 'Downloading', 'Testing', 'Remediating', 'Error');
export const ConfigurationSource = choice('Local', 'Pull');
export const ConfigurationMode = choice('Monitor', 'Remediate');

const lcmSettings = {
  configurationMode: ConfigurationMode.nullish(),
  configurationModeInterval: Duration.nullish(),
  reportCompliance: z.boolean().nullish(),
};

/** A node's body, like those below: members it does not know are ignored, since agents of other releases send them. */
export const Registration = z.object({
  registrationKey: z.string().min(1).max(512),
  fqdn: z.string().min(1).max(1_024),
  configurationSource: ConfigurationSource.nullish(),
  ...lcmSettings,
  csr: z.string().max(32_768).nullish(),
});

export const Registered = z.object({
  nodeId: Id,
  certificate: z.string().optional(),
  caCertificate: z.string().optional(),
});

export const ReportedConfig = z.object(lcmSettings);

export const LcmStatusChange = z.object({ lcmStatus: LcmStatus });

export const LcmConfigChange = z.strictObject(lcmSettings);

export const LcmConfig = z.object({
  configurationMode: ConfigurationMode.nullable(),
  configurationModeInterval: z.string().nullable(),
  reportCompliance: z.boolean().nullable(),
  certificateRotationInterval: z.string(),
});

export const StatusEventFilter = Paging.extend({
  take: Paging.shape.take.unwrap().default(50),
  from: Instant.optional(),
  to: Instant.optional(),
}).refine(({ from, to }) => from === undefined || to === undefined || from <= to, {
  path: ['to'],
  message: 'Before from',
});

export const StatusEvent = z.object({
  id: z.int(),
  nodeId: Id,
  lcmStatus: LcmStatus.nullable(),
  status: NodeStatus.nullable(),
  timestamp: Timestamp,
});

export const NodeFilter = Paging.extend({
  fqdn: z.string().max(253).optional(),
  status: NodeStatus.optional(),
  lcmStatus: LcmStatus.optional(),
  configurationName: z.string().max(128).optional(),
  stale: Flag.optional(),
  scopeValueId: z.guid().optional(),
});

const nodeSummary = {
  id: Id,
  fqdn: z.string(),
  configurationName: z.string().nullable(),
  status: NodeStatus,
  lcmStatus: LcmStatus,
  isStale: z.boolean(),
  lastCheckIn: Timestamp.nullable(),
  createdAt: Timestamp,
  configurationSource: ConfigurationSource.nullable(),
  configurationMode: ConfigurationMode.nullable(),
  configurationModeInterval: z.string().nullable(),
  reportCompliance: z.boolean().nullable(),
  desiredConfigurationMode: ConfigurationMode.nullable(),
  desiredConfigurationModeInterval: z.string().nullable(),
  desiredReportCompliance: z.boolean().nullable(),
};

export const NodeSummary = z.object(nodeSummary);

export const NodeTag = z.object({
  nodeId: Id,
  scopeValueId: Id,
  scopeTypeId: Id,
  scopeTypeName: z.string(),
  scopeValue: z.string(),
  precedence: z.int(),
  assignedAt: Timestamp,
});

export const NodeDetails = z.object({
  ...nodeSummary,
  certificate: z.object({
    thumbprint: z.string(),
    subject: z.string(),
    notBefore: Timestamp,
    notAfter: Timestamp,
    pendingThumbprint: z.string().nullable(),
  }),
  assignment: z
    .object({
      configurationName: z.string(),
      isComposite: z.boolean(),
      majorVersion: z.int().nullable(),
      prereleaseChannel: z.string().nullable(),
      resolvedVersion: z.string().nullable(),
    })
    .nullable(),
  tags: z.array(NodeTag),
  parameterProblems: z.int(),
});

export const NewTag = z.strictObject({ scopeValueId: z.guid().transform((id) => id.toLowerCase()) });

export const NewAssignment = z.strictObject({
  configurationName: z.string().min(1).max(128),
  isComposite: z.boolean().nullish(),
  majorVersion: z.int().min(0).nullish(),
  prereleaseChannel: z.string().refine(isChannel, 'Not a SemVer prerelease such as rc or beta.2').nullish(),
});
