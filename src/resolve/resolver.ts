/**
 * Answers what a node gets. The answer is remembered per node until the generation changes. After that it is made of a
 * plan that many nodes share and the few files that apply to this node, and many nodes share the manifest as well.
 */

import { type Assignment, type KnownNode, MAX_NODES, type ScopeLink } from '../db/node-lookup.ts';
import type { Database } from '../db/open.ts';
import { PARAMETERS_FILE } from '../domain/bundle-paths.ts';
import { printIncludeDocument } from '../domain/composite-document.ts';
import { type Awaitable, allOf, andThen, singleFlight } from '../lib/awaitable.ts';
import { internal } from '../lib/errors.ts';
import { RecentMap } from '../lib/recent-map.ts';
import type { VersionRef } from '../versions/store.ts';
import type { VersionSource } from '../versions/version-source.ts';
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

/** A file of a bundle. Its content is read only when it is needed. */
export interface BundleEntry {
  /** The path of the file, with `/` between its segments. */
  path: string;
  executable: boolean;
  read(): Promise<Buffer>;
}

interface KeyedManifest {
  /** Everything that the manifest is made of. */
  key: string;
  manifest: Manifest;
}

/** The result of a node's last poll. */
interface Remembered {
  generation: number;
  assignment: Assignment;
  made: KeyedManifest;
}

/** The number of recent manifests that are kept for nodes to share. At most twice as many are; each costs some 1 KB. */
const MAX_MANIFESTS = 5_000;

/** A configuration's plan with the parameter files that apply to one node, lowest precedence first. */
interface Selection {
  plan: ConfigurationPlan;
  refs: readonly VersionRef[];
}

export interface ResolverTools {
  planner: Planner;
  parameters: ParameterReader;
  /** Is told how long each manifest took to make. */
  onResolved(milliseconds: number): void;
}

export class Resolver {
  private readonly database: Database;
  private readonly store: VersionSource;
  private readonly planner: Planner;
  private readonly parameters: ParameterReader;
  /** The results of the last polls. A node takes some 200 bytes beside its manifest. */
  private readonly nodes = new RecentMap<string, Remembered>(MAX_NODES);
  private readonly manifests = new RecentMap<string, KeyedManifest>(MAX_MANIFESTS);
  private readonly making = new Map<string, Promise<KeyedManifest>>();
  private readonly onResolved: ResolverTools['onResolved'];

  constructor(database: Database, store: VersionSource, { planner, parameters, onResolved }: ResolverTools) {
    this.database = database;
    this.store = store;
    this.planner = planner;
    this.parameters = parameters;
    this.onResolved = onResolved;
  }

  /** The number of nodes whose manifest is in memory. */
  get rememberedNodes(): number {
    return this.nodes.size;
  }

  /**
   * The manifest for a node as it was looked up. In the steady state this is one look-up in a map.
   * @throws HawserError not_found `no_eligible_version` if no published version fits the assignment
   */
  manifest(node: AssignedNode): Awaitable<Manifest> {
    const known = this.nodes.get(node.nodeId);
    if (known?.generation === node.generation && isSame(known.assignment, node.assignment)) {
      return known.made.manifest;
    }
    const plan = this.planner.plan(node.assignment, node.generation);
    return andThen(plan, (made) => this.fill(node, made));
  }

  /** All files of the bundle in its order: a composite's document first, then part by part by the bytes of the paths. */
  async files(manifest: Manifest): Promise<BundleEntry[]> {
    const parts = await Promise.all(manifest.parts.map((part) => this.filesOf(part)));
    const { document, entryPoint } = manifest;
    if (document === null) return parts.flat();
    const read = async () => Buffer.from(document);
    return [{ path: entryPoint, executable: false, read }, ...parts.flat()];
  }

  private async filesOf(part: ManifestPart): Promise<BundleEntry[]> {
    const { configurationName: name, tag, folder, parameters } = part;
    const repository = { kind: 'configurations', name } as const;
    const { files } = await this.store.details(repository, tag);
    const own = (parameters === null ? files : besideParameters(files)).map(({ path, oid, executable }) => ({
      path: folder + path,
      executable,
      read: () => this.store.blob(repository, oid),
    }));
    if (parameters === null) return own;
    const read = () => this.readParameters(name, parameters);
    const path = folder + PARAMETERS_FILE;
    const bytes = Buffer.from(path);
    const after = own.findIndex((file) => Buffer.compare(Buffer.from(file.path), bytes) > 0);
    return own.toSpliced(after === -1 ? own.length : after, 0, { path, executable: false, read });
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
      ? this.database.nodeLookup.scopesOf(node)
      : [];
    const { prereleaseChannel } = node.assignment;
    return plans.map((each) => ({ plan: each, refs: refsOf(each, links, prereleaseChannel) }));
  }

  /** Nodes that need the same manifest while it is being made share one making. A failure is not kept. */
  private make(key: string, plan: Plan, selections: readonly Selection[]): Awaitable<KeyedManifest> {
    return singleFlight(this.making, key, () => {
      const start = performance.now();
      return andThen(this.build(plan, selections), (manifest) => {
        this.onResolved(performance.now() - start);
        const keyed = { key, manifest };
        this.manifests.set(key, keyed);
        return keyed;
      });
    });
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
): readonly VersionRef[] {
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
 * Everything that a manifest is made of, by ids whose content never changes. The entry point is added, because a tag that
 * names none has the entry point of the version before it.
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
      a.prereleaseChannel === b.prereleaseChannel &&
      a.version === b.version)
  );
}
