/**
 * What an assignment gives to any node: the version, and the parameter files to choose from. Plans are cached per
 * distinct assignment, not per node, because a fleet shares few of them.
 */

import { LRUCache } from 'lru-cache';
import { type Assignment, keyOfAssignment } from '../db/node-lookup.ts';
import type { CompositeChild } from '../domain/composite-document.ts';
import { missingRepository } from '../git/disk-errors.ts';
import { notFound } from '../lib/errors.ts';
import type { RepositoryRef, SeriesIndex, StoredFile, VersionRef } from '../versions/store.ts';
import type { VersionSource } from '../versions/version-source.ts';
import type { CompositeReader } from './composites.ts';
import { besideParameters, type ParameterReader } from './parameters.ts';
import type { Registry } from './registry.ts';
import { findWanted, isWithdrawn, type WantedVersion } from './wanted-version.ts';

export interface ConfigurationPlan {
  kind: 'configuration';
  name: string;
  /** The files are read by the tag's object id, which never changes, even if the ref moves. */
  tag: VersionRef;
  entryPoint: string;
  /** The files, sorted by the bytes of their paths. */
  files: readonly StoredFile[];
  /** The files without those at the place of the merged parameters. Mostly this is the same list. */
  filesBesideParameters: readonly StoredFile[];
  /** Null if the configuration brings its own parameters. */
  parameters: SeriesIndex | null;
}

export interface CompositePlan {
  kind: 'composite';
  name: string;
  tag: VersionRef;
  entryPoint: string;
  children: readonly ConfigurationPlan[];
}

export type Plan = ConfigurationPlan | CompositePlan;

interface CachedPlan {
  generation: number;
  plan: Promise<Plan>;
  /** The value of the promise once it is there, so that a poll need not wait for a promise. */
  value: Plan | null;
}

/** The number of distinct assignments that are kept. Each costs some 500 bytes. */
const MAX_ASSIGNMENTS = 20_000;

export class Planner {
  private readonly registry: Registry;
  private readonly store: VersionSource;
  private readonly composites: CompositeReader;
  private readonly parameters: ParameterReader;
  private readonly cache = new LRUCache<string, CachedPlan>({ max: MAX_ASSIGNMENTS });

  constructor(
    registry: Registry,
    store: VersionSource,
    readers: { composites: CompositeReader; parameters: ParameterReader },
  ) {
    this.registry = registry;
    this.store = store;
    this.composites = readers.composites;
    this.parameters = readers.parameters;
  }

  /**
   * The plan for an assignment at a generation.
   * @throws HawserError not_found `no_eligible_version` if no published version fits the assignment
   */
  plan(assignment: Assignment, generation: number): Plan | Promise<Plan> {
    const key = keyOfAssignment(assignment);
    const cached = this.cache.get(key);
    if (cached?.generation === generation) return cached.value ?? cached.plan;
    const entry: CachedPlan = { generation, plan: this.compute(assignment), value: null };
    this.cache.set(key, entry);
    entry.plan.then(
      (plan) => {
        entry.value = plan;
      },
      // A failure is not kept, so the next poll tries again.
      () => this.cache.get(key) === entry && this.cache.delete(key),
    );
    return entry.plan;
  }

  /** The version that an assignment gives now; null if none is eligible. */
  async resolve(assignment: Assignment): Promise<VersionRef | null> {
    return this.choose(await this.repositoryOf(assignment), assignment);
  }

  /**
   * Whether the assignment can be made and gives a node something now. There must be a version of what is assigned, which
   * is not withdrawn, and for a composite a version of every child.
   */
  async isEligible(assignment: Assignment): Promise<boolean> {
    const repository = await this.repositoryOf(assignment);
    const version = await this.choose(repository, assignment);
    if (version === null || isWithdrawn(version)) return false;
    if (repository.kind === 'configurations') return true;
    const { children } = await this.composites.document(repository, version);
    for (const child of children) {
      if ((await this.tagOfChild(child, assignment.prereleaseChannel)) === null) return false;
    }
    return true;
  }

  private async compute(assignment: Assignment): Promise<Plan> {
    const repository = await this.repositoryOf(assignment);
    const version = await this.choose(repository, assignment);
    if (version === null) throw noEligibleVersion('No published version fits the assignment of this node');
    if (repository.kind === 'configurations') return this.planConfiguration(repository.name, version);
    return this.planComposite(repository, version, assignment.prereleaseChannel);
  }

  private async planConfiguration(name: string, tag: VersionRef): Promise<ConfigurationPlan> {
    const { entryPoint, files } = await this.store.details({ kind: 'configurations', name }, tag);
    const parameters = await this.parametersOf(name);
    const filesBesideParameters = besideParameters(files);
    return { kind: 'configuration', name, tag, entryPoint, files, filesBesideParameters, parameters };
  }

  private async planComposite(
    repository: RepositoryRef,
    tag: VersionRef,
    prereleaseChannel: string | null,
  ): Promise<CompositePlan> {
    const { entryPoint, children } = await this.composites.document(repository, tag);
    const plans: ConfigurationPlan[] = [];
    for (const child of children) {
      const childTag = await this.tagOfChild(child, prereleaseChannel);
      if (childTag === null)
        throw noEligibleVersion('A child of the composite has no published version that fits');
      plans.push(await this.planConfiguration(child.configuration, childTag));
    }
    return { kind: 'composite', name: repository.name, tag, entryPoint, children: plans };
  }

  /** The version to which the composite pins the child. Without a pin, the version that the node's channel admits. */
  private tagOfChild(
    { configuration: name, version }: CompositeChild,
    prereleaseChannel: string | null,
  ): Promise<VersionRef | null> {
    return this.choose({ kind: 'configurations', name }, { majorVersion: null, prereleaseChannel, version });
  }

  private async choose(repository: RepositoryRef, wanted: WantedVersion): Promise<VersionRef | null> {
    return findWanted(await this.store.versions(repository), wanted);
  }

  /**
   * The parameter files to choose from; null if the configuration brings its own parameters.
   * @throws HawserError `repository_missing` if there was a repository, so that no bundle is ever incomplete
   */
  private async parametersOf(name: string): Promise<SeriesIndex | null> {
    const known = await this.registry.configuration(name);
    if (!known?.usesParameters) return null;
    if (known.hasParameters && !(await this.store.has({ kind: 'parameters', name })))
      throw missingRepository();
    return this.parameters.index(name);
  }

  private async repositoryOf({ configurationId, compositeId }: Assignment): Promise<RepositoryRef> {
    const kind = compositeId === null ? 'configurations' : 'composites';
    const name = await this.registry.nameOf(kind, compositeId ?? configurationId ?? '');
    if (name === null)
      throw notFound('No configuration is assigned to this node', 'no_configuration_assigned');
    return { kind, name };
  }
}

const noEligibleVersion = (message: string) => notFound(message, 'no_eligible_version');
