/** The cleanup of published versions of configurations and composites. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type PlannedRemoval,
  planRemovals,
  type RetentionCandidate,
  type RetentionRule,
  ruleFor,
} from '../../domain/retention-plan.ts';
import { HawserError } from '../../lib/errors.ts';
import { type InUse, readInUse } from '../../resolve/in-use.ts';
import { recordAudit } from '../../security/audit.ts';
import type { LockedRepository, RepositoryRef, VersionIndex } from '../../versions/store.ts';
import type { CleanupCircumstances, CleanupTools, Order, VersionOrder } from './cleanup.ts';
import { type CleanedResource, isThere, listComposites, listConfigurations } from './queries.ts';

type Kind = 'configurations' | 'composites';

interface Candidate extends RetentionCandidate {
  createdAt: number;
  commit: string;
}

interface Cleanup {
  tools: CleanupTools;
  order: Order;
  circumstances: CleanupCircumstances;
  kind: Kind;
}

/** One after the other; the lock of each is held only while something of it is removed. */
export async function cleanVersions(
  tools: CleanupTools,
  kind: Kind,
  order: VersionOrder,
  circumstances: CleanupCircumstances,
): Promise<void> {
  const { outcome, signal } = circumstances;
  const list = kind === 'composites' ? listComposites : listConfigurations;
  const resources = await list(tools.database.read);
  const inUse = await readInUse(tools);
  const cleanup = { tools, order, circumstances, kind };
  for (const resource of resources) {
    signal.throwIfAborted();
    try {
      await cleanOne(cleanup, resource, resource.own ? ruleFor(order.rule, resource.own) : order.rule, inUse);
    } catch (error) {
      if (!(await hasGone(cleanup, resource, error))) outcome.failed(resource.name, error, tools.log);
    }
    await nextTurn();
  }
}

async function cleanOne(
  cleanup: Cleanup,
  resource: CleanedResource,
  rule: RetentionRule | null,
  inUse: InUse,
): Promise<void> {
  const { tools, circumstances, kind } = cleanup;
  const { outcome, isDryRun } = circumstances;
  const repository: RepositoryRef = { kind, name: resource.name };
  const index = await tools.store.versions(repository);
  const planned = rule ? await plan(cleanup, repository, index, rule, inUse) : [];
  if (rule === null || planned.length === 0) {
    outcome.keptCount += index.versions.length;
  } else if (isDryRun) {
    for (const removal of planned) note(cleanup, resource, removal);
    outcome.keptCount += index.versions.length - planned.length;
  } else {
    await tools.store.exclusive(repository, async (locked) => {
      // Anew, as a node may have been given one of them since; from here on nobody can be pinned to one.
      const due = await plan(cleanup, repository, locked.index, rule, await readInUse(tools));
      await remove(cleanup, resource, locked, due);
    });
  }
}

async function plan(
  { tools, circumstances }: Cleanup,
  repository: RepositoryRef,
  index: VersionIndex,
  rule: RetentionRule,
  inUse: InUse,
): Promise<PlannedRemoval<Candidate>[]> {
  if (index.published.length <= rule.keepVersions) return [];
  const candidates: Candidate[] = [];
  for (const ref of index.published) {
    const { version, createdAt, publishedAt, commit } = await tools.store.details(repository, ref);
    candidates.push({ version, isPublished: true, at: publishedAt ?? createdAt, createdAt, commit });
  }
  const facts = { inUse: inUse.versions(repository), hasMain: true, now: circumstances.now };
  return withoutLenders(
    planRemovals(candidates, rule, facts),
    await tools.store.entryPointLenders(repository),
  );
}

/** What stays must not get another entry point because the version goes that it takes it from. */
function withoutLenders(
  planned: readonly PlannedRemoval<Candidate>[],
  lenders: ReadonlyMap<string, string>,
): PlannedRemoval<Candidate>[] {
  const going = new Set(planned.map(({ candidate }) => candidate.version));
  const kept = [...lenders].filter(([version]) => !going.has(version));
  const lending = new Set(kept.map(([, lender]) => lender));
  return planned.filter(({ candidate }) => !lending.has(candidate.version));
}

async function remove(
  cleanup: Cleanup,
  resource: CleanedResource,
  locked: LockedRepository,
  due: readonly PlannedRemoval<Candidate>[],
): Promise<void> {
  const { outcome } = cleanup.circumstances;
  try {
    await locked.deletePublished(due.map(({ candidate }) => candidate.version));
  } finally {
    const gone = due.filter(({ candidate }) => locked.index.of('').get(candidate.version) === undefined);
    for (const removal of gone) note(cleanup, resource, removal);
    outcome.keptCount += locked.index.of('').versions.length;
    if (gone.length > 0) {
      outcome.leftObjects = true;
      cleanup.tools.maintenance.request({ kind: cleanup.kind, name: resource.name });
      await audit(cleanup, resource, gone);
    }
  }
}

function note(
  { circumstances }: Cleanup,
  { name }: CleanedResource,
  { candidate: { version, createdAt }, reason }: PlannedRemoval<Candidate>,
): void {
  circumstances.outcome.deleted({ name, version, createdAt, reason });
}

async function audit(
  { tools, order, circumstances, kind }: Cleanup,
  { id: resourceId, name }: CleanedResource,
  gone: readonly PlannedRemoval<Candidate>[],
): Promise<void> {
  const action = kind === 'composites' ? 'composite.version_deleted' : 'configuration.version_deleted';
  await tools.database.write.transaction().execute(async (trx) => {
    for (const { candidate } of gone) {
      const { version, commit } = candidate;
      const details = { name, version, commit, retentionRun: circumstances.runId };
      await recordAudit(trx, order.actor, { action, resourceId, details });
    }
  });
}

/** Deleted by somebody else while the cleanup went through the others. */
async function hasGone({ tools, kind }: Cleanup, { id }: CleanedResource, error: unknown): Promise<boolean> {
  const isMissing = error instanceof HawserError && error.code === 'repository_missing';
  return isMissing && !(await isThere(tools.database.read, kind, id));
}
