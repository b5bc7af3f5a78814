/** Shapes of parameter files and of the schemas of parameters. */

import { z } from 'zod';
import { contentTypeNamed, MEDIA_TYPES } from '../../deeds/parameter-content.ts';
import { MAX_VERSION_LENGTH, toMajor } from '../../domain/version-order.ts';
import {
  Checksum,
  choice,
  FieldErrorView,
  Flag,
  given,
  Id,
  idsInPath,
  Message,
  orUnchanged,
  Paging,
  Timestamp,
} from '../../http/schemas.ts';
import { ACCOUNT, ACCOUNT_EXAMPLE, draftFlag, LEVEL, ROLLOUT, SemVerVersion } from '../shared/versioned.ts';

/** This is the example of a file in the API description. */
const FILE = {
  id: '5e4d3c2b-1a09-5f8e-9d7c-6b5a49382716',
  scopeTypeId: '9e8d7c6b-5a49-4382-9716-05f4e3d2c1b0',
  scopeTypeName: 'Environment',
  configurationId: '3c9a4b1e-0f6d-4c57-9b2a-8e7d6c5b4a30',
  scopeValue: 'production',
  version: '1.1.0',
  majorVersion: 1,
  checksum: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  contentType: 'application/yaml',
  status: 'Published',
  isPassthrough: false,
  needsMigration: false,
  createdAt: '2026-11-20T09:08:00.000Z',
  createdBy: 'alice',
  publishedAt: '2026-11-20T10:00:00.000Z',
  publishedBy: 'bob',
  ...ACCOUNT_EXAMPLE,
  message: 'The load balancer asks on the new port.',
};

/** Always SemVer, even where the configuration allows other versions, because files are matched by major version. */
const Version = SemVerVersion.meta({ description: 'SemVer 2.0 without leading v' });

/** When a major number is left out, which is a number in JSON. */
const TOO_LARGE = 'where the major is beyond 2^53 - 1, so that readers would round it; the version has it';

const PUBLISH = '/api/v1/parameters/{scopeTypeId}/{configurationId}/versions/{version}/publish';

const ContentType = z
  .string()
  .nullish()
  .transform((name, context) => {
    const type = contentTypeNamed(name ?? MEDIA_TYPES.yaml);
    if (type !== null) return type;
    context.addIssue({
      code: 'custom',
      message: `Neither ${MEDIA_TYPES.yaml} nor ${MEDIA_TYPES.json}`,
    });
    return z.NEVER;
  })
  .meta({ description: `${MEDIA_TYPES.yaml}, the default, or ${MEDIA_TYPES.json}` });

export const NewParameterFile = z
  .strictObject({
    version: Version,
    scopeValue: z
      .string()
      .nullish()
      .meta({ description: 'None for Default; for Node the fqdn of a registered node' }),
    content: z
      .string()
      .nullish()
      .meta({ description: 'A DSC v3 parameter document, `{parameters: {name: value}}`' }),
    contentType: ContentType,
    isPassthrough: z.boolean().nullish().meta({ description: 'The scope is left out of merging on purpose' }),
    message: orUnchanged(Message),
    isDraft: draftFlag(z.boolean().nullish(), PUBLISH),
  })
  .superRefine(({ content, isPassthrough }, context) => {
    const refuse = (code: string, message: string) =>
      context.addIssue({ code: 'custom', path: ['content'], message, params: { code } });
    if (isPassthrough && content) refuse('not_allowed', 'A passthrough has no content');
    if (!isPassthrough && typeof content !== 'string')
      refuse('required', 'Required, unless isPassthrough is true');
  })
  .meta({
    id: 'NewParameterFile',
    examples: [
      {
        version: '1.1.0',
        scopeValue: 'production',
        content: 'parameters:\n  port: 8080\n',
        contentType: 'application/yaml',
      },
    ],
  });

export const ParameterFileForm = z.strictObject({
  scopeTypeName: z.string(),
  version: Version,
  scopeValue: given(z.string()).meta({ description: 'As in the PUT of a draft' }),
  publish: given(Flag).meta({ description: 'Default false' }),
  message: given(Message),
  isDraft: draftFlag(given(Flag), PUBLISH),
});
export const PARAMETER_FILE_FIELDS = Object.keys(ParameterFileForm.shape);

export const OfFolder = z.object({
  publish: given(Flag).meta({
    description: 'True: publish the drafts one by one, in the order of the answer',
  }),
});
export const ParameterFolderForm = z.strictObject({ message: given(Message) });
export const PARAMETER_FOLDER_FIELDS = Object.keys(ParameterFolderForm.shape);

export const InSet = idsInPath('scopeTypeId', 'configurationId');
export const InVersion = InSet.extend({ version: z.string() });
export const InMajor = InSet.extend({
  major: z
    .string()
    .regex(/^(?:0|[1-9]\d*)$/)
    .max(MAX_VERSION_LENGTH)
    .transform(toMajor),
});

export const OfScope = z.object({
  scopeValue: given(z.string()).meta({ description: 'Left out for Default, needed for every other type' }),
});
export const PageOfScope = Paging.extend(OfScope.shape);

export const PageOfFiles = Paging.extend({
  scopeTypeName: given(z.string()).meta({ description: 'Without regard to case' }),
  scopeValue: given(z.string()).meta({ description: 'Without regard to case; Default has none' }),
  status: given(choice('Draft', 'Published')),
  ofDeletedNode: given(Flag).meta({
    description:
      'True: only published files of nodes that were deleted, which are offered to nobody; false: only others',
  }),
});

export const ParameterFileView = z
  .object({
    id: Id,
    scopeTypeId: Id,
    scopeTypeName: z.string(),
    configurationId: Id,
    scopeValue: z.string().nullable().meta({ description: 'Null for the scope Default' }),
    version: z.string(),
    majorVersion: z
      .int()
      .nullable()
      .meta({ description: `Null for a version made by git whose name is no SemVer, and ${TOO_LARGE}` }),
    checksum: Checksum.meta({ description: 'SHA-256 of the content, hex; of nothing for a passthrough' }),
    contentType: z
      .enum(MEDIA_TYPES)
      .nullable()
      .meta({ description: 'Null for a passthrough, which has no content' }),
    status: z.enum(['Draft', 'Published']),
    isPassthrough: z.boolean(),
    needsMigration: z
      .boolean()
      .meta({ description: 'Whether the schema of its major, as it is now, refuses it; false in mode None' }),
    createdAt: Timestamp,
    createdBy: z.string().meta({ description: 'User name' }),
    publishedAt: Timestamp.nullable(),
    publishedBy: z.string().nullable(),
    ...ACCOUNT,
    rollout: z
      .object({ key: z.string(), ...ROLLOUT })
      .nullable()
      .meta({
        description: 'Null where the file has no rollout; its key names it among those of the configuration',
      }),
  })
  .meta({ id: 'ParameterFile', examples: [FILE] });

export const ParameterContentView = ParameterFileView.extend({
  content: z.string().nullable().meta({ description: 'As it was given; null for a passthrough' }),
  access: LEVEL.meta({ description: 'What the caller may do with the files of this scope' }),
}).meta({
  id: 'ParameterFileWithContent',
  examples: [{ ...FILE, content: 'parameters:\n  port: 8080\n', access: 'Modify' }],
});

export const MajorView = z
  .object({
    majorVersion: z
      .int()
      .nullable()
      .meta({ description: `Null ${TOO_LARGE}` }),
    versionCount: z.int().meta({ description: 'Drafts too' }),
    hasActive: z.boolean().meta({ description: 'Whether any of them is published and not withdrawn' }),
    latestVersion: z.string(),
    hasMigrationNeeded: z.boolean().meta({ description: 'Whether the schema refuses any of them' }),
  })
  .meta({
    id: 'ParameterMajor',
    examples: [
      {
        majorVersion: 1,
        versionCount: 3,
        hasActive: true,
        latestVersion: '1.2.0-rc.1',
        hasMigrationNeeded: false,
      },
    ],
  });

export const SchemaForm = z.strictObject({
  version: SemVerVersion.meta({ description: 'Of the configuration, which need not have it yet' }),
});
export const SCHEMA_FIELDS = Object.keys(SchemaForm.shape);

export const OfVersion = z.object({
  version: given(z.string()).meta({
    description:
      'Left out: the highest published version, else the highest; where that declares nothing, the highest upload',
  }),
});

export const SchemaWish = OfVersion.extend({
  optional: given(Flag).meta({
    description: 'True: 204 in place of 404 where the version declares no parameters',
  }),
});

export const Validation = OfVersion.extend({
  partial: given(Flag).meta({ description: "True for one scope's file, of which nothing is required" }),
  anyText: given(Flag).meta({
    description: 'True: of text that is no document the verdict says so, with 200',
  }),
});

const PORT_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    parameters: {
      type: 'object',
      properties: { port: { type: 'integer' } },
      required: ['port'],
      additionalProperties: false,
    },
  },
  required: ['parameters'],
};

export const JsonSchemaView = z.record(z.string(), z.unknown()).meta({
  id: 'ParameterSchema',
  description: 'JSON Schema 2020-12 of parameter documents',
  examples: [PORT_SCHEMA],
});

export const SchemaUploadView = z
  .object({ version: z.string(), schema: JsonSchemaView })
  .meta({ id: 'UploadedParameterSchema', examples: [{ version: '1.2.0', schema: PORT_SCHEMA }] });

export const ValidationView = z
  .object({
    isValid: z.boolean(),
    errors: z.array(FieldErrorView),
  })
  .meta({
    id: 'ParameterVerdict',
    examples: [
      {
        isValid: false,
        errors: [
          {
            path: '/parameters/port',
            message: 'Must be an integer, written without a fraction or an exponent',
            code: 'type',
          },
        ],
      },
    ],
  });
