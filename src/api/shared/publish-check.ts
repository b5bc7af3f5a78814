/** `.../versions/{version}/publish-check`: what publishing would answer, shown without publishing. */

import { z } from 'zod';
import { CHANGE_TYPES, type CompatibilityReport } from '../../domain/compatibility.ts';
import type { Finding } from '../../domain/findings.ts';
import { choice, FieldErrorView, FindingView } from '../../http/schemas.ts';
import type { FieldError, HawserError } from '../../lib/errors.ts';

const ChangeView = z.object({
  parameterName: z.string(),
  changeType: z.enum(CHANGE_TYPES),
  oldValue: z.string().nullable(),
  newValue: z.string().nullable(),
  description: z.string(),
});

export const AffectedParameterFile = z
  .object({
    scopeTypeName: z.string(),
    scopeValue: z.string().nullable().meta({ description: 'Null for the scope Default' }),
    version: z.string(),
    needsMigration: z.boolean(),
    errors: z.array(FieldErrorView),
  })
  .meta({
    id: 'AffectedParameterFile',
    examples: [
      {
        scopeTypeName: 'Environment',
        scopeValue: 'production',
        version: '1.4.0',
        needsMigration: true,
        errors: [
          {
            path: '/parameters/banner',
            message: 'Not a parameter of the configuration',
            code: 'unknown_parameter',
          },
        ],
      },
    ],
  });

const CompatibilityReportView = z
  .object({
    oldVersion: z.string(),
    newVersion: z.string(),
    hasBreakingChanges: z.boolean(),
    breakingChanges: z.array(ChangeView),
    nonBreakingChanges: z.array(ChangeView),
    affectedParameterFiles: z.array(AffectedParameterFile),
  })
  .meta({ id: 'CompatibilityReport' });

export const DocumentChecksView = choice('None', 'Warn', 'Strict').meta({
  description:
    'Whether a version whose document dsc cannot read is refused (Strict), published with a warning (Warn), or ' +
    'published without a word (None)',
});

/** What a version is found to be. */
export const FINDINGS = z.array(FindingView).nullable().meta({
  description: 'In order of line; null in lists of versions, and where they cannot be read at the moment',
});

export const PublishCheckView = z
  .object({
    canPublish: z.boolean(),
    blockers: z
      .array(
        z.object({
          code: z.string(),
          message: z.string(),
          errors: z.array(z.union([FindingView, FieldErrorView])),
        }),
      )
      .meta({ description: 'What publishing would answer with; the first of them is its answer' }),
    compatibility: CompatibilityReportView.nullable().meta({
      description:
        'Also where nothing breaks, or a new major allows it; null where no parameters were compared',
    }),
    findings: z
      .array(FindingView)
      .meta({ description: 'In order of line; of the entry point, and of the history of the draft' }),
    comparedWith: z.string().nullable().meta({ description: 'The highest published version below it' }),
  })
  .meta({
    id: 'PublishCheck',
    examples: [{ canPublish: true, blockers: [], compatibility: null, findings: [], comparedWith: '1.1.0' }],
  });

/** What a check found. */
interface Checked {
  blockers: readonly HawserError[];
  findings: readonly Finding[];
  compatibility: CompatibilityReport | null;
  comparedWith: string | null;
}

export function toPublishCheck({
  blockers,
  findings,
  ...compared
}: Checked): z.input<typeof PublishCheckView> {
  const canPublish = blockers.length === 0;
  return { canPublish, blockers: blockers.map(toBlocker), findings: [...findings], ...compared };
}

function toBlocker({ code, message, data }: HawserError) {
  return { code, message, errors: (data['errors'] ?? []) as FieldError[] };
}
