/** Shapes of nodes. */

import { z } from 'zod';
import { EVIDENCE, LCM_STATUSES, NODE_STATUSES } from '../../db/node-tables.ts';
import { choice, Flag, historyFilter, Id, IdInAnyCase, Paging, Timestamp } from '../../http/schemas.ts';
import { isId } from '../../lib/ids.ts';
import { AssignmentView } from '../shared/assignment-schemas.ts';
import { ConfigurationMode, LCM_SETTINGS, LcmConfigChange } from '../shared/deed-schemas.ts';
import { GIVEN, MAX_TAGS } from '../shared/given-schemas.ts';
import { Cause, REPORT_EXAMPLE, ReportSummary } from '../shared/report-summaries.ts';
import { RUNNING_EXAMPLE, Running } from './running-view.ts';

/** Values of the examples in the OpenAPI document. */
const SUMMARY = {
  id: '7d1e0f3a-52c4-4e0b-8f1d-3a9b6c5d4e21',
  fqdn: 'web-01.example.com',
  configurationName: 'web-server',
  status: 'Compliant',
  statusSince: '2026-11-19T21:00:00.000Z',
  statusReason: null,
  lcmStatus: 'Idle',
  isStale: false,
  lastCheckIn: '2026-11-20T09:08:00.000Z',
  createdAt: '2026-11-02T07:30:12.345Z',
  configurationSource: 'Pull',
  configurationMode: 'Monitor',
  configurationModeInterval: '00:15:00',
  reportCompliance: true,
  desiredConfigurationMode: null,
  desiredConfigurationModeInterval: null,
  desiredReportCompliance: null,
  parameterProblems: 0,
  offeredVersion: '1.2.0',
  running: { version: '1.2.0', evidence: 'Declared', configurationName: 'web-server', isComposite: false },
};
const TAG = {
  nodeId: '7d1e0f3a-52c4-4e0b-8f1d-3a9b6c5d4e21',
  scopeValueId: 'c0ffee00-1d2c-4b3a-8495-a6b7c8d9e0f1',
  scopeTypeId: '9e8d7c6b-5a49-4382-9716-05f4e3d2c1b0',
  scopeTypeName: 'Environment',
  scopeValue: 'production',
  precedence: 1,
  assignedAt: '2026-11-20T09:08:00.000Z',
};

export const NodeStatus = choice(...NODE_STATUSES);
export const LcmStatus = choice(...LCM_STATUSES);
export const Evidence = choice(...EVIDENCE);
export const ConfigurationSource = choice('Local', 'Pull');

/** In all bodies that nodes send, unknown members are ignored, since agents of other releases send them. */
export const Registration = z
  .object({
    registrationKey: z.string().min(1).max(512),
    fqdn: z
      .string()
      .min(1)
      .max(1_024)
      .meta({
        description:
          'A host name of at most 253 characters, kept in lower case and without a dot at its end; single labels too. ' +
          'Underscores are taken. Letters outside ASCII come in punycode (`xn--...`)',
      }),
    configurationSource: ConfigurationSource.nullish()
      .transform((source) => source ?? 'Pull')
      .meta({ description: 'Default `Pull`' }),
    ...LCM_SETTINGS,
    csr: z
      .string()
      .max(32_768)
      .nullish()
      .meta({ description: 'PKCS#10 in PEM, in place of a client certificate' }),
  })
  .meta({
    id: 'NodeRegistration',
    examples: [
      {
        registrationKey: 'reg_Yl0sT4mWc8ZrE1uJfHnAoPdGi5K6v3BtXyQ9kQ2xVb7',
        fqdn: 'web-01.example.com',
        configurationSource: 'Pull',
        configurationMode: 'Monitor',
        configurationModeInterval: '00:15:00',
        reportCompliance: true,
      },
    ],
  });

export const Registered = z
  .object({
    nodeId: Id,
    certificate: z.string().optional().meta({ description: 'PEM, issued for the csr' }),
    caCertificate: z.string().optional().meta({ description: 'PEM, of the authority that issued it' }),
  })
  .meta({ id: 'RegisteredNode', examples: [{ nodeId: '7d1e0f3a-52c4-4e0b-8f1d-3a9b6c5d4e21' }] });

export const ReportedConfig = z.object(LCM_SETTINGS).meta({
  id: 'ReportedLcmConfig',
  examples: [{ configurationMode: 'Monitor', configurationModeInterval: '00:15:00', reportCompliance: true }],
});

export const LcmStatusChange = z
  .object({ lcmStatus: LcmStatus })
  .meta({ id: 'LcmStatusChange', examples: [{ lcmStatus: 'Testing' }] });

export const LcmConfig = z
  .object({
    configurationMode: ConfigurationMode.nullable(),
    configurationModeInterval: z.string().nullable(),
    reportCompliance: z.boolean().nullable(),
    certificateRotationInterval: z
      .string()
      .meta({ description: 'How old the node lets its certificate grow' }),
  })
  .meta({
    id: 'LcmConfig',
    examples: [
      {
        configurationMode: 'Remediate',
        configurationModeInterval: '01:00:00',
        reportCompliance: null,
        certificateRotationInterval: '60.00:00:00',
      },
    ],
  });

export const StatusEventFilter = historyFilter({ take: Paging.shape.take.unwrap().default(50) });

export const StatusEvent = z
  .object({
    id: z.int(),
    nodeId: Id,
    lcmStatus: LcmStatus.nullable().meta({
      description: 'Null where the event is a change of the compliance status',
    }),
    status: NodeStatus.nullable().meta({ description: 'Null where the event is a change of the LCM status' }),
    timestamp: Timestamp,
  })
  .meta({
    id: 'StatusEvent',
    examples: [
      {
        id: 4711,
        nodeId: '7d1e0f3a-52c4-4e0b-8f1d-3a9b6c5d4e21',
        lcmStatus: 'Testing',
        status: null,
        timestamp: '2026-11-20T09:08:00.000Z',
      },
    ],
  });

/** One id, or several. A fault is one of the member as a whole, as of all members of queries. */
function readTags(given: unknown, context: z.RefinementCtx): string[] {
  const ids = [given].flat().map((id) => (typeof id === 'string' ? id.toLowerCase() : ''));
  if (ids.length > 0 && ids.length <= MAX_TAGS && ids.every(isId)) return ids;
  context.addIssue({ code: 'invalid_format', format: 'guid', input: String(given) });
  return z.NEVER;
}

const SortOrder = choice(
  ...(['fqdn', 'lastCheckIn', 'createdAt', 'status'] as const),
  ...(['-fqdn', '-lastCheckIn', '-createdAt', '-status'] as const),
);

export const NodeFilter = Paging.extend({
  fqdn: z.string().max(253).optional().meta({ description: 'Any part of the name, in any case' }),
  status: NodeStatus.optional(),
  lcmStatus: LcmStatus.optional(),
  configurationName: z.string().max(128).optional().meta({ description: 'Of what is assigned, exactly' }),
  stale: Flag.optional(),
  scopeValueId: z
    .unknown()
    .transform(readTags)
    .optional()
    .meta({
      description: 'Nodes with this tag; with each of them, where it is given several times',
      published: { type: 'array', items: { type: 'string', format: 'uuid' } },
    }),
  withoutScopeTypeId: IdInAnyCase.optional().meta({ description: 'Nodes without a tag of this scope type' }),
  unassigned: Flag.optional().meta({ description: 'Whether nothing is assigned' }),
  version: z
    .string()
    .max(128)
    .optional()
    .meta({ description: 'The version that the assignment gives now, as `offeredVersion`' }),
  evidence: Evidence.optional().meta({ description: 'How the server knows what the node runs' }),
  certificateExpiring: Flag.optional().meta({
    description: 'Whether the certificate ends within 30 days, or has ended',
  }),
  awaiting: Flag.optional().meta({
    description:
      'Whether the node has not shown its certificate yet: it is expected, or came from another server',
  }),
  registrationKeyId: IdInAnyCase.optional().meta({
    description: 'Nodes that have registered last by this key',
  }),
  hasParameterProblems: Flag.optional().meta({
    description: 'A node of which `parameterProblems` is null is met by neither',
  }),
  sort: SortOrder.default('fqdn').meta({
    description: 'With `-` before it falling. Equal ones stand by fqdn; null comes first when rising',
  }),
});

const nodeSummary = {
  id: Id,
  fqdn: z.string(),
  configurationName: z.string().nullable(),
  status: NodeStatus,
  lcmStatus: LcmStatus,
  isStale: z
    .boolean()
    .meta({ description: 'Whether the last call is older than the interval allows; false while unknown' }),
  lastCheckIn: Timestamp.nullable().meta({ description: 'The last call of the node, at most 2 s late' }),
  createdAt: Timestamp,
  configurationSource: ConfigurationSource.nullable(),
  configurationMode: ConfigurationMode.nullable().meta({ description: 'As the node has reported it' }),
  configurationModeInterval: z.string().nullable().meta({ description: 'As the node has reported it' }),
  reportCompliance: z.boolean().nullable().meta({ description: 'As the node has reported it' }),
  desiredConfigurationMode: ConfigurationMode.nullable().meta({
    description: 'Null leaves it to the defaults',
  }),
  desiredConfigurationModeInterval: z.string().nullable(),
  desiredReportCompliance: z.boolean().nullable(),
  statusSince: Timestamp.meta({ description: 'When the status became what it is' }),
  statusReason: z.string().nullable().meta({
    description: 'What is wrong, in one line, as `statusCause` of the node has it; null where nothing is',
  }),
  offeredVersion: z
    .string()
    .nullable()
    .meta({ description: 'What the assignment gives now; null where it gives nothing' }),
  running: z
    .object({
      version: z
        .string()
        .nullable()
        .meta({ description: 'Null where it is not known which version has this checksum' }),
      evidence: Evidence,
      configurationName: z
        .string()
        .nullable()
        .meta({ description: 'What the version is of, which may be another one than what is assigned' }),
      isComposite: z.boolean().nullable().meta({ description: 'Null together with the name' }),
    })
    .nullable()
    .meta({ description: 'What the node runs, as far as the server knows' }),
  parameterProblems: z
    .int()
    .nullable()
    .meta({
      description:
        'How many faults the parameters have that the node gets, merged; 0 where it gets nothing; null while what it ' +
        'gets cannot be read',
    }),
};

export const NodeSummary = z.object(nodeSummary).meta({ id: 'NodeSummary', examples: [SUMMARY] });

export const NodeTag = z
  .object({
    nodeId: Id,
    scopeValueId: Id,
    scopeTypeId: Id,
    scopeTypeName: z.string(),
    scopeValue: z.string(),
    precedence: z.int(),
    assignedAt: Timestamp,
  })
  .meta({ id: 'NodeTag', examples: [TAG] });

const AWAITING = 'SHA-1, upper-case hex, while a node of another server has not called yet; null afterwards';

const Certificate = z.object({
  thumbprint: z.string().nullable().meta({ description: 'SHA-256, upper-case hex; null while awaiting' }),
  awaiting: z.string().nullable().meta({ description: AWAITING }),
  subject: z.string(),
  notBefore: Timestamp.nullable().meta({ description: 'Null while awaiting' }),
  notAfter: Timestamp,
  pendingThumbprint: z
    .string()
    .nullable()
    .meta({ description: 'As announced, SHA-1 or SHA-256, of the certificate that comes next' }),
});

export const NodeDetails = z
  .object({
    ...nodeSummary,
    certificate: Certificate.nullable().meta({ description: 'Null while the node is only expected' }),
    assignment: AssignmentView.nullable(),
    tags: z.array(NodeTag),
    running: Running.nullable().meta({ description: 'What the node runs; null while nothing is known' }),
    parameterProblems: z
      .int()
      .meta({ description: 'Faults of the merged parameters; which ones, `parameters/resolution` says' }),
    statusCause: Cause.nullable().meta({
      description:
        'The first that holds: the last report of a node that is NonCompliant or in Error; an LCM in error; a poll that ' +
        'is answered with an error; a node that is stale',
    }),
    lastReport: ReportSummary.nullable().meta({
      description: 'Null before the first one, and for a caller without `reports.read`',
    }),
  })
  .meta({
    id: 'NodeDetails',
    examples: [
      {
        ...SUMMARY,
        certificate: {
          thumbprint: '9F86D081884C7D659A2FEAA0C55AD015A3BF4F1B2B0B822CD15D6C15B0F00A08',
          awaiting: null,
          subject: 'CN=web-01.example.com',
          notBefore: '2026-11-02T07:00:00.000Z',
          notAfter: '2027-11-02T07:00:00.000Z',
          pendingThumbprint: null,
        },
        assignment: {
          configurationName: 'web-server',
          isComposite: false,
          majorVersion: 1,
          prereleaseChannel: null,
          version: null,
          resolvedVersion: '1.2.0',
          pinnedToWithdrawn: false,
        },
        tags: [TAG],
        running: RUNNING_EXAMPLE,
        statusCause: null,
        lastReport: REPORT_EXAMPLE,
      },
    ],
  });

/** A node that is expected, without its name. */
export const EXPECTED = {
  ...GIVEN,
  lcmConfig: LcmConfigChange.nullish().transform((settings) => settings ?? null),
};

export const ExpectedNode = z
  .strictObject({
    fqdn: z.string().min(1).max(1_024).meta({ description: 'As of a registration' }),
    ...EXPECTED,
  })
  .meta({
    id: 'NewExpectedNode',
    examples: [
      {
        fqdn: 'web-07.example.com',
        assignment: { configurationName: 'web-server', majorVersion: 1 },
        scopeValueIds: ['c0ffee00-1d2c-4b3a-8495-a6b7c8d9e0f1'],
      },
    ],
  });

export const NewTag = z
  .strictObject({ scopeValueId: z.guid().transform((id) => id.toLowerCase()) })
  .meta({ id: 'NewNodeTag', examples: [{ scopeValueId: 'c0ffee00-1d2c-4b3a-8495-a6b7c8d9e0f1' }] });
