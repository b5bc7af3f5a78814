/**
 * The cleanup of old versions: published ones of configurations and composites, drafts and published ones of parameter
 * files, which are counted by scope value and major.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Database, Db } from '../db/database.ts';
import { ASSIGNMENTS } from '../domain/lock-names.ts';
import {
  type OwnRetention,
  planRemovals,
  type RetentionCandidate,
  type RetentionRule,
  ruleFor,
} from '../domain/retention-plan.ts';
import type { RolloutRecord } from '../domain/rollout.ts';
import { chooseParameterFile, ownedBy } from '../domain/version-choice.ts';
import { type Major, majorOf } from '../domain/version-order.ts';
import type { Maintenance } from '../git/maintenance.ts';
import type { RepositoryKind, RepositoryRef } from '../git/types.ts';
import type { Locks } from '../lib/locks.ts';
import type { Log } from '../lib/log.ts';
import type { Actor } from '../security/audit.ts';
import { underLock } from './author.ts';
import type { CleanupRun } from './cleanup-run.ts';
import { SCHEMA_SERIES } from './kinds.ts';
import { scopeOf } from './parameter-files.ts';
import { isRolling, isUnderWay } from './rollout-rules.ts';
import { findRow, toRetention } from './rows.ts';
import type { GitStore } from './store.ts';
import type { LockedRepository, SeriesIndex, VersionIndex, VersionRef } from './types.ts';
import { deleteVersions } from './version-records.ts';

/** What no cleanup may delete at this moment (resolve/in-use.ts, deeds/set-drafts.ts). */
export interface InUse {
  /** The drafts of parameter files of a series that change sets name which may still be applied. */
  drafts(configurationName: string, series: string): ReadonlySet<string>;
  /** The versions of a configuration or composite that some node gets, or some composite is pinned to. */
  versions(repository: RepositoryRef): ReadonlySet<string>;
  /** Each version of a configuration that is delivered, with the channel of those who get it. */
  deliveries(
    configurationName: string,
  ): readonly { configurationVersion: string; prereleaseChannel: string | null }[];
}

export interface VersionCleanup extends CleanupRun {
  kind: RepositoryKind;
  actor: Actor;
  rule: RetentionRule;
  readInUse(): Promise<InUse>;
}

export interface VersionCleanupTools {
  database: Database;
  store: GitStore;
  locks: Locks;
  maintenance: Maintenance;
  log: Log;
}

interface CleanedResource {
  id: string;
  name: string;
  /** Null for a composite, which has no retention of its own. */
  own: OwnRetention | null;
  /** Whether the server manages the parameters of this configuration. */
  isServerManaged: boolean;
}

interface Candidate extends RetentionCandidate {
  ref: VersionRef;
  createdAt: number;
  commit: string;
}

interface Removal extends Candidate {
  reason: string;
}

/** Cleans one repository after the other. Each is locked only while something of it is deleted. */
export async function cleanVersions(tools: VersionCleanupTools, cleanup: VersionCleanup): Promise<void> {
  const { kind, signal, outcome } = cleanup;
  const { read } = tools.database;
  const rows = kind === 'composites' ? 'composites' : 'configurations';
  const resources = await (kind === 'composites' ? listComposites(read) : listConfigurations(read));
  const inUse = await cleanup.readInUse();
  for (const resource of resources) {
    signal.throwIfAborted();
    try {
      await new RepositoryCleanup(tools, cleanup, resource).run(inUse);
    } catch (error) {
      // Somebody else may have deleted it while the cleanup went through the others.
      if (await findRow(read, rows, resource.id)) outcome.failed(resource.name, error, tools.log);
    }
    await nextTurn();
  }
}

class RepositoryCleanup {
  private readonly tools: VersionCleanupTools;
  private readonly cleanup: VersionCleanup;
  private readonly resource: CleanedResource;
  private readonly repository: RepositoryRef;

  constructor(tools: VersionCleanupTools, cleanup: VersionCleanup, resource: CleanedResource) {
    this.tools = tools;
    this.cleanup = cleanup;
    this.resource = resource;
    this.repository = { kind: cleanup.kind, name: resource.name };
  }

  async run(inUse: InUse): Promise<void> {
    const { outcome, isDryRun } = this.cleanup;
    const { own } = this.resource;
    const rule = own ? ruleFor(this.cleanup.rule, own) : this.cleanup.rule;
    const index = await this.tools.store.index(this.repository);
    const planned = rule ? await this.plan(index, rule, inUse) : [];
    if (rule !== null && planned.length > 0 && !isDryRun) return this.deleteDue(rule);
    for (const removal of planned) this.note(removal);
    outcome.keptCount += countOf(index) - planned.length;
  }

  private deleteDue(rule: RetentionRule): Promise<void> {
    const { cleanup, tools, resource, repository } = this;
    const { kind, actor, outcome } = cleanup;
    const owner = { kind, resource };
    const deleteNow = async (writer: LockedRepository) => {
      // The plan is made again, because a node may get one of the versions by now.
      const due = await this.plan(writer.index, rule, await cleanup.readInUse());
      const count = countOf(writer.index);
      const onGone = (gone: readonly Removal[]) => {
        for (const removal of gone) this.note(removal);
        outcome.keptCount += count - gone.length;
        if (gone.length === 0) return;
        outcome.leftObjects = true;
        tools.maintenance.request(repository);
      };
      const told = (removal: Removal) => this.auditDetails(removal);
      await deleteVersions(tools.database, owner, { writer, actor }, due, { told, onGone });
    };
    return tools.locks.run(ASSIGNMENTS, () => underLock(tools, owner, deleteNow));
  }

  /** Plans which versions are deleted, series by series. */
  private async plan(index: SeriesIndex, rule: RetentionRule, inUse: InUse): Promise<Removal[]> {
    const { now, kind } = this.cleanup;
    const removals: Removal[] = [];
    const rollouts = kind === 'parameters' ? await this.rollouts() : [];
    for (const series of retainedSeries(index)) {
      const versions = index.of(series);
      const facts = {
        inUse: this.inUseOf(series, versions, inUse, rollouts),
        hasMain: kind !== 'parameters',
        now,
      };
      const published = () => versions.versions.filter(({ status }) => status === 'Published');
      for (const group of kind === 'parameters' ? byMajor(versions.versions) : [published()]) {
        if (group.length <= rule.keepVersions) continue;
        const candidates = await this.candidatesOf(group);
        for (const { candidate, reason } of planRemovals(candidates, rule, facts))
          removals.push({ ...candidate, reason });
      }
    }
    return kind === 'parameters' || removals.length === 0
      ? removals
      : this.withoutEntryPointSources(removals);
  }

  /**
   * The versions of a series that are in use. A parameter file is in use if a node with its scope value would get it with
   * some delivered version of the configuration, whether or not such a node exists. So a hundred thousand nodes need not
   * be read, and a node that is tagged a moment later finds its file. Beside one that rolls out, what others get is in use.
   */
  private inUseOf(
    series: string,
    { published, versions }: VersionIndex,
    inUse: InUse,
    rollouts: readonly RolloutRecord[],
  ): ReadonlySet<string> {
    if (this.cleanup.kind !== 'parameters') {
      const rolling = published.filter(isRolling).map(({ version }) => version);
      return new Set([...inUse.versions(this.repository), ...rolling]);
    }
    const { name, isServerManaged } = this.resource;
    const drafts = inUse.drafts(name, series);
    if (!isServerManaged) return drafts;
    const deliveries = inUse.deliveries(name);
    const limited = new Set(rollouts.flatMap(({ parameters }) => parameters.map(({ tag }) => tag)));
    const used = listsByOwner(published).flatMap((files) =>
      deliveries.flatMap((wish) => chosenAmong(files, wish, limited)),
    );
    const tags = new Set(
      rollouts.filter(isUnderWay).flatMap(({ parameters }) => parameters.map(({ tag }) => tag)),
    );
    const rolling = versions.filter(({ oid }) => tags.has(oid)).map(({ version }) => version);
    return new Set([...used, ...rolling, ...drafts]);
  }

  /** Those of the configuration that do not give their files to all. */
  private async rollouts(): Promise<RolloutRecord[]> {
    const repository = { kind: 'configurations', name: this.resource.name } as const;
    const { rollouts, loose } = await this.tools.store.versions(repository);
    return [...rollouts, ...loose.unbegun]
      .map(({ record }) => record)
      .filter(({ state }) => state !== 'Completed');
  }

  private async candidatesOf(refs: readonly VersionRef[]): Promise<Candidate[]> {
    const candidates: Candidate[] = [];
    for (const ref of refs) {
      const { version, status } = ref;
      const details = await this.tools.store.details(this.repository, ref);
      const { createdAt, publishedAt, commit } = details;
      const is = { isPublished: status === 'Published', isWithdrawn: ref.withdrawn !== null };
      candidates.push({ version, ...is, at: publishedAt ?? createdAt, createdAt, commit, ref });
    }
    return candidates;
  }

  /** Keeps each version from which a version that stays takes its entry point. */
  private async withoutEntryPointSources(planned: readonly Removal[]): Promise<Removal[]> {
    const sources = (await this.tools.store.index(this.repository)).entryPointSources();
    const going = new Set(planned.map(({ version }) => version));
    const needed = new Set([...sources].flatMap(([version, source]) => (going.has(version) ? [] : source)));
    return planned.filter(({ version }) => !needed.has(version));
  }

  private note({ ref: { series }, version, createdAt, reason }: Removal): void {
    const name = series === '' ? this.resource.name : `${this.resource.name}/${series}`;
    this.cleanup.outcome.deleted({ name, version, createdAt, reason });
  }

  private auditDetails({ version, commit, ref: { series, status } }: Removal): Record<string, unknown> {
    const { runId: retentionRun, kind } = this.cleanup;
    if (kind !== 'parameters') return { version, commit, retentionRun };
    const { scopeType, value: scopeValue } = scopeOf(series);
    return { scopeType, scopeValue, version, status, commit, retentionRun };
  }
}

/** All series but that of uploaded schemas, which are kept. */
function retainedSeries(index: SeriesIndex): string[] {
  return index.series.filter((series) => series !== SCHEMA_SERIES);
}

/** The files that nodes get of a list: those that are given to some alone, and the highest that is given to all. */
function chosenAmong(
  files: readonly VersionRef[],
  wish: Parameters<typeof chooseParameterFile>[1],
  limited: ReadonlySet<string>,
): string[] {
  const chosen: string[] = [];
  for (let list = files; ; ) {
    const file = chooseParameterFile(list, wish)?.file;
    if (file === undefined) return chosen;
    chosen.push(file.version);
    if (!limited.has(file.oid)) return chosen;
    list = list.filter((other) => other !== file);
  }
}

/** What each node would choose from, as it has the name for the first time, and as others had it before. */
function listsByOwner(published: readonly VersionRef[]): (readonly VersionRef[])[] {
  const owners = new Set(published.map(({ nodeId }) => nodeId));
  return [...owners].flatMap((nodeId = '') =>
    [false, true].map((isSuccessor) => ownedBy(published, { nodeId, isSuccessor })),
  );
}

function countOf(index: SeriesIndex): number {
  return retainedSeries(index).reduce((sum, series) => sum + index.of(series).versions.length, 0);
}

function byMajor(versions: readonly VersionRef[]): VersionRef[][] {
  const groups = new Map<Major | null, VersionRef[]>();
  for (const ref of versions) {
    const major = majorOf(ref.version);
    const group = groups.get(major) ?? [];
    groups.set(major, group);
    group.push(ref);
  }
  return [...groups.values()];
}

async function listConfigurations(db: Db): Promise<CleanedResource[]> {
  const rows = await db
    .selectFrom('configurations as c')
    .leftJoin('configuration_settings as s', 's.configuration_id', 'c.id')
    .select(['c.id', 'c.name', 'c.use_server_managed_parameters', 's.retention_enabled'])
    .select(['s.retention_keep_versions', 's.retention_keep_days', 's.retention_keep_release_versions'])
    .orderBy('c.name')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    own: toRetention(row),
    isServerManaged: row.use_server_managed_parameters === 1,
  }));
}

async function listComposites(db: Db): Promise<CleanedResource[]> {
  const rows = await db.selectFrom('composites').select(['id', 'name']).orderBy('name').execute();
  return rows.map((row) => ({ ...row, own: null, isServerManaged: false }));
}
