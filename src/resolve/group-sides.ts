/** Reads one side of a preview's groups: the documents that are merged, their schema, and which values are secure. */

import type { SecretNames } from '../domain/secrets.ts';
import { escapeToken } from '../domain/value.ts';
import { type Declared, schemaIn } from './declared.ts';
import type { Delivery, DeliveryPart, GivenFile } from './delivery.ts';
import type { DocumentSource } from './document-source.ts';
import type { DocumentRunner } from './documents.ts';
import type { KeptFile, KeptPart, KeptSide } from './kept-groups.ts';
import type { ManifestPart } from './manifest.ts';
import type { MergedParameters, ParameterReader } from './parameters.ts';
import type { ConfigurationPlan } from './plans.ts';
import { asStored, isProposed } from './proposed-versions.ts';
import type { SchemaReader } from './schemas.ts';
import { declaredBy, fallbackMajors, secretNamesOf } from './secret-names.ts';

/** What reads one side of a preview. */
export interface SideReaders {
  schemas: SchemaReader;
  parameters: ParameterReader;
}

/** A proposed file without the values of secure parameters. */
export interface KeptProposal {
  /** The document as YAML. */
  text: string;
}

/** A part of what a node gets, with all that is asked about it. */
export interface SidePart {
  delivered: DeliveryPart;
  documents: readonly DocumentSource[];
  /** The schema that the parameters are checked with; null if there is none. */
  schema: DocumentSource | null;
  /** What names the file of each document. */
  files: readonly string[];
  bytes: Buffer | null;
  kept: Omit<KeptPart, 'merged'> & { merged: Mutable<KeptPart['merged']> };
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export interface Side {
  document: KeptSide['document'];
  parts: readonly SidePart[];
}

/** In whose turn documents are read. */
export const CALLER = 'preview';

/** Reads what is asked about deliveries of one side. What their plans share is read once. */
export class SideMaker {
  private readonly readers: SideReaders;
  private readonly documents: DocumentRunner;
  private readonly proposals: Proposals;
  private readonly declared = new Map<ConfigurationPlan, Declared>();
  /** By the plan, and the lower majors of which files are used. */
  private readonly secrets = new Map<ConfigurationPlan, Map<string, SecretNames>>();

  constructor(readers: SideReaders, documents: DocumentRunner, proposals: Proposals) {
    this.readers = readers;
    this.documents = documents;
    this.proposals = proposals;
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
    const { plan, scopes } = delivered;
    const { name, tag } = plan;
    const declared = await this.declaredBy(plan);
    const secrets = await this.secretsOf(plan, declared, scopes);
    const documents: DocumentSource[] = [];
    const files: string[] = [];
    const kept: KeptFile[] = [];
    for (const { file } of scopes) {
      const waited = this.readers.parameters.source(name, file);
      const document = waited instanceof Promise ? await waited : waited;
      if (document === null) continue;
      documents.push(document);
      files.push(fileName(name, file));
      const proposed = isProposed(file) ? await this.hide(document, secrets) : null;
      kept.push({ ref: asStored(file), proposed });
    }
    const merged = parameters && (await this.merge(name, parameters.refs));
    return {
      ...{ delivered, documents, files, bytes: merged?.bytes ?? null },
      schema: plan.parameters === null ? null : schemaIn(declared),
      kept: {
        ...{ name, tag: asStored(tag), secrets, files: kept },
        merged: merged && { sha256: merged.sha256, size: merged.bytes.length, oid: null },
      },
    };
  }

  private merge(name: string, refs: readonly GivenFile['file'][]): Promise<MergedParameters | null> {
    return Promise.resolve(this.readers.parameters.merge(name, refs));
  }

  private async hide(document: DocumentSource, secrets: SecretNames): Promise<number> {
    return this.proposals.add(document.key, secrets, async () =>
      this.documents.run(CALLER, 'hideSecrets', { document, secrets }),
    );
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

/** What is kept of proposed files: each once for each way in which its secure values are hidden. */
export class Proposals {
  private readonly kept: KeptProposal[] = [];
  private readonly places = new Map<string, number>();
  private readonly known = new Map<SecretNames, Map<string, number>>();

  async add(key: string, secrets: SecretNames, hide: () => Promise<string>): Promise<number> {
    const places = this.known.get(secrets) ?? new Map<string, number>();
    this.known.set(secrets, places);
    const known = places.get(key);
    if (known !== undefined) return known;
    const text = await hide();
    const place = this.places.get(text) ?? this.kept.push({ text }) - 1;
    this.places.set(text, place);
    places.set(key, place);
    return place;
  }

  print(): string {
    return JSON.stringify(this.kept);
  }
}

/** Names a parameter file. It is another where any of the three is another. */
export function fileName(configurationName: string, file: { series: string; version: string }): string {
  return `${configurationName} ${file.series} ${file.version}`;
}

/** The path of something of a child, behind the child's name. */
export function behind(child: string, path: string): string {
  return `/${escapeToken(child)}${path}`;
}

/** The parts that are compared with each other: those of the same name in composites, else the only ones. */
export function pairParts<P extends { kept: { name: string } }>(
  before: { document: unknown; parts: readonly P[] } | null,
  after: { document: unknown; parts: readonly P[] } | null,
): { child: string | null; before: P | null; after: P | null }[] {
  const pairs = new Map<string | null, { child: string | null; before: P | null; after: P | null }>();
  const childOf = (side: { document: unknown }, part: P) => (side.document === null ? null : part.kept.name);
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
