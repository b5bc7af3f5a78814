/** The migrations of SQLite, in their order. */

import type { Migration } from 'kysely';
import { initialMigration } from './migrations/0001-initial.ts';
import { settingsAndCompositesMigration } from './migrations/0002-settings-and-composites.ts';
import { identityAndAuditMigration } from './migrations/0003-identity-and-audit.ts';
import { scopesMigration } from './migrations/0004-scopes.ts';
import { statusEventsMigration } from './migrations/0005-status-events.ts';
import { reportsMigration } from './migrations/0006-reports.ts';
import { retentionRunsMigration } from './migrations/0007-retention-runs.ts';
import { nodeCountsMigration } from './migrations/0008-node-counts.ts';
import { changesMigration } from './migrations/0009-changes.ts';
import { announcedCertificatesMigration } from './migrations/0010-announced-certificates.ts';
import { accessChangesMigration } from './migrations/0011-access-changes.ts';
import { scopeChangesMigration } from './migrations/0012-scope-changes.ts';
import { certificateRotationMigration } from './migrations/0013-certificate-rotation.ts';
import { pinnedVersionsMigration } from './migrations/0014-pinned-versions.ts';
import { runningMigration } from './migrations/0015-running.ts';
import { nodeListsMigration } from './migrations/0016-node-lists.ts';
import { previewsMigration } from './migrations/0017-previews.ts';
import { activityAndSearchMigration } from './migrations/0018-activity-and-search.ts';
import { runningChangesMigration } from './migrations/0019-running-changes.ts';
import { severalServersMigration } from './migrations/0020-several-servers.ts';
import { signInMigration } from './migrations/0021-sign-in.ts';
import { eventsMigration } from './migrations/0023-events.ts';
import { rolloutsMigration } from './migrations/0024-rollouts.ts';
import { awaitingCertificatesMigration } from './migrations/0025-awaiting-certificates.ts';
import { leadMigration } from './migrations/0026-lead.ts';
import { documentChecksMigration } from './migrations/0027-document-checks.ts';
import { nodesOfStepsMigration } from './migrations/0028-nodes-of-steps.ts';
import { outcomesMigration } from './migrations/0029-outcomes.ts';
import { truthMigration } from './migrations/0030-truth.ts';
import { scopeMovesMigration } from './migrations/0031-scope-moves.ts';
import { deletedNodeNamesMigration } from './migrations/0032-deleted-node-names.ts';
import { previewResultsMigration } from './migrations/0034-preview-results.ts';
import { joiningMigration } from './migrations/0035-joining.ts';
import { expectedNodesMigration } from './migrations/0036-expected-nodes.ts';
import { secretKeysMigration } from './migrations/0037-secret-keys.ts';
import { scopeGrantsMigration } from './migrations/0038-scope-grants.ts';
import { nodeColumnsMigration } from './migrations/0039-node-columns.ts';
import { manifestFilesMigration } from './migrations/0040-manifest-files.ts';
import { changeSetsMigration } from './migrations/0041-change-sets.ts';
import { protectionsMigration } from './migrations/0042-protections.ts';
import { variablesMigration } from './migrations/0043-variables.ts';
import { pastMigration } from './migrations/0044-past.ts';
import { signingMigration } from './migrations/0045-signing.ts';
import { signersOfKeysMigration } from './migrations/0046-signers-of-keys.ts';

export const MIGRATIONS: Record<string, Migration> = {
  '0001-initial': initialMigration,
  '0002-settings-and-composites': settingsAndCompositesMigration,
  '0003-identity-and-audit': identityAndAuditMigration,
  '0004-scopes': scopesMigration,
  '0005-status-events': statusEventsMigration,
  '0006-reports': reportsMigration,
  '0007-retention-runs': retentionRunsMigration,
  '0008-node-counts': nodeCountsMigration,
  '0009-changes': changesMigration,
  '0010-announced-certificates': announcedCertificatesMigration,
  '0011-access-changes': accessChangesMigration,
  '0012-scope-changes': scopeChangesMigration,
  '0013-certificate-rotation': certificateRotationMigration,
  '0014-pinned-versions': pinnedVersionsMigration,
  '0015-running': runningMigration,
  '0016-node-lists': nodeListsMigration,
  '0017-previews': previewsMigration,
  '0018-activity-and-search': activityAndSearchMigration,
  '0019-running-changes': runningChangesMigration,
  '0020-several-servers': severalServersMigration,
  '0021-sign-in': signInMigration,
  '0023-events': eventsMigration,
  '0024-rollouts': rolloutsMigration,
  '0025-awaiting-certificates': awaitingCertificatesMigration,
  '0026-lead': leadMigration,
  '0027-document-checks': documentChecksMigration,
  '0028-nodes-of-steps': nodesOfStepsMigration,
  '0029-outcomes': outcomesMigration,
  '0030-truth': truthMigration,
  '0031-scope-moves': scopeMovesMigration,
  '0032-deleted-node-names': deletedNodeNamesMigration,
  '0034-preview-results': previewResultsMigration,
  '0035-joining': joiningMigration,
  '0036-expected-nodes': expectedNodesMigration,
  '0037-secret-keys': secretKeysMigration,
  '0038-scope-grants': scopeGrantsMigration,
  '0039-node-columns': nodeColumnsMigration,
  '0040-manifest-files': manifestFilesMigration,
  '0041-change-sets': changeSetsMigration,
  '0042-protections': protectionsMigration,
  '0043-variables': variablesMigration,
  '0044-past': pastMigration,
  '0045-signing': signingMigration,
  '0046-signers-of-keys': signersOfKeysMigration,
};

/** The names of the migrations of this release, in their order. */
export const MIGRATION_NAMES: readonly string[] = Object.keys(MIGRATIONS);
