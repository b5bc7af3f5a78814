/** Why a node's parameters are as they are: which file each scope gives, who set each value, and what is amiss. */

import type { KnownNode, ScopeLink } from '../db/node-lookup.ts';
import type { Database } from '../db/open.ts';
import { type LeafProvenance, mergeMappings, mergeUntraced } from '../domain/merge.ts';
import { checkParameters } from '../domain/parameter-checks.ts';
import type { ParameterDefinitions } from '../domain/parameter-schema.ts';
import type { Mapping } from '../domain/value.ts';
import { majorOf } from '../domain/version-order.ts';
import type { GitStore, ParameterDetails } from '../git/store.ts';
import { type FieldError, HawserError } from '../lib/errors.ts';
import { chooseFiles, type ParameterReader, type ScopeFile } from './parameters.ts';
import type { ConfigurationPlan, Planner } from './plans.ts';
import type { Declared, SchemaReader } from './schemas.ts';
import { type SecretNames, secureNames } from './secrets.ts';

/** A version of a configuration as a node gets it, or would get it. */
export interface Delivered {
  configurationId: string;
  configurationVersion: string;
  prereleaseChannel: string | null;
  /** Whether the node gets it as a child of a composite. */
  isChild: boolean;
  /** The merged whole against the version's schema. */
  problems: readonly FieldError[];
}

/** A scope with what its file says of itself. */
export interface ExplainedScope extends ScopeFile {
  /** Null where the scope gives no file. */
  details: ParameterDetails | null;
}

export interface Explanation extends Delivered {
  /** In the order of merging. */
  scopes: readonly ExplainedScope[];
  merged: Mapping;
  /** By JSON Pointer, in the order of the document; its sources are those of `sources`. */
  provenance: ReadonlyMap<string, LeafProvenance>;
  /** The scopes that have content, in the order of merging. */
  sources: readonly ExplainedScope[];
  secrets: SecretNames;
}

interface Readers {
  planner: Planner;
  parameters: ParameterReader;
  schemas: SchemaReader;
}

/** A configuration's plan for one node. */
interface Part {
  plan: ConfigurationPlan;
  links: readonly ScopeLink[];
  prereleaseChannel: string | null;
  isChild?: true;
}

/** Where no scope gives a document, it is as if one set nothing. */
const NOTHING_SET: Mapping = new Map([['parameters', new Map()]]);

export class Explainer {
  private readonly database: Database;
  private readonly store: GitStore;
  private readonly readers: Readers;

  constructor(database: Database, store: GitStore, readers: Readers) {
    this.database = database;
    this.store = store;
    this.readers = readers;
  }

  /**
   * Explains a configuration as the node gets it by its assignment; one that it does not get, as it would by an
   * assignment of any major version and no channel.
   * @throws HawserError not_found `no_eligible_version` where no published version fits
   */
  async explain(node: KnownNode, configuration: { id: string; name: string }): Promise<Explanation> {
    const part = await this.partFor(node, configuration);
    const { plan, prereleaseChannel } = part;
    const scopes = await Promise.all(filesOf(part).map((file) => this.withDetails(plan.name, file)));
    const { sources, documents } = await this.contentOf(plan.name, scopes);
    const { merged, provenance } = mergeMappings(documents);
    const { definitions, fault } = await this.declaredBy(plan);
    return {
      configurationId: configuration.id,
      configurationVersion: plan.tag.version,
      prereleaseChannel,
      isChild: part.isChild ?? false,
      problems: problemsOf(plan, definitions, documents.length === 0 ? NOTHING_SET : merged),
      scopes,
      merged,
      provenance,
      sources,
      // Where nobody can tell which values are secure, all are.
      secrets: fault ? 'all' : await this.secretsOf(plan.name, definitions, scopes),
    };
  }

  /** How many problems there are in what the node gets now: of a composite, in all its children. */
  async countProblems(node: KnownNode): Promise<number> {
    const { assignment, generation } = node;
    if (assignment === null) return 0;
    const plan = await orNull(async () => this.readers.planner.plan(assignment, generation));
    if (plan === null) return 0;
    const plans = plan.kind === 'composite' ? plan.children : [plan];
    const links = this.database.nodeLookup.scopesOf(node.nodeId);
    const { prereleaseChannel } = assignment;
    const counts = await Promise.all(
      plans.map((each) => this.countIn({ plan: each, links, prereleaseChannel })),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  }

  private async countIn(part: Part): Promise<number> {
    const { plan } = part;
    const { definitions } = await this.declaredBy(plan);
    if (definitions === null) return 0;
    const { documents } = await this.contentOf(plan.name, filesOf(part));
    const merged = documents.length === 0 ? NOTHING_SET : mergeUntraced(documents);
    return problemsOf(plan, definitions, merged).length;
  }

  private async partFor(node: KnownNode, { id, name }: { id: string; name: string }): Promise<Part> {
    const { assignment, generation, nodeId } = node;
    const { planner } = this.readers;
    const links = this.database.nodeLookup.scopesOf(nodeId);
    if (assignment !== null && assignment.configurationId === null) {
      const { prereleaseChannel } = assignment;
      const composite = await planner.plan(assignment, generation);
      const child = composite.kind === 'composite' && composite.children.find((each) => each.name === name);
      if (child) return { plan: child, links, prereleaseChannel, isChild: true };
    }
    const isAssigned = assignment?.configurationId === id;
    const wish = isAssigned ? assignment : { ...WITHOUT_WISHES, configurationId: id };
    const plan = (await planner.plan(wish, generation)) as ConfigurationPlan;
    return { plan, links, prereleaseChannel: wish.prereleaseChannel };
  }

  private async withDetails(name: string, scope: ScopeFile): Promise<ExplainedScope> {
    const details = scope.file && (await this.store.parameters.details(name, scope.file));
    return { ...scope, details };
  }

  /** Of the scopes those that have content, and the content of each. */
  private async contentOf<S extends ScopeFile>(name: string, scopes: readonly S[]) {
    const sources: S[] = [];
    const documents: Mapping[] = [];
    for (const scope of scopes) {
      const document = scope.file && (await this.readers.parameters.document(name, scope.file));
      if (document === null) continue;
      sources.push(scope);
      documents.push(document);
    }
    return { sources, documents };
  }

  private async declaredBy({ name, tag }: ConfigurationPlan): Promise<Declared> {
    const version = await this.readers.schemas.find(name, tag.version);
    return version ? this.readers.schemas.read(name, version) : { definitions: null, fault: null };
  }

  /**
   * What the delivered version declares secure, and what the schema did that a file of a lower major was written for:
   * its secrets are secret still.
   */
  private async secretsOf(
    name: string,
    definitions: ParameterDefinitions | null,
    scopes: readonly ScopeFile[],
  ): Promise<Set<string>> {
    const majors = new Set(
      scopes.map(({ file, isFallback }) => (file && isFallback ? majorOf(file.version) : null)),
    );
    const older: (ParameterDefinitions | null)[] = [];
    for (const major of majors)
      if (major !== null) older.push(await this.readers.schemas.forMajor(name, major));
    return secureNames(definitions, ...older);
  }
}

const WITHOUT_WISHES = { compositeId: null, majorVersion: null, prereleaseChannel: null };

function filesOf({ plan, links, prereleaseChannel }: Part): ScopeFile[] {
  return chooseFiles(plan.parameters, links, { configurationVersion: plan.tag.version, prereleaseChannel });
}

/** None where the configuration brings its own parameters: what it sets itself only its nodes find out. */
function problemsOf(
  { parameters }: ConfigurationPlan,
  definitions: ParameterDefinitions | null,
  merged: Mapping,
): FieldError[] {
  if (parameters === null) return [];
  return checkParameters(definitions, merged, { partial: false });
}

/** Null for what is not there: nothing assigned any more, or no version that fits. */
async function orNull<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof HawserError && error.kind === 'not_found') return null;
    throw error;
  }
}
