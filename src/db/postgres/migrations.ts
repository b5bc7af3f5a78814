/** The migrations of PostgreSQL, in their order. Later ones have the number and the name that SQLite's have. */

import type { Migration } from 'kysely';
import { baselineMigration } from './migrations/0019-baseline.ts';
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
  '0019-baseline': baselineMigration,
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
