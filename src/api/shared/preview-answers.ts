/** How a preview is shown, and what the changes that it is asked for can be refused with. */

import { z } from 'zod';
import type { SeenPreview } from '../../deeds/make-preview.ts';
import { type Answer, created } from '../../http/answer.ts';
import { NOT_FOUND } from '../../http/problem-codes.ts';
import { FindingView, Id, Timestamp } from '../../http/schemas.ts';
import { toOptionalTimestamp, toTimestamp } from '../../lib/clock.ts';
import { ChangeView } from './change-schemas.ts';

/** What a change can be refused with, beside what every route that reads repositories answers. */
export const CHANGE_REFUSALS = [
  ...[NOT_FOUND, [409, 'not_found'] as const, [409, 'validation_failed'] as const],
  ...['already_published', 'document_unreadable', 'incompatible_parameters', 'no_children'],
  ...['unpublished_child', [409, 'schema_unknown'] as const],
  ...['published_version', 'version_exists', 'scope_type_disabled', 'scope_type_already_tagged'],
  ...[
    'not_published',
    'not_a_system_scope_type',
    [409, 'in_use'] as const,
    [409, 'rollout_running'] as const,
  ],
  ...['unknown_node', 'unknown_scope_value', 'too_complex', [409, 'no_eligible_version'] as const],
  ...[[400, 'secret_unreadable'] as const, [409, 'secret_unreadable'] as const, 'secret_in_clear'],
  ...['secret_key_missing', 'upgrade_incomplete', 'signature_required', 'signature_invalid'],
];

export const Count = z.int().min(0);

export const PreviewView = z
  .object({
    id: Id,
    state: z.enum(['Running', 'Done', 'Failed']),
    createdAt: Timestamp,
    completedAt: Timestamp.nullable(),
    expiresAt: Timestamp.meta({ description: 'From then on it is not there any more' }),
    changes: z.array(ChangeView),
    counts: z.object({
      nodes: Count.meta({
        description: 'While it is Running, how many there are; then the sum of the next three',
      }),
      changed: Count.meta({ description: 'Nodes whose next poll would be answered otherwise' }),
      unchanged: Count,
      unresolvable: Count.meta({ description: 'Nodes that get something now, and an error or nothing then' }),
      notVisible: Count.meta({
        description: 'Nodes of which the caller may not read all; they are in no other count',
      }),
    }),
    groupCount: z.int().nullable().meta({ description: 'Null unless it is Done' }),
    findings: z
      .array(
        z.object({
          configurationName: z.string().nullable(),
          compositeName: z.string().nullable().meta({ description: 'One of the two names is null' }),
          version: z.string(),
          findings: z.array(FindingView),
        }),
      )
      .meta({ description: 'Of each version that the changes publish' }),
    warnings: z
      .array(
        z.object({
          code: z.string(),
          message: z.string(),
          path: z.string().meta({ description: 'JSON Pointer to the change in the body' }),
        }),
      )
      .meta({
        description:
          'Why a deed would be refused at the moment: `rollout_running`, or `frozen` for each change',
      }),
    error: z.string().nullable().meta({ description: 'Why it is Failed, else null' }),
  })
  .meta({
    id: 'Preview',
    examples: [
      {
        id: '7d3c1a52-93f5-4b3e-9c8d-6d6d7b8a9f10',
        state: 'Done',
        createdAt: '2026-11-20T09:08:00.000Z',
        completedAt: '2026-11-20T09:08:01.200Z',
        expiresAt: '2026-11-20T10:08:00.000Z',
        changes: [{ kind: 'PublishConfiguration', configurationName: 'web-server', version: '1.2.0' }],
        counts: { nodes: 1_200, changed: 40, unchanged: 1_159, unresolvable: 1, notVisible: 12 },
        groupCount: 3,
        findings: [{ configurationName: 'web-server', compositeName: null, version: '1.2.0', findings: [] }],
        warnings: [],
        error: null,
      },
    ],
  });

const MADE = { schema: PreviewView, headers: { Location: 'The path of the preview' } };

export const MADE_PREVIEW = {
  201: { description: 'The preview, which is made', ...MADE },
  202: { description: 'The preview, which is still being made or waits for that', ...MADE },
};

/** The answer with a preview that was asked for. */
export function answerOf(seen: SeenPreview): Answer {
  const shown = created(`/api/v1/previews/${seen.row.id}`, toPreview(seen));
  return seen.row.state === 'Running' ? { ...shown, status: 202 } : shown;
}

/** While it is made, its counts are those of its maker. */
export function toPreview({ row, visible }: SeenPreview) {
  const { nodes, changed, unchanged, unresolvable, not_visible: notVisible } = row;
  const isDone = row.state === 'Done';
  return {
    id: row.id,
    state: row.state,
    createdAt: toTimestamp(row.created_at),
    completedAt: toOptionalTimestamp(row.completed_at),
    expiresAt: toTimestamp(row.expires_at),
    changes: JSON.parse(row.changes),
    counts: isDone ? visible.counts : { nodes, changed, unchanged, unresolvable, notVisible },
    groupCount: isDone ? visible.groupCount : row.group_count,
    findings: JSON.parse(row.findings),
    warnings: JSON.parse(row.warnings),
    error: row.error,
  };
}
