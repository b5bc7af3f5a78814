/**
 * `hawser verify`: makes a kept manifest and its bundle again from the repositories, and says where they differ from what
 * was delivered. It only reads, so it runs beside a server.
 */

import { createHash } from 'node:crypto';
import { writeZip } from '../bundles/bundle-zip.ts';
import type { Config } from '../config.ts';
import type { DatabasePlace } from '../db/database.ts';
import type { InspectedDatabase } from '../db/inspected-database.ts';
import { inspectDatabase, requireTables } from '../db/inspection.ts';
import {
  findManifest,
  type KeptManifest,
  type ManifestParameterFile,
  type ManifestTag,
} from '../db/manifests.ts';
import { findSeriesPlace } from '../db/series-places.ts';
import { COMPOSITE_FILE } from '../domain/composite-document.ts';
import { blobIdOf } from '../git/loose-objects.ts';
import { toTimestamp } from '../lib/clock.ts';
import { HawserError, notFound } from '../lib/errors.ts';
import { CompositeReader } from '../resolve/composites.ts';
import { DocumentsInThread } from '../resolve/documents.ts';
import { EntryPoints } from '../resolve/entry-points.ts';
import { ManifestMaker } from '../resolve/manifest-maker.ts';
import { ParameterReader } from '../resolve/parameters.ts';
import {
  type KeptPart,
  type KeptVersion,
  type RemakeTools,
  remakeManifest,
  versionOfParameters,
  versionOfPart,
  wholeOf,
} from '../resolve/remake-manifest.ts';
import { SchemaReader } from '../resolve/schemas.ts';
import { SeriesPlaces } from '../resolve/series-places.ts';
import { inspectingStore, readRefs } from '../versions/inspection.ts';
import { tagNameOf } from '../versions/kinds.ts';
import type { GitStore, RepositoryRef } from '../versions/store.ts';
import { readCommandKeys } from './command-keys.ts';

const CHECKSUM = /^[0-9a-f]{64}$/;

/**
 * Compares what a checksum stands for with the repositories.
 * @returns where they differ, one sentence each, with the repository and its tag or path; empty when all is the same
 * @throws HawserError not_found when the text is no checksum, or no manifest of it is kept
 * @throws Error when there is no database
 */
export async function verifyChecksum(
  place: DatabasePlace & Pick<Config, 'reposDir' | 'secretsKeyFile'>,
  text: string,
): Promise<readonly string[]> {
  const checksum = text.toLowerCase();
  if (!CHECKSUM.test(checksum)) throw notFound('a checksum has 64 hexadecimal digits');
  const keys = await readCommandKeys(place);
  const database = await inspectDatabase(place);
  const { repositories: reader } = database;
  const store = inspectingStore(place.reposDir, reader);
  try {
    const kept = await readKept(database, checksum);
    const documents = new DocumentsInThread(keys);
    const parameters = new ParameterReader(store, {
      documents,
      places: new SeriesPlaces((named) => findSeriesPlace(requireTables(database), named)),
    });
    const maker = new ManifestMaker(store, parameters);
    const readRefsOf = (repository: RepositoryRef) => readRefs(place.reposDir, reader, repository);
    const entryPoints = new EntryPoints(documents);
    const schemas = new SchemaReader(store, { parameters, documents, entryPoints });
    const composites = new CompositeReader(store);
    const tools = { store, readRefsOf, composites, parameters, maker, schemas };
    return await new Verification(tools, kept).run();
  } finally {
    await store.close();
    await database.close();
  }
}

async function readKept(database: InspectedDatabase, checksum: string): Promise<KeptManifest> {
  const kept = await findManifest(requireTables(database), checksum);
  if (kept === undefined)
    throw notFound(`no manifest of ${checksum} is kept: no node, no report and nothing that ran names it`);
  return kept;
}

interface VerificationTools extends RemakeTools {
  store: GitStore;
  readRefsOf(repository: RepositoryRef): Promise<ReadonlyMap<string, string>>;
}

class Verification {
  private readonly tools: VerificationTools;
  private readonly kept: KeptManifest;
  private readonly refs = new Map<string, Promise<ReadonlyMap<string, string>>>();
  private readonly differences: string[] = [];

  constructor(tools: VerificationTools, kept: KeptManifest) {
    this.tools = tools;
    this.kept = kept;
  }

  async run(): Promise<readonly string[]> {
    const { parts } = this.kept.content;
    if (this.kept.isComposite) await this.compareComposite();
    for (const part of parts) await this.comparePart(part);
    const found = this.differences.length;
    await this.compareWhole().catch((error) => {
      // What cannot be read has been told already, and with its place.
      const what = describe(error);
      if (found === 0) this.differs(nameOf(wholeOf(this.kept)), what);
    });
    return this.differences;
  }

  private async compareComposite(): Promise<void> {
    const { tag, parts } = this.kept.content;
    const whole = wholeOf(this.kept);
    await this.compareTag(whole, tag);
    await this.trying(nameOf(whole, COMPOSITE_FILE), async () => {
      const { children } = await this.tools.composites.document(whole.repository, whole.ref);
      const now = children.map(({ configuration }) => configuration).join(', ');
      const then = parts.map(({ configurationName }) => configurationName).join(', ');
      return now === then ? null : `its children are ${now}, and were ${then}`;
    });
  }

  private async comparePart(part: KeptPart): Promise<void> {
    const kept = versionOfPart(part);
    await this.compareTag(kept, part.tag);
    await this.compareFiles(kept);
    for (const file of part.parameters) await this.compareParameters(part.configurationName, file);
  }

  /** Whether the bytes of each file are those that its object id stands for. */
  private async compareFiles(kept: KeptVersion): Promise<void> {
    const { repository, ref } = kept;
    const details = await this.tools.store.details(repository, ref).catch(() => null);
    for (const { path, oid } of details?.files ?? []) {
      await this.trying(nameOf(kept, path), async () => {
        const bytes = await this.tools.store.blob(repository, oid);
        return (await blobIdOf(bytes)) === oid
          ? null
          : 'the file is broken: its bytes are not what its id says';
      });
    }
  }

  private async compareParameters(name: string, file: ManifestParameterFile): Promise<void> {
    const kept = versionOfParameters(name, file);
    await this.compareRef(kept);
    await this.trying(nameOf(kept), async () => {
      const { sha256 } = await this.tools.store.parameters.details(name, kept.ref);
      return sha256 === file.checksum
        ? null
        : `the file has the checksum ${sha256}, and had ${file.checksum}`;
    });
  }

  /** Whether the tag still points to its object, and whether the object says what it said. */
  private async compareTag(kept: KeptVersion, tag: ManifestTag): Promise<void> {
    await this.compareRef(kept);
    await this.trying(nameOf(kept), async () => {
      const { commit, publishedBy, publishedAt } = await this.tools.store.details(kept.repository, kept.ref);
      if (commit !== tag.commit) return `the commit is ${commit}, and was ${tag.commit}`;
      const made = `${publishedBy} at ${publishedAt && toTimestamp(publishedAt)}`;
      const was = `${tag.tagger} at ${tag.taggedAt}`;
      return made === was ? null : `the tag is by ${made}, and was by ${was}`;
    });
  }

  private async compareRef(kept: KeptVersion): Promise<void> {
    await this.trying(nameOf(kept), async () => {
      const oid = (await this.refsOf(kept.repository)).get(kept.ref.name);
      if (oid === undefined) return 'the tag is not there any more';
      return oid === kept.ref.oid ? null : `the tag points to ${oid}, and pointed to ${kept.ref.oid}`;
    });
  }

  /** Makes the manifest and the ZIP of the objects that are named, and compares both as a whole. */
  private async compareWhole(): Promise<void> {
    const { kept, tools } = this;
    const manifest = await remakeManifest(tools, kept);
    const where = nameOf(wholeOf(kept));
    const { entryPoint, checksum } = manifest;
    if (entryPoint !== kept.content.entryPoint)
      this.differs(where, `the entry point is ${entryPoint}, and was ${kept.content.entryPoint}`);
    if (checksum !== kept.checksum)
      this.differs(where, `the checksum is ${checksum}, and was ${kept.checksum}`);
    if (kept.bundleDigest === null) return;
    const hash = createHash('sha256');
    for await (const piece of writeZip(await tools.maker.files(manifest))) hash.update(piece);
    const digest = hash.digest('base64');
    if (digest !== kept.bundleDigest)
      this.differs(where, `the digest of the bundle is ${digest}, and was ${kept.bundleDigest}`);
  }

  private refsOf(repository: RepositoryRef): Promise<ReadonlyMap<string, string>> {
    const key = `${repository.kind}/${repository.name}`;
    const refs = this.refs.get(key) ?? this.tools.readRefsOf(repository);
    this.refs.set(key, refs);
    return refs;
  }

  /** @param find gives what differs, or null; what cannot be read differs too */
  private async trying(where: string, find: () => Promise<string | null>): Promise<void> {
    const what = await find().catch(describe);
    if (what !== null) this.differs(where, what);
  }

  /** One fault may be met in several comparisons. */
  private differs(where: string, what: string): void {
    const difference = `${where}: ${what}`;
    if (!this.differences.includes(difference)) this.differences.push(difference);
  }
}

/** `configurations/web v1.0.0`, with the path of a file behind it. */
function nameOf(
  { repository: { kind, name }, ref: { series, version } }: KeptVersion,
  path?: string,
): string {
  const tag = `${kind}/${name} ${tagNameOf(series, version)}`;
  return path === undefined ? tag : `${tag} ${path}`;
}

const FAULTS: Record<string, string> = {
  repository_missing: 'the repository is not there any more',
  repository_damaged: 'it cannot be read: an object is missing or broken',
};

/** @throws the error where it does not come from what is stored */
function describe(error: unknown): string {
  if (!(error instanceof HawserError)) throw error;
  return FAULTS[error.code] ?? `it cannot be made again: ${error.message}`;
}
