/**
 * What an assignment gives to a node: the version, and the parameter files to choose from. Plans are cached per distinct
 * assignment, not per node, because a fleet shares few of them. Where a version rolls out there are some for each.
 */

import { LRUCache } from 'lru-cache';
import type { KnownConfiguration } from '../db/fleet-snapshot.ts';
import { type AskedNode, type Assignment, keyOfAssignment } from '../db/node-lookup.ts';
import { missingRepository } from '../git/disk-errors.ts';
import { type Awaitable, andThen } from '../lib/awaitable.ts';
import { notFound } from '../lib/errors.ts';
import type { RepositoryRef, SeriesIndex, StoredFile, VersionRef } from '../versions/store.ts';
import type { VersionSource } from '../versions/version-source.ts';
import type { CompositeReader } from './composites.ts';
import {
  type ByNode,
  type ClosedFiles,
  Fork,
  type NodeOpenness,
  OPEN_TO_ANYONE,
  valueFor,
} from './open-versions.ts';
import { besideParameters, type ParameterReader } from './parameters.ts';
import { PLAIN_MERGING, type PlannedMerging, plannedMerging } from './planned-merging.ts';
import type { Registry } from './registry.ts';
import type { SchemaReader } from './schemas.ts';
import { declaredBy } from './secret-names.ts';
import {
  byVersion,
  byVersions,
  type GivenFiles,
  type GivenReaders,
  type GivenVersions,
  isWhole,
  isWithdrawn,
} from './wanted-version.ts';

export interface ConfigurationPlan {
  kind: 'configuration';
  /** The id of the configuration; empty where it is not known. */
  id: string;
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
  /** Those of them that are not open to the nodes of this plan. */
  closed: ClosedFiles;
  /** How they merge. */
  merging: PlannedMerging;
}

export interface CompositePlan {
  kind: 'composite';
  name: string;
  tag: VersionRef;
  entryPoint: string;
  children: readonly ConfigurationPlan[];
}

export type Plan = ConfigurationPlan | CompositePlan;

/** What all nodes of an assignment share: one plan, or a fork where a version rolls out that it admits. */
interface CachedPlan {
  generation: number;
  plan: Promise<ByNode<Plan>>;
  /** The value of the promise once it is there, so that a poll need not wait for a promise. */
  value: ByNode<Plan> | null;
}

/** The number of distinct assignments that are kept. Each costs some 500 bytes. */
const MAX_ASSIGNMENTS = 20_000;

export interface PlanReaders {
  composites: CompositeReader;
  parameters: ParameterReader;
  schemas: SchemaReader;
  /** Tells which versions that roll out are open to a node. */
  openness: Pick<NodeOpenness, 'of'>;
}

export class Planner {
  private readonly registry: Registry;
  private readonly store: VersionSource;
  private readonly readers: PlanReaders;
  private readonly cache = new LRUCache<string, CachedPlan>({ max: MAX_ASSIGNMENTS });

  constructor(registry: Registry, store: VersionSource, readers: PlanReaders) {
    this.registry = registry;
    this.store = store;
    this.readers = readers;
  }

  /**
   * The plans for an assignment at a generation. A fork makes each of its plans when the first node needs it.
   * @throws HawserError not_found `no_eligible_version` if no published version fits the assignment
   */
  plans(assignment: Assignment, generation: number): ByNode<Plan> | Promise<ByNode<Plan>> {
    const key = keyOfAssignment(assignment);
    const cached = this.cache.get(key);
    if (cached?.generation === generation) return cached.value ?? cached.plan;
    const plan = this.byVersions(assignment, (given) => this.make(given));
    const entry: CachedPlan = { generation, plan, value: null };
    this.cache.set(key, entry);
    entry.plan.then(
      (made) => {
        entry.value = made;
      },
      // A failure is not kept, so the next poll tries again.
      () => this.cache.get(key) === entry && this.cache.delete(key),
    );
    return entry.plan;
  }

  /**
   * The plan for a node as it was looked up.
   * @throws HawserError not_found `no_eligible_version` if no published version fits that is open to the node
   */
  plan(assignment: Assignment, node: AskedNode & { generation: number }): Awaitable<Plan> {
    const plans = this.plans(assignment, node.generation);
    return andThen(plans, (made) => this.planIn(made, node));
  }

  /** The node's one among the plans for its assignment. */
  planIn(plans: ByNode<Plan>, node: AskedNode): Awaitable<Plan> {
    return plans instanceof Fork ? valueFor(plans, this.readers.openness.of(node)) : plans;
  }

  /** The version that an assignment gives a node now; null if none is eligible. */
  async resolve(assignment: Assignment, node: AskedNode): Promise<VersionRef | null> {
    const repository = await this.repositoryOf(assignment);
    const tree = await byVersion(this.given, repository, assignment, (tag) => tag);
    return valueFor(tree, this.readers.openness.of(node));
  }

  /**
   * Whether the assignment can be made and gives a node something now, or once a version that rolls out reaches it. There
   * must be a version of what is assigned, which is not withdrawn, and for a composite a version of every child.
   */
  async isEligible(assignment: Assignment): Promise<boolean> {
    const tree = await this.byVersions(assignment, (given) => isWhole(given) && !isWithdrawn(given.tag));
    return valueFor(tree, OPEN_TO_ANYONE);
  }

  /** Goes on with the versions that an assignment gives, as `byVersions` of wanted-version.ts. */
  async byVersions<T>(
    assignment: Assignment,
    lead: (given: GivenVersions | null) => Awaitable<T>,
  ): Promise<ByNode<T>> {
    return byVersions(this.given, await this.repositoryOf(assignment), assignment, lead);
  }

  /** @throws HawserError not_found `no_eligible_version` */
  async make(given: GivenVersions | null): Promise<Plan> {
    if (given === null) throw noEligibleVersion('No published version fits the assignment of this node');
    const { repository, tag, files, composite } = given;
    if (composite === null) return this.planConfiguration(repository.name, tag, files);
    const children: ConfigurationPlan[] = [];
    for (const { child, tag: childTag, files: childFiles } of composite.children) {
      if (childTag === null)
        throw noEligibleVersion('A child of the composite has no published version that fits');
      children.push(await this.planConfiguration(child.configuration, childTag, childFiles));
    }
    const { entryPoint } = composite.document;
    return { kind: 'composite', name: repository.name, tag, entryPoint, children };
  }

  private async planConfiguration(
    name: string,
    tag: VersionRef,
    given: GivenFiles,
  ): Promise<ConfigurationPlan> {
    const { entryPoint, files } = await this.store.details({ kind: 'configurations', name }, tag);
    const known = await this.registry.configuration(name);
    const { closed } = given;
    const parameters = given.parameters();
    const filesBesideParameters = besideParameters(files);
    const merging = await this.mergingOf(name, tag, parameters, known?.hasVariables ?? false);
    const of = { kind: 'configuration', id: known?.id ?? '', name, tag, entryPoint } as const;
    return { ...of, files, filesBesideParameters, parameters, closed, merging };
  }

  /** Where there is no file, nothing merges. @throws HawserError `repository_damaged` if the schema cannot be read */
  private async mergingOf(
    name: string,
    tag: VersionRef,
    parameters: SeriesIndex | null,
    hasVariables: boolean,
  ): Promise<PlannedMerging> {
    if (parameters === null || parameters.series.length === 0) return PLAIN_MERGING;
    const declared = await declaredBy(this.readers.schemas, { name, tag }, `server ${name}`);
    return plannedMerging(declared, hasVariables);
  }

  /**
   * The parameter files to choose from; null if the configuration brings its own parameters.
   * @throws HawserError `repository_missing` if there was a repository, so that no bundle is ever incomplete
   */
  private async parametersOf(name: string): Promise<SeriesIndex | null> {
    const known: KnownConfiguration | null = await this.registry.configuration(name);
    if (!known?.usesParameters) return null;
    if (known.hasParameters && !(await this.store.has({ kind: 'parameters', name })))
      throw missingRepository();
    return this.readers.parameters.index(name);
  }

  private get given(): GivenReaders {
    return {
      versions: (repository) => this.store.versions(repository),
      parameters: (name) =>
        this.parametersOf(name).then(
          (index) => () => index,
          (error) => () => {
            throw error;
          },
        ),
      composites: this.readers.composites,
    };
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
