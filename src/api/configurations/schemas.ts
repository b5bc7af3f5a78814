/** Shapes of configurations and their versions. */

import { z } from 'zod';
import type * as deed from '../../deeds/change-configuration.ts';
import type { WantedConfiguration } from '../../deeds/create-configuration.ts';
import type { WantedCopy, WantedDraft } from '../../deeds/create-draft.ts';
import { Checksum, choice, Flag, given, Id, Message, orUnchanged } from '../../http/schemas.ts';
import {
  EXAMPLE_PROTECTION,
  EXAMPLE_SIGNING,
  NewProtection,
  NewSigning,
  ProtectionView,
  SigningView,
  VariablesView,
} from '../shared/deed-schemas.ts';
import { PUBLISHED_NODES, WAYS_EXAMPLE } from '../shared/proof-schemas.ts';
import { AffectedParameterFile, DocumentChecksView, FINDINGS } from '../shared/publish-check.ts';
import {
  ACCESS,
  AUTHORSHIP,
  AUTHORSHIP_EXAMPLE,
  anyVersion,
  draftFlag,
  LEVEL,
  ResourceName,
  VERSION_COUNTS,
} from '../shared/versioned.ts';

/** This is the example of a version in the API description. */
const VERSION = {
  version: '1.2.0',
  status: 'Published',
  entryPoint: 'main.dsc.yaml',
  prereleaseChannel: null,
  fileCount: 1,
  findings: null,
  ...AUTHORSHIP_EXAMPLE,
};

/** This is the example of a configuration. */
const CONFIGURATION = {
  id: '3c9a4b1e-0f6d-4c57-9b2a-8e7d6c5b4a30',
  name: 'web-server',
  description: 'nginx and its sites',
  useServerManagedParameters: true,
  versionCount: 3,
  latestVersion: '1.3.0-rc.1',
  latestPublishedVersion: '1.2.0',
  createdAt: '2026-11-20T09:08:00.000Z',
  updatedAt: '2026-11-20T09:08:00.000Z',
  access: 'Manage',
  parametersAccess: 'Manage',
};

const ValidationMode = choice('None', 'Warn', 'Strict');

/** The schema allows both forms, because each configuration decides whether its versions must be SemVer. */
const Version = anyVersion('Not a version: SemVer 2.0 without leading v, such as 1.2.0');

const versionFields = {
  version: given(Version).meta({
    description: 'SemVer 2.0 without leading v. Default: 1.0.0 for a new configuration, else the next patch',
  }),
  entryPoint: given(z.string()).meta({
    description: 'Path of one of the files. Default: `main.dsc.yaml`, or that of the version before',
  }),
  prereleaseChannel: given(z.string()).meta({
    description: "The first part of the version's prerelease, from which it follows anyway",
  }),
  message: given(Message),
  isDraft: draftFlag(given(Flag), '/api/v1/configurations/{name}/versions/{version}/publish'),
};

export const NewVersion = z.strictObject(versionFields) satisfies z.ZodType<WantedDraft>;
/** For a draft that exists. The version, if it is given at all, is the one in the path. */
export const ReplacedVersion = z.strictObject({
  ...versionFields,
  version: given(z.string()).meta({ description: 'If given, the version in the path' }),
});

/** The draft is a copy of another version. */
export const CopiedVersion = z
  .strictObject({
    version: orUnchanged(Version).meta({
      description: 'SemVer 2.0 without leading v. Default: the next patch',
    }),
    from: z.string().meta({ description: 'The published version or draft whose files it gets' }),
    prereleaseChannel: orUnchanged(z.string()).meta({
      description: "The first part of the version's prerelease, from which it follows anyway",
    }),
    message: orUnchanged(Message),
  })
  .meta({
    id: 'CopiedConfigurationVersion',
    examples: [{ version: '1.3.0', from: '1.2.0' }],
  }) satisfies z.ZodType<WantedCopy>;

export const NEW_VERSION_FIELDS = Object.keys(NewVersion.shape);

export const NewConfiguration = z.strictObject({
  name: ResourceName,
  description: given(z.string().max(4_000)),
  useServerManagedParameters: given(Flag).meta({ description: 'Default true' }),
  ...versionFields,
}) satisfies z.ZodType<WantedConfiguration>;
export const NEW_CONFIGURATION_FIELDS = Object.keys(NewConfiguration.shape);

export const ConfigurationChange = z
  .strictObject({
    description: z.string().max(4_000).nullish().meta({ description: 'Null clears it; absent stays' }),
    useServerManagedParameters: orUnchanged(z.boolean()),
  })
  .meta({
    id: 'ConfigurationChange',
    examples: [{ description: 'nginx and its sites' }],
  }) satisfies z.ZodType<deed.ConfigurationChange>;

/** What answers to uploads have beside what they show elsewhere. */
export const IGNORED_FILES = {
  ignoredFiles: z.array(z.string()).meta({
    description:
      'What macOS and Windows leave in folders (`__MACOSX/`, `.DS_Store`, `Thumbs.db`, `desktop.ini`) and the upload ' +
      'held: it was left out; at most 1,000 are named',
  }),
};

export const ConfigurationView = z
  .object({
    id: Id,
    name: z.string(),
    description: z.string().nullable(),
    useServerManagedParameters: z.boolean(),
    ...VERSION_COUNTS,
    ...ACCESS,
    parametersAccess: LEVEL.meta({ description: 'What the caller may do with its parameters' }),
  })
  .meta({
    id: 'Configuration',
    examples: [CONFIGURATION],
  });

export const CreatedConfigurationView = ConfigurationView.extend(IGNORED_FILES).meta({
  id: 'CreatedConfiguration',
  examples: [{ ...CONFIGURATION, ignoredFiles: ['.DS_Store'] }],
});

export const VersionView = z
  .object({
    version: z.string(),
    status: z.enum(['Draft', 'Published']),
    entryPoint: z.string(),
    prereleaseChannel: z
      .string()
      .nullable()
      .meta({ description: "The first part of the version's prerelease; null for a stable one" }),
    fileCount: z.int(),
    findings: FINDINGS,
    ...AUTHORSHIP,
    createdBy: AUTHORSHIP.createdBy.meta({ description: 'User name' }),
  })
  .meta({ id: 'ConfigurationVersion', examples: [VERSION] });

export const UploadedVersionView = VersionView.extend(IGNORED_FILES).meta({
  id: 'UploadedConfigurationVersion',
  examples: [{ ...VERSION, ignoredFiles: ['.DS_Store'] }],
});

export const PublishedVersionView = VersionView.extend({
  nodes: PUBLISHED_NODES,
  affectedParameterFiles: z.array(AffectedParameterFile).nullable().meta({
    description: 'The parameter files that do not fit the version; null if they could not be read',
  }),
}).meta({
  id: 'PublishedConfigurationVersion',
  examples: [{ ...VERSION, status: 'Published', nodes: WAYS_EXAMPLE, affectedParameterFiles: [] }],
});

export const VersionDetailsView = VersionView.extend({
  files: z.array(z.object({ path: z.string(), size: z.int(), checksum: Checksum, contentType: z.string() })),
}).meta({
  id: 'ConfigurationVersionDetails',
  examples: [
    {
      ...VERSION,
      files: [
        {
          path: 'main.dsc.yaml',
          size: 412,
          checksum: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
          contentType: 'application/yaml',
        },
      ],
    },
  ],
});

const SHOWN_SIGNING = { ...EXAMPLE_SIGNING, unsigned: { versions: 4, nodes: 12 } };

const ShownSigning = SigningView.extend({
  unsigned: z
    .object({
      versions: z.int().meta({ description: 'Published versions that are not Valid' }),
      nodes: z.int().meta({ description: 'Nodes that are offered one, by whatever way' }),
    })
    .nullable()
    .meta({ description: 'Null while it cannot be counted. The ETag does not stand for it' }),
}).meta({ id: 'ConfigurationSigning', examples: [SHOWN_SIGNING] });

export const SettingsView = z
  .object({
    isOverridden: z.boolean().meta({ description: 'Whether any of them is its own' }),
    requireSemVer: z.boolean(),
    parameterValidationMode: ValidationMode,
    documentChecks: DocumentChecksView,
    variables: VariablesView,
    protection: ProtectionView,
    signing: ShownSigning,
  })
  .meta({
    id: 'ConfigurationSettings',
    examples: [
      {
        ...{ isOverridden: true, requireSemVer: true, parameterValidationMode: 'Warn' as const },
        ...{ documentChecks: 'Strict' as const, variables: 'Off' as const, protection: EXAMPLE_PROTECTION },
        signing: SHOWN_SIGNING,
      },
    ],
  });

/** Null means inherited. */
export const SettingsChange = z
  .strictObject({
    requireSemVer: z.boolean().nullish(),
    parameterValidationMode: ValidationMode.nullish(),
    documentChecks: DocumentChecksView.nullish(),
    variables: VariablesView.nullish(),
    protection: orUnchanged(NewProtection),
    signing: orUnchanged(NewSigning),
  })
  .meta({
    id: 'ConfigurationSettingsChange',
    examples: [
      { parameterValidationMode: 'Warn' },
      { protection: EXAMPLE_PROTECTION },
      { signing: EXAMPLE_SIGNING },
    ],
  });

/** Clients with 32-bit numbers say their highest number when they mean all versions. */
const RetentionCount = z.int32().min(0);

/** Null means inherited. */
export const RetentionChange = z
  .strictObject({
    enabled: z.boolean().nullish(),
    keepVersions: RetentionCount.nullish(),
    keepDays: RetentionCount.nullish(),
    keepReleaseVersions: z.boolean().nullish(),
  })
  .meta({ id: 'ConfigurationRetentionChange', examples: [{ keepVersions: 25, keepDays: null }] });

export const RetentionView = z
  .object({
    isOverridden: z.boolean(),
    enabled: z
      .boolean()
      .nullable()
      .meta({ description: 'False keeps all versions; null is inherited, as in all members' }),
    keepVersions: z.int().nullable(),
    keepDays: z.int().nullable(),
    keepReleaseVersions: z.boolean().nullable(),
  })
  .meta({
    id: 'ConfigurationRetention',
    examples: [
      { isOverridden: true, enabled: null, keepVersions: 25, keepDays: null, keepReleaseVersions: null },
    ],
  });
