/** Shapes of parameter files. */

import { z } from 'zod';
import { isVersion } from '../../domain/version-order.ts';
import { Checksum, Flag, given, Id, idsInPath, Paging, Timestamp } from '../../http/schemas.ts';
import { contentTypeNamed, MEDIA_TYPES } from './content.ts';

/** Whatever the configuration's own versions may be called: files are matched with them by their majors. */
const Version = z.string().refine(isVersion, 'Not a SemVer 2.0 version without leading v, such as 1.2.0');

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
  });

export const NewParameterFile = z
  .strictObject({
    version: Version,
    scopeValue: z.string().nullish(),
    content: z.string().nullish(),
    contentType: ContentType,
    isPassthrough: z.boolean().nullish(),
  })
  .superRefine(({ content, isPassthrough }, context) => {
    const refuse = (code: string, message: string) =>
      context.addIssue({ code: 'custom', path: ['content'], message, params: { code } });
    if (isPassthrough && content) refuse('not_allowed', 'A passthrough has no content');
    if (!isPassthrough && typeof content !== 'string')
      refuse('required', 'Required, unless isPassthrough is true');
  });

export const ParameterFileForm = z.strictObject({
  scopeTypeName: z.string(),
  version: Version,
  scopeValue: given(z.string()),
  publish: given(Flag),
});
export const PARAMETER_FILE_FIELDS = Object.keys(ParameterFileForm.shape);

export const InSet = idsInPath('scopeTypeId', 'configurationId');
export const InVersion = InSet.extend({ version: z.string() });
export const InMajor = InSet.extend({
  major: z
    .string()
    .regex(/^(?:0|[1-9]\d{0,15})$/)
    .transform(Number),
});

export const OfScope = z.object({
  scopeValue: given(z.string()).meta({ description: 'Left out for Default, needed for every other type' }),
});
export const PageOfScope = Paging.extend(OfScope.shape);

export const ParameterFileView = z.object({
  id: Id,
  scopeTypeId: Id,
  scopeTypeName: z.string(),
  configurationId: Id,
  scopeValue: z.string().nullable().meta({ description: 'Null of Default' }),
  version: z.string(),
  majorVersion: z.int().nullable().meta({ description: 'Null of a version made by git that is no SemVer' }),
  checksum: Checksum.meta({ description: 'SHA-256 of the content, hex; of nothing for a passthrough' }),
  contentType: z.enum(MEDIA_TYPES).nullable().meta({ description: 'Null of a passthrough, which has none' }),
  status: z.enum(['Draft', 'Published']),
  isPassthrough: z.boolean(),
  needsMigration: z
    .boolean()
    .meta({ description: 'Whether the schema of its major, as it is now, refuses it; false in mode None' }),
  createdAt: Timestamp,
  createdBy: z.string(),
  publishedAt: Timestamp.nullable(),
});

export const ParameterContentView = ParameterFileView.extend({
  content: z.string().nullable().meta({ description: 'As it was given; null of a passthrough' }),
});

export const MajorView = z.object({
  majorVersion: z.int(),
  versionCount: z.int().meta({ description: 'Drafts too' }),
  hasActive: z.boolean().meta({ description: 'Whether any of them is published' }),
  latestVersion: z.string(),
  hasMigrationNeeded: z.boolean(),
});
