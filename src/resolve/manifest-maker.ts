/** Makes manifests out of plans and the parameter files that apply, and reads the files that a manifest stands for. */

import { idsOfLink, ownerIdOf } from '../db/node-lookup.ts';
import { PARAMETERS_FILE } from '../domain/bundle-paths.ts';
import { printIncludeDocument } from '../domain/composite-document.ts';
import type { VariableValues } from '../domain/variables.ts';
import { type Awaitable, allOf, andThen } from '../lib/awaitable.ts';
import { internal } from '../lib/errors.ts';
import type { VersionSource } from '../versions/version-source.ts';
import type { Delivery, GivenFile } from './delivery.ts';
import {
  compositeManifest,
  configurationManifest,
  type Manifest,
  type ManifestParameters,
  type ManifestPart,
} from './manifest.ts';
import { besideParameters, type ChosenRefs, type ParameterReader } from './parameters.ts';
import { wayFor } from './planned-merging.ts';
import type { CompositePlan, ConfigurationPlan, Plan } from './plans.ts';

/** A file of a bundle. Its content is read only when it is needed. */
export interface BundleEntry {
  /** The path of the file, with `/` between its segments. */
  path: string;
  executable: boolean;
  read(): Promise<Buffer>;
}

/** A configuration's plan with the parameter files that apply to one node, lowest precedence first. */
export interface Selection extends ChosenRefs {
  plan: ConfigurationPlan;
  /** The variables of the node; null where no part of what it gets has any. */
  values: VariableValues | null;
}

export class ManifestMaker {
  private readonly source: VersionSource;
  private readonly parameters: ParameterReader;

  constructor(source: VersionSource, parameters: ParameterReader) {
    this.source = source;
    this.parameters = parameters;
  }

  /** That of the keys of secrets. */
  get generation(): number {
    return this.parameters.generation;
  }

  /**
   * @param selections are those of the plan's parts, in their order
   * @throws HawserError as `ParameterReader.merge`, as a rejected promise
   */
  build(plan: Plan, selections: readonly Selection[]): Awaitable<Manifest> {
    const manifests = allOf(selections.map((selection) => this.ofConfiguration(selection)));
    return andThen(manifests, (all) =>
      plan.kind === 'composite' ? ofComposite(plan, all) : (all[0] as Manifest),
    );
  }

  /**
   * The same, with all that the manifest is made of.
   * @param scopes are the files of each of the plan's parts, in their order
   * @param values as `Selection` has them
   */
  deliver(
    plan: Plan,
    scopes: readonly (readonly GivenFile[])[],
    values: VariableValues | null,
  ): Awaitable<Delivery> {
    const parts = partsOf(plan).map((part, at) => ({
      ...{ plan: part, scopes: scopes[at] ?? [], way: wayFor(part.merging, values) },
    }));
    const selections = parts.map((part) => ({
      plan: part.plan,
      refs: part.scopes.map(({ file }) => file),
      ...{ links: part.scopes, values },
    }));
    return andThen(this.build(plan, selections), (manifest) => ({ plan, manifest, parts }));
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
    const { files } = await this.source.details(repository, tag);
    const own = (parameters === null ? files : besideParameters(files)).map(({ path, oid, executable }) => ({
      path: folder + path,
      executable,
      read: () => this.source.blob(repository, oid),
    }));
    if (parameters === null) return own;
    const read = () => this.readParameters(name, parameters);
    const path = folder + PARAMETERS_FILE;
    const bytes = Buffer.from(path);
    const after = own.findIndex((file) => Buffer.compare(Buffer.from(file.path), bytes) > 0);
    return own.toSpliced(after === -1 ? own.length : after, 0, { path, executable: false, read });
  }

  private async readParameters(name: string, { refs, evidence, way }: ManifestParameters): Promise<Buffer> {
    const merged = await this.parameters.merge(name, refs, way);
    if (merged?.evidence !== evidence)
      throw internal('repository_damaged', 'The parameters are not what they were');
    return merged.bytes;
  }

  private ofConfiguration({ plan, refs, links, values }: Selection): Awaitable<Manifest> {
    const way = wayFor(plan.merging, values);
    return andThen(this.parameters.merge(plan.name, refs, way), (merged) =>
      configurationManifest(
        plan,
        merged && {
          ...{ evidence: merged.evidence, hasSecrets: merged.hasSecrets },
          ...{ mergeVersion: merged.mergeVersion, variables: merged.variables, way },
          ...{ refs, scopes: links.map(idsOfLink) },
        },
      ),
    );
  }
}

/** The configurations of which a plan consists. */
export function partsOf(plan: Plan): readonly ConfigurationPlan[] {
  return plan.kind === 'composite' ? plan.children : [plan];
}

/**
 * Everything that a manifest is made of, by ids whose content never changes. The entry point is added, because a tag that
 * names none has the entry point of the version before it. Secrets open by the ids of the configuration and of what a file
 * belongs to, and by the keys of one generation.
 */
export function keyOfManifest(plan: Plan, selections: readonly Selection[], generation: number): string {
  let key = `${plan.kind} ${plan.name} ${plan.tag.oid} ${plan.entryPoint} ${generation}`;
  for (const { plan: part, refs, links, values } of selections) {
    key += `\n${part.id} ${part.name} ${part.tag.version} ${part.tag.oid} ${part.entryPoint}\n`;
    key += part.merging.key;
    if (part.merging.hasVariables && values !== null) key += JSON.stringify(values);
    for (const [at, link] of links.entries()) key += `${refs[at]?.oid}@${ownerIdOf(link)} `;
  }
  return key;
}

function ofComposite({ name, tag, entryPoint }: CompositePlan, manifests: readonly Manifest[]): Manifest {
  const document = printIncludeDocument(entryPoint, manifests.map(toInclude));
  return compositeManifest({ name, tag, entryPoint, document }, manifests);
}

function toInclude({ configurationName, entryPoint, parametersFile }: Manifest) {
  const inside = (path: string) => `${configurationName}/${path}`;
  return {
    name: configurationName,
    configurationFile: inside(entryPoint),
    parametersFile: parametersFile === null ? null : inside(parametersFile),
  };
}
