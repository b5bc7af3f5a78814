/** The parameters that the versions of a configuration declare, by an uploaded schema or else by the entry point. */

import { LRUCache } from 'lru-cache';
import { chooseSchemaVersion } from '../domain/version-choice.ts';
import { compareVersions, type Major } from '../domain/version-order.ts';
import { firstIndex } from '../lib/binary-search.ts';
import { SCHEMA_SERIES } from '../versions/kinds.ts';
import { isOffered } from '../versions/sorted-versions.ts';
import type { VersionDetails, VersionIndex, VersionRef } from '../versions/store.ts';
import type { VersionSource } from '../versions/version-source.ts';
import { type Declared, NOTHING_DECLARED, schemaIn, toDeclared, UNKNOWN_SCHEMA } from './declared.ts';
import { type DocumentRunner, storedSource } from './documents.ts';
import {
  type EntryPointObject,
  type EntryPoints,
  type KnownEntryPoint,
  NO_ENTRY_POINT,
} from './entry-points.ts';
import type { ParameterReader } from './parameters.ts';

/** A version that may declare parameters. It exists as a version, as an uploaded schema, or as both. */
export interface SchemaVersion {
  version: string;
  /** Whether the configuration's version is published and not withdrawn. */
  isPublished: boolean;
  isWithdrawn: boolean;
  configuration: VersionRef | null;
  upload: VersionRef | null;
}

/** For which files the schema is asked. */
export interface SchemaWish {
  /** Whether for drafts. */
  isDraft?: boolean;
  /** A draft of the configuration that counts as published, as it is about to be. */
  asPublished?: string | undefined;
}

/** The memory for schemas in bytes. */
const CACHE_BYTES = 32 * 1024 * 1024;

/** All versions and uploads of a configuration. It is valid until one of the two lists changes. */
interface AllVersions {
  uploads: readonly VersionRef[];
  versions: readonly SchemaVersion[];
  /** What was chosen, for published files and for drafts. */
  chosen: { published: Map<Major, SchemaVersion | null>; drafts: Map<Major, SchemaVersion | null> };
}

export class SchemaReader {
  private readonly store: VersionSource;
  private readonly parameters: ParameterReader;
  private readonly documents: DocumentRunner;
  private readonly entryPoints: EntryPoints;
  /** The declarations of uploads by the id of their object, whose content never changes. */
  private readonly declared = new LRUCache<string, Declared>({
    maxSize: CACHE_BYTES,
    sizeCalculation: (declared) => (schemaIn(declared)?.bytes.byteLength ?? 0) + 200,
  });
  /** The key is the list of a configuration's versions. A new list replaces it with every change. */
  private readonly all = new WeakMap<readonly VersionRef[], AllVersions>();

  constructor(
    store: VersionSource,
    {
      parameters,
      documents,
      entryPoints,
    }: { parameters: ParameterReader; documents: DocumentRunner; entryPoints: EntryPoints },
  ) {
    this.store = store;
    this.parameters = parameters;
    this.documents = documents;
    this.entryPoints = entryPoints;
  }

  /** The version of this name; undefined if there is none. */
  async find(configurationName: string, version: string): Promise<SchemaVersion | undefined> {
    const configuration = (await this.indexOf(configurationName)).get(version) ?? null;
    const upload = findUpload(await this.uploads(configurationName), version);
    return configuration || upload ? toSchemaVersion(version, configuration, upload) : undefined;
  }

  /**
   * The version that is meant by a request that names none. This is the highest published version, else the highest
   * draft or upload. If it declares nothing, it is the highest uploaded schema. Undefined if there is nothing at all.
   * @param caller is the one in whose turn documents are read
   */
  async findCurrent(configurationName: string, caller: string): Promise<SchemaVersion | undefined> {
    const { published, versions } = await this.indexOf(configurationName);
    const [upload] = await this.uploads(configurationName);
    const [draft] = published.length > 0 ? [] : versions.filter(({ status }) => status === 'Draft');
    const highest = published[0] ?? higherOf(draft, upload);
    const current = highest && (await this.find(configurationName, highest.version));
    if (current && (await this.read(configurationName, current, caller)).kind !== 'nothing') return current;
    return upload ? this.find(configurationName, upload.version) : current;
  }

  /** The highest published version below this one. With `isIncluded` it may also be this version itself. */
  async findPublished(
    configurationName: string,
    { version, isIncluded }: { version: string; isIncluded: boolean },
  ): Promise<SchemaVersion | undefined> {
    const { published } = await this.indexOf(configurationName);
    const index = firstIndex(published, (each) => {
      const order = compareVersions(each.version, version);
      return isIncluded ? order <= 0 : order < 0;
    });
    const found = published[index];
    if (found === undefined) return undefined;
    const upload = findUpload(await this.uploads(configurationName), found.version);
    return toSchemaVersion(found.version, found, upload);
  }

  /** The uploaded schemas, highest first. */
  async uploads(configurationName: string): Promise<readonly VersionRef[]> {
    return (await this.parameters.index(configurationName)).of(SCHEMA_SERIES).versions;
  }

  /** What parameter files of a major are checked with, as long as they are drafts or from then on. */
  async forMajor(
    configurationName: string,
    major: Major,
    caller: string,
    { isDraft = false, asPublished }: SchemaWish = {},
  ): Promise<Declared> {
    const chosen =
      asPublished === undefined
        ? await this.chosenFor(configurationName, major, isDraft)
        : chooseSchemaVersion(countAsPublished(await this.allOf(configurationName), asPublished), major);
    return chosen === null ? NOTHING_DECLARED : this.read(configurationName, chosen, caller);
  }

  /**
   * What the highest published version below declares, where a draft of the configuration is all that says something of the major.
   * Null where it is not.
   */
  async belowDraft(configurationName: string, major: Major, caller: string): Promise<Declared | null> {
    const chosen = await this.chosenFor(configurationName, major, false);
    if (chosen?.configuration?.status !== 'Draft' || chosen.upload !== null) return null;
    const { version } = chosen;
    const published = await this.findPublished(configurationName, { version, isIncluded: false });
    return published ? this.read(configurationName, published, caller) : NOTHING_DECLARED;
  }

  private async chosenFor(name: string, major: Major, isDraft: boolean): Promise<SchemaVersion | null> {
    const { versions, chosen: all } = await this.allOf(name);
    const byMajor = isDraft ? all.drafts : all.published;
    const known = byMajor.get(major);
    const chosen = known === undefined ? chooseSchemaVersion(versions, major, isDraft) : known;
    byMajor.set(major, chosen);
    return chosen;
  }

  /**
   * What a version declares, or that it is unknown.
   * @param caller is the one in whose turn the document is read, if it has not been read before
   * @throws HawserError `repository_damaged`
   */
  async read(
    configurationName: string,
    { configuration, upload }: SchemaVersion,
    caller: string,
  ): Promise<Declared> {
    if (upload !== null) return this.readUpload(configurationName, upload, caller);
    if (configuration === null) return NOTHING_DECLARED;
    const details = await this.detailsOf(configurationName, configuration);
    return (await this.readEntryPoint(configurationName, details, caller)).declared;
  }

  /** What all versions declare, drafts and uploads included. */
  async declaredByAny(configurationName: string, caller: string): Promise<Declared[]> {
    const { versions } = await this.allOf(configurationName);
    const all: Declared[] = [];
    for (const version of versions) all.push(await this.read(configurationName, version, caller));
    return all;
  }

  detailsOf(name: string, ref: VersionRef): Promise<VersionDetails> {
    return this.store.details({ kind: 'configurations', name }, ref);
  }

  /** What the entry point of a version says. */
  async readEntryPoint(
    name: string,
    { entryPoint, files }: Pick<VersionDetails, 'entryPoint' | 'files'>,
    caller: string,
  ): Promise<KnownEntryPoint> {
    // The key is the file, not the version, because a version that names no entry point has that of the one before it.
    const oid = files.find(({ path }) => path === entryPoint)?.oid;
    if (oid === undefined) return NO_ENTRY_POINT;
    const load = () => this.store.blob({ kind: 'configurations', name }, oid);
    return this.entryPoints.read({ oid, caller, load });
  }

  /** What an entry point says that is not stored yet. */
  readNew(object: EntryPointObject): Promise<KnownEntryPoint> {
    return this.entryPoints.read(object);
  }

  private async readUpload(name: string, upload: VersionRef, caller: string): Promise<Declared> {
    const known = this.declared.get(upload.oid);
    if (known) return known;
    const { contentType } = await this.store.parameters.details(name, upload);
    const content = (await this.store.parameters.content(name, upload)) ?? Buffer.alloc(0);
    const document = storedSource(upload.oid, content, contentType ?? 'yaml');
    const declaration = await this.documents.run(caller, 'declare', { document });
    // Uploads were checked when they came. One that declares nothing was stored by stock git, and tells nothing.
    const declared =
      declaration.kind === 'nothing' ? UNKNOWN_SCHEMA : toDeclared(`${upload.oid} schema`, declaration);
    this.declared.set(upload.oid, declared);
    return declared;
  }

  private async allOf(configurationName: string): Promise<AllVersions> {
    const own = (await this.indexOf(configurationName)).versions;
    const uploads = await this.uploads(configurationName);
    const known = this.all.get(own);
    if (known?.uploads === uploads) return known;
    const chosen = { published: new Map(), drafts: new Map() };
    const made = { uploads, versions: joinVersions(own, uploads), chosen };
    this.all.set(own, made);
    return made;
  }

  private indexOf(name: string): Promise<VersionIndex> {
    return this.store.versions({ kind: 'configurations', name });
  }
}

function countAsPublished({ versions }: AllVersions, version: string): SchemaVersion[] {
  return versions.map((each) => (each.version === version ? { ...each, isPublished: true } : each));
}

function toSchemaVersion(
  version: string,
  configuration: VersionRef | null,
  upload: VersionRef | null,
): SchemaVersion {
  const isPublished = configuration !== null && isOffered(configuration);
  const isWithdrawn = (configuration?.withdrawn ?? null) !== null;
  return { version, isPublished, isWithdrawn, configuration, upload };
}

function findUpload(uploads: readonly VersionRef[], version: string): VersionRef | null {
  return uploads.find((each) => each.version === version) ?? null;
}

function higherOf(a: VersionRef | undefined, b: VersionRef | undefined): VersionRef | undefined {
  if (!a || !b) return a ?? b;
  return compareVersions(a.version, b.version) >= 0 ? a : b;
}

/** All versions of the configuration and all uploaded schemas, highest first. */
function joinVersions(own: readonly VersionRef[], uploads: readonly VersionRef[]): readonly SchemaVersion[] {
  const uploadOf = new Map(uploads.map((upload) => [upload.version, upload]));
  const versions = own.map((ref) => toSchemaVersion(ref.version, ref, uploadOf.get(ref.version) ?? null));
  for (const { version } of own) uploadOf.delete(version);
  for (const upload of uploadOf.values()) versions.push(toSchemaVersion(upload.version, null, upload));
  return uploadOf.size === 0 ? versions : versions.sort((a, b) => compareVersions(b.version, a.version));
}
