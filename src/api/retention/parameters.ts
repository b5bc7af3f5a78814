/** The cleanup of parameter files, drafts and published ones, counted by scope value and major. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type PlannedRemoval,
  planRemovals,
  type RetentionCandidate,
  type RetentionRule,
  ruleFor,
} from '../../domain/retention-plan.ts';
import { chooseParameterFile } from '../../domain/version-choice.ts';
import { majorOf } from '../../domain/version-order.ts';
import type {
  LockedParameters,
  ParameterIndex,
  ParameterScope,
  ParameterVersionRef,
} from '../../git/store.ts';
import { readInUse } from '../../resolve/in-use.ts';
import type { FileConstraint } from '../../resolve/parameters.ts';
import { recordAudit } from '../../security/audit.ts';
import type { CleanupCircumstances, CleanupTools, Order, VersionOrder } from './cleanup.ts';
import { type CleanedResource, isThere, listConfigurations } from './queries.ts';

interface Candidate extends RetentionCandidate {
  createdAt: number;
  scope: ParameterScope;
  ref: ParameterVersionRef;
}

interface Plan {
  removals: PlannedRemoval<Candidate>[];
  /** Of all scopes. */
  versionCount: number;
}

interface Cleanup {
  tools: CleanupTools;
  order: Order;
  circumstances: CleanupCircumstances;
  configuration: CleanedResource;
}

export async function cleanParameters(
  tools: CleanupTools,
  order: VersionOrder,
  circumstances: CleanupCircumstances,
): Promise<void> {
  const { outcome, signal } = circumstances;
  const inUse = await readInUse(tools);
  for (const configuration of await listConfigurations(tools.database.read)) {
    signal.throwIfAborted();
    const { name, own } = configuration;
    const rule = own ? ruleFor(order.rule, own) : order.rule;
    try {
      await cleanOne({ tools, order, circumstances, configuration }, rule, inUse.deliveries(name));
    } catch (error) {
      outcome.failed(name, error, tools.log);
    }
    await nextTurn();
  }
}

async function cleanOne(
  cleanup: Cleanup,
  rule: RetentionRule | null,
  deliveries: readonly FileConstraint[],
): Promise<void> {
  const { tools, circumstances, configuration } = cleanup;
  const { outcome, isDryRun } = circumstances;
  const { parameters } = tools.store;
  const found = await plan(cleanup, await parameters.index(configuration.name), rule, deliveries);
  if (isDryRun || found.removals.length === 0) {
    for (const removal of found.removals) note(cleanup, removal);
    outcome.keptCount += found.versionCount - found.removals.length;
    return;
  }
  await parameters.exclusive(configuration.name, async (locked) => {
    // The repository of a configuration that has gone meanwhile goes as well, or has gone.
    if (!(await isThere(tools.database.read, 'configurations', configuration.id))) return;
    const inUse = await readInUse(tools);
    const due = await plan(cleanup, locked.index, rule, inUse.deliveries(configuration.name));
    await remove(cleanup, locked, due);
  });
}

/**
 * In use is, for each delivered version of the configuration, the file that each scope value would give a node that
 * carries it, whether or not one does now: a hundred thousand nodes need not be asked, and a node that is tagged
 * a moment later finds its file.
 */
async function plan(
  cleanup: Cleanup,
  index: ParameterIndex,
  rule: RetentionRule | null,
  deliveries: readonly FileConstraint[],
): Promise<Plan> {
  const { isServerManaged } = cleanup.configuration;
  const removals: PlannedRemoval<Candidate>[] = [];
  let versionCount = 0;
  for (const scope of index.scopes()) {
    const versions = index.versions(scope);
    versionCount += versions.length;
    if (rule === null) continue;
    const chosen = deliveries.map((wish) => chooseParameterFile(index.published(scope), wish)?.file.version);
    const inUse = new Set(isServerManaged ? chosen.filter((version) => version !== undefined) : []);
    for (const group of byMajor(versions)) {
      if (group.length <= rule.keepVersions) continue;
      const candidates = await candidatesOf(cleanup, scope, group);
      const facts = { inUse, hasMain: false, now: cleanup.circumstances.now };
      removals.push(...planRemovals(candidates, rule, facts));
    }
  }
  return { removals, versionCount };
}

function byMajor(versions: readonly ParameterVersionRef[]): ParameterVersionRef[][] {
  const groups = new Map<number | null, ParameterVersionRef[]>();
  for (const ref of versions) {
    const major = majorOf(ref.version);
    groups.set(major, [...(groups.get(major) ?? []), ref]);
  }
  return [...groups.values()];
}

async function candidatesOf(
  { tools, configuration }: Cleanup,
  scope: ParameterScope,
  refs: readonly ParameterVersionRef[],
): Promise<Candidate[]> {
  const candidates: Candidate[] = [];
  for (const ref of refs) {
    const { version, createdAt, publishedAt } = await tools.store.parameters.details(configuration.name, ref);
    const isPublished = ref.status === 'Published';
    candidates.push({ version, isPublished, at: publishedAt ?? createdAt, createdAt, scope, ref });
  }
  return candidates;
}

async function remove(cleanup: Cleanup, locked: LockedParameters, due: Plan): Promise<void> {
  const { outcome } = cleanup.circumstances;
  try {
    await locked.deleteVersions(due.removals.map(({ candidate }) => candidate.ref));
  } finally {
    const isGone = ({ candidate: { scope, version } }: PlannedRemoval<Candidate>) =>
      locked.index.get(scope, version) === undefined;
    const gone = due.removals.filter(isGone);
    for (const removal of gone) note(cleanup, removal);
    outcome.keptCount += due.versionCount - gone.length;
    if (gone.length > 0) {
      outcome.leftObjects = true;
      cleanup.tools.maintenance.request({ kind: 'parameters', name: cleanup.configuration.name });
      await audit(cleanup, gone);
    }
  }
}

function note({ circumstances, configuration }: Cleanup, { candidate, reason }: PlannedRemoval<Candidate>) {
  const { scope, version, createdAt } = candidate;
  const name = [configuration.name, scope.scopeType, ...(scope.value === null ? [] : [scope.value])].join(
    '/',
  );
  circumstances.outcome.deleted({ name, version, createdAt, reason });
}

async function audit(
  { tools, order, circumstances, configuration }: Cleanup,
  gone: readonly PlannedRemoval<Candidate>[],
): Promise<void> {
  const { id: resourceId, name } = configuration;
  await tools.database.write.transaction().execute(async (trx) => {
    for (const { candidate } of gone) {
      const { scope, version, ref } = candidate;
      const { scopeType: scopeTypeName, value: scopeValue } = scope;
      const what = { name, scopeTypeName, scopeValue, version, status: ref.status, commit: ref.commit };
      const details = { ...what, retentionRun: circumstances.runId };
      await recordAudit(trx, order.actor, { action: 'parameters.version_deleted', resourceId, details });
    }
  });
}
