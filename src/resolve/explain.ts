/** Explains a node's parameters: which file each scope gives, who set each value, and what is wrong. */

import type { Database } from '../db/database.ts';
import type { AskedNode, KnownNode, ScopeLink } from '../db/node-lookup.ts';
import type { MergeWay } from '../domain/merge-way.ts';
import { isPrerelease } from '../domain/version-order.ts';
import type { FieldError } from '../lib/errors.ts';
import { seriesOf } from '../versions/parameter-files.ts';
import type { ParameterDetails } from '../versions/store.ts';
import type { VersionSource } from '../versions/version-source.ts';
import { type Declared, schemaIn } from './declared.ts';
import type { DeliveryPart } from './delivery.ts';
import type { DocumentSource } from './document-tasks.ts';
import type { DocumentRunner } from './documents.ts';
import { chooseFiles, type ParameterReader, type ScopeFile } from './parameters.ts';
import { valuesFor, wayFor } from './planned-merging.ts';
import type { ConfigurationPlan, Planner } from './plans.ts';
import type { ShownSource } from './provenance-text.ts';
import type { SchemaReader } from './schemas.ts';
import { declaredBy, secretNamesOf } from './secret-names.ts';
import type { ValueOrigins } from './value-origins.ts';

/** A version of a configuration as a node gets it, or would get it. */
export interface Delivered {
  nodeId: string;
  configurationId: string;
  configurationVersion: string;
  prereleaseChannel: string | null;
}

/** A scope with the details of its file. */
export interface ExplainedScope extends ScopeFile {
  /** Null if the scope gives no file. */
  details: ParameterDetails | null;
}

export interface Explanation extends Delivered {
  /** What the check of the merged parameters with the version's schema has found. */
  problems: readonly FieldError[];
  /** The scopes in the order of merging. */
  scopes: readonly ExplainedScope[];
}

/** Who asks about which node and configuration. */
export interface Question {
  node: KnownNode;
  configuration: { id: string; name: string };
  /** The caller in whose turn documents are read. */
  caller: string;
  /** Is told the scopes whose files are merged, before any of it is shown. It throws where the caller may not read them. */
  admit(scopes: readonly ScopeLink[]): Promise<void>;
}

interface Readers {
  planner: Planner;
  parameters: ParameterReader;
  schemas: SchemaReader;
  documents: DocumentRunner;
  origins: ValueOrigins;
}

/** A configuration's plan for one node. */
export interface Part {
  plan: ConfigurationPlan;
  links: readonly ScopeLink[];
  prereleaseChannel: string | null;
  /** How its files merge for the node. */
  way: MergeWay;
}

export class Explainer {
  private readonly database: Database;
  private readonly store: VersionSource;
  private readonly readers: Readers;

  constructor(database: Database, store: VersionSource, readers: Readers) {
    this.database = database;
    this.store = store;
    this.readers = readers;
  }

  /** Whether the node gets the configuration of this name as a child of a composite. */
  async isChild(node: KnownNode, name: string): Promise<boolean> {
    return (await this.childOf(node, name)) !== null;
  }

  /**
   * Explains a configuration as the node gets it by its assignment. A configuration that the node does not get is
   * explained as if it were assigned with any major version and no channel.
   * @throws HawserError not_found `no_eligible_version` if no published version fits; conflict
   *   `parameter_merge_failed` if the files are too large together
   */
  async explain(question: Question): Promise<Explanation> {
    const part = await this.partFor(question);
    const scopes = await this.scopesOf(part);
    await question.admit(scopes.filter(({ file }) => file !== null));
    const declared = await this.declaredBy(part.plan, question.caller);
    const problems = await this.problemsIn(part, declared, question.caller);
    return { ...deliveredBy(part, question), problems, scopes };
  }

  /**
   * Tells who set each value of what `explain` explains, as JSON (`ParameterProvenance`). The cost grows with the length
   * of the answer, which is bounded.
   * @throws HawserError the same errors as `explain`, and `parameter_merge_failed` if the answer would be too long
   */
  async provenance(question: Question): Promise<Buffer> {
    const { caller } = question;
    const part = await this.partFor(question);
    const scopes = await this.scopesOf(part);
    await question.admit(scopes.filter(({ file }) => file !== null));
    return this.printed({ ...part, scopes }, deliveredBy(part, question), caller);
  }

  /**
   * Tells the same of a part of what a node ran at some time. What merges its files has found them already.
   * @param delivered the first members of the answer
   * @throws HawserError `parameter_merge_failed` if the answer would be too long
   */
  provenanceOfPart(part: DeliveryPart, delivered: object, caller: string): Promise<Buffer> {
    return this.printed(part, delivered, caller);
  }

  private async printed(
    { plan, scopes, way }: Omit<DeliveryPart, 'scopes'> & { scopes: readonly ScopeFile[] },
    delivered: object,
    caller: string,
  ): Promise<Buffer> {
    const { sources, documents } = await this.contentOf(plan.name, scopes);
    const declared = await this.declaredBy(plan, caller);
    const text = await this.readers.documents.run(caller, 'printProvenance', {
      delivered,
      sources: await Promise.all(sources.map((scope) => this.shownSource(plan, scope, caller))),
      documents,
      ...{ schema: schemaFor({ plan }, declared), way },
      secrets: await secretNamesOf(this.readers.schemas, plan.name, declared, scopes, caller),
    });
    return Buffer.from(text.buffer, text.byteOffset, text.byteLength);
  }

  /**
   * What the check of the merged parameters with the version's schema finds.
   * @throws HawserError conflict `parameter_merge_failed`
   */
  async problemsIn(part: Part, declared: Declared, caller: string): Promise<readonly FieldError[]> {
    const { documents } = await this.contentOf(part.plan.name, filesOf(part));
    const schema = schemaFor(part, declared);
    return this.readers.documents.run(caller, 'checkMerged', { schema, documents, way: part.way });
  }

  private async partFor({ node, configuration: { id, name } }: Question): Promise<Part> {
    const { assignment } = node;
    const links = await this.database.nodeLookup.scopesOf(node);
    const child = await this.childOf(node, name);
    const partOf = (plan: ConfigurationPlan, prereleaseChannel: string | null) =>
      toPart(plan, links, { node, prereleaseChannel });
    if (assignment && child) return partOf(child, assignment.prereleaseChannel);
    const isAssigned = assignment?.configurationId === id;
    const constraint = isAssigned ? assignment : { ...UNCONSTRAINED, configurationId: id };
    const plan = (await this.readers.planner.plan(constraint, node)) as ConfigurationPlan;
    return partOf(plan, constraint.prereleaseChannel);
  }

  private async childOf(node: KnownNode, name: string): Promise<ConfigurationPlan | null> {
    const { assignment } = node;
    if (assignment === null || assignment.configurationId !== null) return null;
    const composite = await this.readers.planner.plan(assignment, node);
    return composite.kind === 'composite'
      ? (composite.children.find((child) => child.name === name) ?? null)
      : null;
  }

  private scopesOf(part: Part): Promise<ExplainedScope[]> {
    const { parameters } = this.store;
    return Promise.all(
      filesOf(part).map(async (scope) => {
        const details = scope.file && (await parameters.details(part.plan.name, scope.file));
        return { ...scope, details };
      }),
    );
  }

  /** @param scope must have content, and so a file */
  private async shownSource(
    plan: ConfigurationPlan,
    { scopeTypeName, scopeValue, precedence, file }: ScopeFile,
    caller: string,
  ): Promise<ShownSource> {
    if (file === null || plan.parameters === null) throw new Error('content comes from no file');
    const series = plan.parameters.of(seriesOf({ scopeType: scopeTypeName, value: scopeValue }));
    const { version } = file;
    return {
      scope: { scopeTypeName, scopeValue, precedence },
      file: { resolvedVersion: version, isPrerelease: isPrerelease(version) },
      ...(await this.readers.origins.of(plan.name, series, file, caller)),
    };
  }

  /** The scopes that have content, and the content of each of them. */
  private async contentOf<S extends ScopeFile>(name: string, scopes: readonly S[]) {
    const sources: S[] = [];
    const documents: DocumentSource[] = [];
    for (const scope of scopes) {
      const document = scope.file && (await this.readers.parameters.source(name, scope.file));
      if (document === null) continue;
      sources.push(scope);
      documents.push(document);
    }
    return { sources, documents };
  }

  /** As `declaredBy` of secret-names.ts. */
  declaredBy(plan: ConfigurationPlan, caller: string): Promise<Declared> {
    return declaredBy(this.readers.schemas, plan, caller);
  }
}

const UNCONSTRAINED = { compositeId: null, majorVersion: null, prereleaseChannel: null, version: null };

/** @param node its scopes must have been asked for */
export function toPart(
  plan: ConfigurationPlan,
  links: readonly ScopeLink[],
  { node, prereleaseChannel }: { node: AskedNode; prereleaseChannel: string | null },
): Part {
  const { nodeId, scopes } = node;
  const values = valuesFor([plan], { nodeId, fqdn: scopes?.fqdn ?? '', links });
  return { plan, links, prereleaseChannel, way: wayFor(plan.merging, values) };
}

function filesOf({ plan, links, prereleaseChannel }: Part): ScopeFile[] {
  return chooseFiles(plan, links, { configurationVersion: plan.tag.version, prereleaseChannel });
}

/** Null if the configuration brings its own parameters, because the server does not know what it sets itself. */
function schemaFor({ plan }: Pick<Part, 'plan'>, declared: Declared): DocumentSource | null {
  return plan.parameters === null ? null : schemaIn(declared);
}

function deliveredBy({ plan, prereleaseChannel }: Part, { node, configuration }: Question): Delivered {
  const { nodeId } = node;
  const { id: configurationId } = configuration;
  return { nodeId, configurationId, configurationVersion: plan.tag.version, prereleaseChannel };
}
