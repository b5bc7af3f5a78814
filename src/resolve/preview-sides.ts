/** Reads one side of a preview's groups: the files, the documents that are merged, their schema, and which values are secure. */

import type { MergeWay } from '../domain/merge-way.ts';
import type { SecretNames } from '../domain/secrets.ts';
import { escapeToken } from '../domain/value.ts';
import type { StoredFile } from '../git/types.ts';
import type { VersionRef } from '../versions/types.ts';
import { type Declared, schemaIn } from './declared.ts';
import type { Delivery, DeliveryPart, GivenFile } from './delivery.ts';
import type { DocumentSource } from './document-source.ts';
import type { ManifestPart } from './manifest.ts';
import type { MergedParameters, ParameterReader } from './parameters.ts';
import type { ConfigurationPlan } from './plans.ts';
import type { Bundle, MergedFile } from './preview-files.ts';
import type { SchemaReader } from './schemas.ts';
import { declaredBy, fallbackMajors, secretNamesOf } from './secret-names.ts';

/** What reads one side of a preview. */
export interface SideReaders {
  schemas: SchemaReader;
  parameters: ParameterReader;
}

/** A configuration of what a node gets, with all that is asked about it. */
export interface SidePart {
  name: string;
  /** The files of the version, without any at the place of its merged parameters. */
  files: readonly StoredFile[];
  /** The parameter files that are merged, in their order, and what they hold. */
  refs: readonly VersionRef[];
  documents: readonly DocumentSource[];
  /** The schema that the parameters are checked with; null if there is none. */
  schema: DocumentSource | null;
  secrets: SecretNames;
  /** How the documents merge for its nodes. */
  way: MergeWay;
  merged: MergedFile | null;
  /** The real text of the merged parameters. */
  bytes: Buffer | null;
}

/** What a node gets on one side of a preview. */
export interface Side extends Bundle {
  parts: readonly SidePart[];
}

/** What a group gets. Null where its nodes get nothing, or an error. */
export interface GroupSides {
  before: Side | null;
  after: Side | null;
}

/** In whose turn documents are read. */
export const CALLER = 'preview';

/** Reads what is asked about deliveries of one side. What their plans share is read once. */
export class SideMaker {
  private readonly readers: SideReaders;
  private readonly declared = new Map<ConfigurationPlan, Declared>();
  /** By the plan, and the lower majors of which files are used. */
  private readonly secrets = new Map<ConfigurationPlan, Map<string, SecretNames>>();

  constructor(readers: SideReaders) {
    this.readers = readers;
  }

  async make({ plan, manifest, parts }: Delivery): Promise<Side> {
    const made: SidePart[] = [];
    for (const [at, part] of parts.entries())
      made.push(await this.makePart(part, manifest.parts[at] as ManifestPart));
    const document = plan.kind === 'composite' ? manifest.document : null;
    return {
      document: document === null ? null : { path: manifest.entryPoint, text: document },
      parts: made,
    };
  }

  private async makePart(delivered: DeliveryPart, { parameters }: ManifestPart): Promise<SidePart> {
    const { plan, scopes, way } = delivered;
    const { name } = plan;
    const declared = await this.declaredBy(plan);
    const secrets = await this.secretsOf(plan, declared, scopes);
    const documents: DocumentSource[] = [];
    const refs: VersionRef[] = [];
    for (const { file } of scopes) {
      const waited = this.readers.parameters.source(name, file);
      const document = waited instanceof Promise ? await waited : waited;
      if (document === null) continue;
      documents.push(document);
      refs.push(file);
    }
    const merged = parameters && (await this.merge(name, parameters.refs, way));
    return {
      ...{ name, files: merged ? plan.filesBesideParameters : plan.files, refs, documents, secrets, way },
      schema: plan.parameters === null ? null : schemaIn(declared),
      merged: merged && {
        evidence: merged.evidence,
        hasSecrets: merged.hasSecrets,
        size: merged.bytes.length,
        oid: null,
      },
      bytes: merged?.bytes ?? null,
    };
  }

  private merge(
    name: string,
    refs: readonly GivenFile['file'][],
    way: MergeWay,
  ): Promise<MergedParameters | null> {
    return Promise.resolve(this.readers.parameters.merge(name, refs, way));
  }

  private async declaredBy(plan: ConfigurationPlan): Promise<Declared> {
    const known = this.declared.get(plan);
    if (known) return known;
    const declared = await declaredBy(this.readers.schemas, plan, CALLER);
    this.declared.set(plan, declared);
    return declared;
  }

  private async secretsOf(
    plan: ConfigurationPlan,
    declared: Declared,
    scopes: readonly GivenFile[],
  ): Promise<SecretNames> {
    const hasFallback = scopes.some(({ isFallback }) => isFallback);
    const majors = hasFallback ? [...fallbackMajors(scopes)].join() : '';
    const ofPlan = this.secrets.get(plan) ?? new Map<string, SecretNames>();
    this.secrets.set(plan, ofPlan);
    const known = ofPlan.get(majors);
    if (known) return known;
    const names = await secretNamesOf(this.readers.schemas, plan.name, declared, scopes, CALLER);
    ofPlan.set(majors, names);
    return names;
  }
}

/** What names the files of the documents of a part. A file is another where any of the three is another. */
export function fileNames({ name, refs }: Pick<SidePart, 'name' | 'refs'>): string[] {
  return refs.map(({ series, version }) => `${name} ${series} ${version}`);
}

export const factsOf = (part: SidePart | null) =>
  part && { files: fileNames(part), secrets: part.secrets, way: part.way };

/** The path of something of a child, behind the child's name. */
export function behind(child: string, path: string): string {
  return `/${escapeToken(child)}${path}`;
}

interface PartPair {
  child: string | null;
  before: SidePart | null;
  after: SidePart | null;
}

/** The parts that are compared with each other: those of the same name in composites, else the only ones. */
export function pairParts({ before, after }: GroupSides): PartPair[] {
  const pairs = new Map<string | null, PartPair>();
  const childOf = (side: Side, part: SidePart) => (side.document === null ? null : part.name);
  for (const part of after?.parts ?? []) {
    const child = after && childOf(after, part);
    pairs.set(child, { child, before: null, after: part });
  }
  for (const part of before?.parts ?? []) {
    const child = before && childOf(before, part);
    const pair = pairs.get(child);
    if (pair) pair.before = part;
    else pairs.set(child, { child, before: part, after: null });
  }
  return [...pairs.values()];
}
