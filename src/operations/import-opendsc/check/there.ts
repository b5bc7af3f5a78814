/** What OpenDSC serves its nodes, made from its database and its files alone. */

import { mergeUntraced } from '../../../domain/merge.ts';
import { type DocumentType, parseParameterDocument } from '../../../domain/parameter-document.ts';
import { DEFAULT_SCOPE_TYPE_ID, NODE_SCOPE_TYPE_ID } from '../../../domain/scopes.ts';
import type { Mapping } from '../../../domain/value.ts';
import { isVersion } from '../../../domain/version-order.ts';
import { HawserError } from '../../../lib/errors.ts';
import { groupBy } from '../../../lib/group-by.ts';
import { Places } from '../look-at-files.ts';
import { KnownVersions } from '../plan/known-versions.ts';
import type {
  SourceAssignment,
  SourceFiles,
  SourceNode,
  SourceParameterFile,
  SourceSite,
} from '../source/site.ts';
import type { Part, Served } from './offer.ts';
import { withoutQuotes } from './plain-scalars.ts';

/** A scope that applies to a node. */
interface Scope {
  typeId: string;
  name: string;
  /** Null for Default. */
  value: string | null;
}

const NOTHING: ReadonlySet<string> = new Set();

export class ServedThere {
  private readonly site: SourceSite;
  private readonly files: SourceFiles;
  private readonly places: Places;
  private readonly assignments: ReadonlyMap<string, SourceAssignment>;
  private readonly configurations: ReadonlyMap<string, SourceSite['configurations'][number]>;
  private readonly versions: ReadonlyMap<string, SourceSite['versions'][number][]>;
  private readonly compositeVersions: ReadonlyMap<string, SourceSite['compositeVersions'][number][]>;
  private readonly items: ReadonlyMap<string, SourceSite['compositeItems'][number][]>;
  private readonly filesOf: ReadonlyMap<string, SourceSite['files'][number][]>;
  /** The published files of each configuration, scope type and value. */
  private readonly parameters: ReadonlyMap<string, SourceParameterFile[]>;
  private readonly tags: ReadonlyMap<string, Scope[]>;
  private readonly documents = new Map<string, Promise<Mapping | string | null>>();
  private readonly served = new Map<string, Promise<Served>>();

  constructor(site: SourceSite, files: SourceFiles) {
    this.site = site;
    this.files = files;
    this.places = new Places(site);
    this.assignments = new Map(site.assignments.map((each) => [each.nodeId, each]));
    this.configurations = new Map(site.configurations.map((each) => [each.id, each]));
    const published = <T extends { status: string }>(all: readonly T[]) =>
      all.filter(({ status }) => status === 'Published');
    this.versions = groupBy(published(site.versions), (each) => each.configurationId);
    this.compositeVersions = groupBy(
      published(site.compositeVersions),
      (each) => each.compositeConfigurationId,
    );
    this.items = groupBy(site.compositeItems, (each) => each.compositeConfigurationVersionId);
    this.filesOf = groupBy(site.files, (each) => each.versionId);
    const owners = new Map(site.parameterSchemas.map(({ id, configurationId }) => [id, configurationId]));
    this.parameters = groupBy(published(site.parameterFiles), (file) =>
      [owners.get(file.parameterSchemaId), file.scopeTypeId, file.scopeValue ?? ''].join(' '),
    );
    this.tags = tagsOf(site);
  }

  /** What the node is served. Nodes that are served the same share one value. */
  of(node: SourceNode): Promise<Served> {
    const assignment = this.assignments.get(node.id);
    const { configurationId, compositeConfigurationId } = assignment ?? {};
    if (!assignment || (configurationId ?? compositeConfigurationId ?? null) === null)
      return Promise.resolve(null);
    const scopes = this.scopesOf(node).filter((scope) => this.hasFiles(scope));
    const key = JSON.stringify([
      ...[configurationId, compositeConfigurationId, assignment.majorVersion, assignment.prereleaseChannel],
      ...scopes.map(({ typeId, value }) => [typeId, value]),
    ]);
    const known = this.served.get(key) ?? this.serve(key, assignment, scopes);
    this.served.set(key, known);
    return known;
  }

  /** Default, the node's tags in the order of their types, and the node itself. */
  private scopesOf({ id, fqdn }: SourceNode): Scope[] {
    const isOn = (typeId: string) =>
      this.site.scopeTypes.find((type) => type.id === typeId)?.isEnabled ?? false;
    return [
      ...(isOn(DEFAULT_SCOPE_TYPE_ID)
        ? [{ typeId: DEFAULT_SCOPE_TYPE_ID, name: 'Default', value: null }]
        : []),
      ...(this.tags.get(id) ?? []).filter(({ typeId }) => isOn(typeId)),
      ...(isOn(NODE_SCOPE_TYPE_ID) ? [{ typeId: NODE_SCOPE_TYPE_ID, name: 'Node', value: fqdn }] : []),
    ];
  }

  /** Whether any configuration has a file for the scope. Without one it makes no difference to what a node gets. */
  private hasFiles({ typeId, value }: Scope): boolean {
    return this.scopesWithFiles.has(`${typeId} ${value ?? ''}`);
  }

  private get scopesWithFiles(): ReadonlySet<string> {
    this.withFiles ??= new Set([...this.parameters.keys()].map((key) => key.slice(key.indexOf(' ') + 1)));
    return this.withFiles;
  }
  private withFiles: ReadonlySet<string> | null = null;

  private async serve(key: string, assignment: SourceAssignment, scopes: readonly Scope[]): Promise<Served> {
    const { configurationId, compositeConfigurationId, ...constraint } = assignment;
    const { prereleaseChannel } = constraint;
    if (compositeConfigurationId === null) {
      const version = highest(this.versions.get(configurationId ?? '') ?? [], constraint);
      if (!version) return { fault: 'There is no published version' };
      const part = await this.partOf(version, prereleaseChannel, scopes);
      return { offer: { key, isComposite: false, parts: new Map([[part.name, part]]) } };
    }
    const composite = highest(this.compositeVersions.get(compositeConfigurationId) ?? [], constraint);
    if (!composite) return { fault: 'There is no published version' };
    const parts = new Map<string, Part>();
    for (const { childConfigurationId, activeVersion } of this.items.get(composite.id) ?? []) {
      const versions = this.versions.get(childConfigurationId) ?? [];
      const version =
        activeVersion === null
          ? highest(versions, { majorVersion: null, prereleaseChannel })
          : versions.find((each) => each.version === activeVersion);
      // A child without a published version is skipped there.
      if (!version) continue;
      const part = await this.partOf(version, prereleaseChannel, scopes);
      parts.set(part.name, part);
    }
    return { offer: { key, isComposite: true, parts } };
  }

  private async partOf(
    { id, configurationId, version }: SourceSite['versions'][number],
    prereleaseChannel: string | null,
    scopes: readonly Scope[],
  ): Promise<Part> {
    const configuration = this.configurations.get(configurationId);
    const files = (this.filesOf.get(id) ?? []).map(
      ({ relativePath, checksum }) => [relativePath.replaceAll('\\', '/'), checksum] as const,
    );
    const chosen = configuration?.useServerManagedParameters
      ? this.chooseFiles(configurationId, prereleaseChannel, scopes)
      : [];
    const documents: Mapping[] = [];
    const unread = new Map<string, string>();
    for (const { scope, file } of chosen) {
      const document = file.isPassthrough ? null : await this.documentOf(file);
      if (typeof document === 'string') unread.set(scopeName(scope), document);
      else if (document) documents.push(document);
    }
    return {
      ...{ name: configuration?.name ?? '', version, files: new Map(files) },
      parameters: documents.length === 0 ? null : withoutQuotes(mergeUntraced(documents)),
      scopes: new Map(chosen.map(({ scope, file }) => [scopeName(scope), file.version])),
      ...{ secrets: NOTHING, unread },
    };
  }

  /** The highest published version of all majors is served, whatever the major of the configuration. */
  private chooseFiles(configurationId: string, prereleaseChannel: string | null, scopes: readonly Scope[]) {
    return scopes.flatMap((scope) => {
      const all = this.parameters.get([configurationId, scope.typeId, scope.value ?? ''].join(' ')) ?? [];
      const file = highest(all, { majorVersion: null, prereleaseChannel });
      return file ? [{ scope, file }] : [];
    });
  }

  /** Null where there is no file, which is passed over there. A sentence where we cannot read it. */
  private documentOf(file: SourceParameterFile): Promise<Mapping | string | null> {
    const known = this.documents.get(file.id) ?? this.readDocument(file);
    this.documents.set(file.id, known);
    return known;
  }

  private async readDocument(file: SourceParameterFile): Promise<Mapping | string | null> {
    // It is merged there whatever its checksum is.
    const bytes = await this.files.parameterFile(this.places.ofParameters(file), null);
    if (!Buffer.isBuffer(bytes)) return null;
    // It looks at the first character, and not at the type.
    const type: DocumentType = bytes.toString('utf8').trimStart().startsWith('{') ? 'json' : 'yaml';
    try {
      return parseParameterDocument(bytes, type);
    } catch (error) {
      if (error instanceof HawserError) return error.message;
      throw error;
    }
  }
}

export const scopeName = ({ name, value }: Pick<Scope, 'name' | 'value'>) =>
  value === null ? name : `${name}/${value}`;

function highest<T extends { version: string; createdAt: number | null }>(
  versions: readonly T[],
  constraint: { majorVersion: number | null; prereleaseChannel: string | null },
): T | undefined {
  const known = new KnownVersions(
    // A version that is no SemVer is never served there.
    versions
      .filter(({ version }) => isVersion(version))
      .map(({ version, createdAt }) => ({
        ...{ version, isWithdrawn: false, createdAt: createdAt ?? 0 },
        status: 'Published' as const,
      })),
  );
  const chosen = known.choose(constraint)?.version;
  return versions.find(({ version }) => version === chosen);
}

/** The tags of each node in the order of their types. */
function tagsOf({ nodeTags, scopeValues, scopeTypes }: SourceSite): Map<string, Scope[]> {
  const values = new Map(scopeValues.map((value) => [value.id, value]));
  const types = [...scopeTypes].sort((a, b) => a.precedence - b.precedence);
  const order = new Map(types.map(({ id, name }, at) => [id, { name, at }]));
  const tags = groupBy(nodeTags, ({ nodeId }) => nodeId);
  return new Map(
    [...tags].map(([nodeId, all]) => {
      const scopes = all.flatMap(({ scopeValueId }) => {
        const value = values.get(scopeValueId);
        const type = value && order.get(value.scopeTypeId);
        return value && type
          ? [{ typeId: value.scopeTypeId, name: type.name, value: value.value, at: type.at }]
          : [];
      });
      return [nodeId, scopes.sort((a, b) => a.at - b.at)];
    }),
  );
}
