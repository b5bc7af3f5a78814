/**
 * Answers what a node gets. Remembered per node for as long as the generation stands; after that, a plan that many
 * nodes share and the few files that speak for this node lead to a manifest that many nodes share as well.
 */

import { LRUCache } from 'lru-cache';
import { type Assignment, type KnownNode, MAX_NODES, type ScopeLink } from '../db/node-lookup.ts';
import type { Database } from '../db/open.ts';
import { PARAMETERS_FILE } from '../domain/bundle-paths.ts';
import { printIncludeDocument } from '../domain/composite-document.ts';
import type { GitStore, ParameterVersionRef } from '../git/store.ts';
import { type Awaitable, allOf, andThen } from '../lib/awaitable.ts';
import { internal } from '../lib/errors.ts';
import { RecentMap } from '../lib/recent-map.ts';
import {
  compositeManifest,
  configurationManifest,
  type Manifest,
  type ManifestParameters,
  type ManifestPart,
} from './manifest.ts';
import { besideParameters, chooseRefs, type ParameterReader } from './parameters.ts';
import type { CompositePlan, ConfigurationPlan, Plan, Planner } from './plans.ts';

export type AssignedNode = KnownNode & { assignment: Assignment };

/** A file of a bundle whose content is read only when it is needed. */
export interface BundleFile {
  path: string;
  read(): Promise<Buffer>;
}

interface KeyedManifest {
  /** Everything that the manifest is made of. */
  key: string;
  manifest: Manifest;
}

/** What a node got at its last poll. */
interface Remembered {
  generation: number;
  assignment: Assignment;
  made: KeyedManifest;
}

/** Distinct manifests kept for nodes to share, beside those that some node has; each costs some 1 KB. */
const MAX_MANIFESTS = 10_000;

/** A configuration's plan with the parameter files that speak for one node, lowest precedence first. */
interface Selection {
  plan: ConfigurationPlan;
  refs: readonly ParameterVersionRef[];
}

export interface ResolverTools {
  planner: Planner;
  parameters: ParameterReader;
  /** Told of each manifest that was made how long that took. */
  onResolved(milliseconds: number): void;
}

export class Resolver {
  private readonly database: Database;
  private readonly store: GitStore;
  private readonly planner: Planner;
  private readonly parameters: ParameterReader;
  /** A node takes some 200 bytes beside its manifest. */
  private readonly nodes = new RecentMap<string, Remembered>(MAX_NODES);
  private readonly manifests = new LRUCache<string, KeyedManifest>({ max: MAX_MANIFESTS });
  private readonly making = new Map<string, Promise<KeyedManifest>>();
  private readonly onResolved: ResolverTools['onResolved'];

  constructor(database: Database, store: GitStore, { planner, parameters, onResolved }: ResolverTools) {
    this.database = database;
    this.store = store;
    this.planner = planner;
    this.parameters = parameters;
    this.onResolved = onResolved;
  }

  /** Of how many nodes the manifest is in memory. */
  get rememberedNodes(): number {
    return this.nodes.size;
  }

  /**
   * The manifest for a node as it was looked up. Steady state: one look into a map.
   * @throws HawserError not_found `no_eligible_version` when no published version fits the assignment
   */
  manifest(node: AssignedNode): Awaitable<Manifest> {
    const known = this.nodes.get(node.nodeId);
    if (known?.generation === node.generation && isSame(known.assignment, node.assignment)) {
      return known.made.manifest;
    }
    const plan = this.planner.plan(node.assignment, node.generation);
    return andThen(plan, (made) => this.fill(node, made));
  }

  /** All files of the bundle, in its order: by path bytes, part by part, a composite's own document first. */
  async files(manifest: Manifest): Promise<BundleFile[]> {
    const parts = await Promise.all(manifest.parts.map((part) => this.filesOf(part)));
    const { document, entryPoint } = manifest;
    if (document === null) return parts.flat();
    return [{ path: entryPoint, read: async () => Buffer.from(document) }, ...parts.flat()];
  }

  private async filesOf(part: ManifestPart): Promise<BundleFile[]> {
    const { configurationName: name, tag, folder, parameters } = part;
    const repository = { kind: 'configurations', name } as const;
    const { files } = await this.store.details(repository, tag);
    const own = (parameters === null ? files : besideParameters(files)).map(({ path, oid }) => ({
      path: folder + path,
      read: () => this.store.blob(repository, oid),
    }));
    if (parameters === null) return own;
    const read = () => this.readParameters(name, parameters);
    const path = folder + PARAMETERS_FILE;
    const bytes = Buffer.from(path);
    const after = own.findIndex((file) => Buffer.compare(Buffer.from(file.path), bytes) > 0);
    return own.toSpliced(after === -1 ? own.length : after, 0, { path, read });
  }

  private async readParameters(name: string, { refs, sha256 }: ManifestParameters): Promise<Buffer> {
    const merged = await this.parameters.merge(name, refs);
    if (merged?.sha256 !== sha256)
      throw internal('repository_damaged', 'The parameters are not what they were');
    return merged.bytes;
  }

  private fill(node: AssignedNode, plan: Plan): Awaitable<Manifest> {
    const selections = this.select(node, plan);
    const key = keyOf(plan, selections);
    const known = this.nodes.get(node.nodeId)?.made;
    const shared = known?.key === key ? known : this.manifests.get(key);
    const made = shared ?? this.make(key, plan, selections);
    return andThen(made, (keyed) => this.remember(node, keyed));
  }

  private select(node: AssignedNode, plan: Plan): Selection[] {
    const plans = plan.kind === 'composite' ? plan.children : [plan];
    const links = plans.some(({ parameters }) => parameters !== null)
      ? this.database.nodeLookup.scopesOf(node.nodeId)
      : [];
    const { prereleaseChannel } = node.assignment;
    return plans.map((each) => ({ plan: each, refs: refsOf(each, links, prereleaseChannel) }));
  }

  /** At once where all is in memory. Nodes that ask meanwhile for the same share one making; a failure is not kept. */
  private make(key: string, plan: Plan, selections: readonly Selection[]): Awaitable<KeyedManifest> {
    const running = this.making.get(key);
    if (running) return running;
    const start = performance.now();
    const made = andThen(this.build(plan, selections), (manifest) => {
      this.onResolved(performance.now() - start);
      const keyed = { key, manifest };
      this.manifests.set(key, keyed);
      return keyed;
    });
    if (!(made instanceof Promise)) return made;
    const making = made.finally(() => this.making.delete(key));
    this.making.set(key, making);
    return making;
  }

  private build(plan: Plan, selections: readonly Selection[]): Awaitable<Manifest> {
    const manifests = allOf(selections.map((selection) => this.ofConfiguration(selection)));
    return andThen(manifests, (all) =>
      plan.kind === 'composite' ? ofComposite(plan, all) : (all[0] as Manifest),
    );
  }

  private ofConfiguration({ plan, refs }: Selection): Awaitable<Manifest> {
    return andThen(this.parameters.merge(plan.name, refs), (merged) =>
      configurationManifest(plan, merged && { sha256: merged.sha256, refs }),
    );
  }

  private remember({ nodeId, generation, assignment }: AssignedNode, made: KeyedManifest): Manifest {
    this.nodes.set(nodeId, { generation, assignment, made });
    return made.manifest;
  }
}

function refsOf(
  plan: ConfigurationPlan,
  links: readonly ScopeLink[],
  prereleaseChannel: string | null,
): readonly ParameterVersionRef[] {
  const constraint = { configurationVersion: plan.tag.version, prereleaseChannel };
  return chooseRefs(plan.parameters, links, constraint);
}

function ofComposite({ name, tag, entryPoint }: CompositePlan, manifests: readonly Manifest[]): Manifest {
  const document = printIncludeDocument(entryPoint, manifests.map(toInclude));
  return compositeManifest({ name, version: tag.version, entryPoint, document }, manifests);
}

function toInclude({ configurationName, entryPoint, parametersFile }: Manifest) {
  const inside = (path: string) => `${configurationName}/${path}`;
  return {
    name: configurationName,
    configurationFile: inside(entryPoint),
    parametersFile: parametersFile === null ? null : inside(parametersFile),
  };
}

/**
 * Everything that a manifest is made of, by ids that never change their content. The entry point stands beside them,
 * as a tag that names none has that of the version before it.
 */
function keyOf(plan: Plan, selections: readonly Selection[]): string {
  let key = `${plan.kind} ${plan.name} ${plan.tag.oid} ${plan.entryPoint}`;
  for (const { plan: part, refs } of selections) {
    key += `\n${part.name} ${part.tag.version} ${part.tag.oid} ${part.entryPoint}\n`;
    for (const { oid } of refs) key += `${oid} `;
  }
  return key;
}

function isSame(a: Assignment, b: Assignment): boolean {
  return (
    a === b ||
    (a.configurationId === b.configurationId &&
      a.compositeId === b.compositeId &&
      a.majorVersion === b.majorVersion &&
      a.prereleaseChannel === b.prereleaseChannel)
  );
}
