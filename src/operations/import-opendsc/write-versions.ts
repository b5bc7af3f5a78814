/** Writes configurations, composites and all versions into their repositories, as uploads do. */

import pLimit from 'p-limit';
import { defineScopeValue } from '../../deeds/define-scope-value.ts';
import { newContent, type ReadContent } from '../../deeds/parameter-content.ts';
import { ownerOf } from '../../deeds/parameter-scopes.ts';
import { type SecretTools, sealContent, secureNamesFor, surveyContent } from '../../deeds/secret-content.ts';
import { COMPOSITE_FILE } from '../../domain/composite-document.ts';
import { normalizePath } from '../../domain/safe-path.ts';
import type { RepositoryKind } from '../../git/types.ts';
import type { Clock } from '../../lib/clock.ts';
import { type FieldError, HawserError } from '../../lib/errors.ts';
import { groupBy } from '../../lib/group-by.ts';
import type { Actor } from '../../security/audit.ts';
import { authorVersions, type VersionAuthor } from '../../versions/author.ts';
import { SCHEMA_SERIES } from '../../versions/kinds.ts';
import { contentOf, seriesOf } from '../../versions/parameter-files.ts';
import { createResource, type ResourceTools } from '../../versions/resources.ts';
import type { DraftContent } from '../../versions/types.ts';
import { ONLY_SERIES } from '../../versions/types.ts';
import { type GitDeed, repositoryOf } from './deeds.ts';
import { Places } from './look-at-files.ts';
import { LeftOut } from './plan/plan.ts';
import type { SourceFiles, SourceSite } from './source/site.ts';

/** A version may have 50 MB, which are in memory while it is written. */
const REPOSITORIES_AT_ONCE = 4;
/** Whom commits and tags name where OpenDSC does not know who made a version. */
const AUTHOR = 'OpenDSC';
/** Nobody gets mail there. */
const EMAIL = 'opendsc@localhost';
const MESSAGE = 'imported from OpenDSC';

/** What to do about a file that is left out for its secrets. */
const MEND = 'Save the file here without that, or mend it there and run the import again';

type Deed<D extends GitDeed['do']> = Extract<GitDeed, { do: D }>;
type Written = Pick<Deed<'writeVersion'>, 'version' | 'author' | 'madeAt' | 'isPublished' | 'isThere'>;

interface Tools extends ResourceTools {
  clock: Clock;
  /** What encrypts the secrets of parameter files. */
  secrets: SecretTools;
}

export class VersionsWriter {
  private readonly tools: Tools;
  private readonly site: SourceSite;
  private readonly files: SourceFiles;
  private actor: Actor;
  private readonly places: Places;
  private readonly filesOf: ReadonlyMap<string, SourceSite['files'][number][]>;
  private readonly versions: ReadonlyMap<string, SourceSite['versions'][number]>;
  private readonly parameters: ReadonlyMap<string, SourceSite['parameterFiles'][number]>;

  constructor(tools: Tools, source: { site: SourceSite; files: SourceFiles }, actor: Actor) {
    this.tools = tools;
    this.site = source.site;
    this.files = source.files;
    this.actor = actor;
    this.places = new Places(this.site);
    this.filesOf = groupBy(this.site.files, ({ versionId }) => versionId);
    this.versions = new Map(this.site.versions.map((version) => [version.id, version]));
    this.parameters = new Map(this.site.parameterFiles.map((file) => [file.id, file]));
  }

  /**
   * Does the deeds of one kind: those of a repository one after the other, and several repositories at once, because most of
   * the time is that of the disk.
   * @param onDone is called after each, with why it was left out, if it was
   * @throws Error where a file of the source has changed since it was looked at; what the writers throw. Nothing more is begun
   *   then, and what was begun is done.
   */
  async doAll<T extends { deed: GitDeed }>(
    all: readonly T[],
    onDone: (done: T, leftOut: LeftOut | null) => void,
  ): Promise<void> {
    const limit = pLimit(REPOSITORIES_AT_ONCE);
    let hasFailed = false;
    const run = async (group: readonly T[]) => {
      for (const each of group) {
        if (hasFailed) return;
        const leftOut = await this.do(each.deed).catch((error: unknown) => {
          if (error instanceof LeftOut) return error;
          hasFailed = true;
          throw error;
        });
        onDone(each, leftOut ?? null);
      }
    };
    const groups = groupBy(all, ({ deed }) => repositoryOf(deed)).values();
    const outcomes = await Promise.allSettled([...groups].map((group) => limit(() => run(group))));
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  }

  private async do(deed: GitDeed): Promise<void> {
    // After a crash an audit entry is known by its time, so no two versions of a repository may have the same.
    this.actor = { ...this.actor, at: Math.max(this.tools.clock.now(), this.actor.at + 1) };
    if (deed.do === 'createResource') await this.createResource(deed);
    else if (deed.do === 'writeVersion') await this.writeVersion(deed);
    else if (deed.do === 'writeCompositeVersion') await this.writeCompositeVersion(deed);
    else if (deed.do === 'writeParameters') await this.writeParameters(deed);
    else await this.putSchema(deed);
  }

  private async createResource({ resource, madeAt }: Deed<'createResource'>): Promise<void> {
    // No user of this server has made it, so nobody gets a grant.
    const principal = { userId: '', username: AUTHOR, email: EMAIL };
    const creator = { principal, actor: this.actor, madeAt };
    await createResource(this.tools, creator, resource, async () => undefined);
  }

  private async writeVersion(deed: Deed<'writeVersion'>): Promise<void> {
    const { configuration: resource, entryPoint } = deed;
    const files = deed.isThere ? [] : await this.readFiles(deed.versionId);
    await this.write({ kind: 'configurations', resource }, deed, { entryPoint, files });
  }

  private async writeCompositeVersion(deed: Deed<'writeCompositeVersion'>): Promise<void> {
    const files = [{ path: COMPOSITE_FILE, content: Buffer.from(deed.content) }];
    const owner = { kind: 'composites', resource: deed.composite } as const;
    await this.write(owner, deed, { entryPoint: COMPOSITE_FILE, files });
  }

  private async writeParameters(deed: Deed<'writeParameters'>): Promise<void> {
    const { configuration: resource, fileId, type, scope } = deed;
    // The value is made before the file, as a file without its value would be shown to nobody.
    if (!deed.isDefined) await this.defineValue(deed);
    const series = seriesOf(scope);
    const bytes = deed.isThere || type === null ? null : await this.readParameters(fileId);
    const sealed = bytes && type && (await this.seal(deed, series, newContent(bytes, type)));
    const content = contentOf(series, sealed);
    const nodeId = await ownerOf(this.tools.database.read, { id: deed.scopeTypeId }, scope);
    await this.write({ kind: 'parameters', resource }, deed, content, { series, nodeId });
  }

  /** Content with its secrets encrypted. @throws LeftOut for secrets that cannot be encrypted as they are written */
  private async seal(
    { configuration: { name }, version }: Deed<'writeParameters'>,
    series: string,
    content: ReadContent,
  ): Promise<ReadContent> {
    const { secrets } = this.tools;
    const file = { configurationName: name, series, version, caller: AUTHOR };
    try {
      const incoming = await surveyContent(secrets, file, content, await secureNamesFor(secrets, file));
      const [highest] = (await secrets.parameters.index(name)).of(series).published;
      return await sealContent(secrets, file, incoming, highest ? [highest] : []);
    } catch (error) {
      if (!(error instanceof HawserError)) throw error;
      const [first] = (error.data['errors'] ?? []) as FieldError[];
      const what = first ? `${first.path}: ${first.message}` : error.message;
      // Other errors are not of this file: without the key that encrypts, none could be written.
      if (error.kind === 'invalid') throw new LeftOut(`${what}. ${MEND}`);
      throw new Error(`${name} ${series} ${version} holds a secret that cannot be encrypted: ${what}`);
    }
  }

  private async defineValue({ scope, scopeTypeId }: Deed<'writeParameters'>): Promise<void> {
    const { scopeType, value } = scope;
    if (value === null) return;
    const type = { id: scopeTypeId, name: scopeType };
    await this.tools.database.write
      .transaction()
      .execute((trx) => defineScopeValue(trx, this.actor, type, value));
  }

  private async putSchema(deed: Deed<'putSchema'>): Promise<void> {
    const { configuration, version, content, madeAt } = deed;
    const input = contentOf(SCHEMA_SERIES, { type: 'json', bytes: Buffer.from(content) });
    await this.author({ kind: 'parameters', resource: configuration }, AUTHOR, madeAt, (author) =>
      author.putSchema(version, input, null),
    );
  }

  /**
   * Draft and tag are made one after the other, each with its audit entry: what fails under a lock takes back all that was
   * done under it. Where it ends between them, the draft stays, and is published by the next run.
   */
  private async write<K extends RepositoryKind>(
    owner: { kind: K; resource: { id: string; name: string } },
    { version, author: name, madeAt, isPublished, isThere }: Written,
    content: DraftContent,
    { series = ONLY_SERIES, nodeId }: { series?: string; nodeId?: string | undefined } = {},
  ): Promise<void> {
    const by = name ?? AUTHOR;
    if (!isThere)
      await this.author(owner, by, madeAt, (author) =>
        author.createDraft(version, { ...content, message: MESSAGE }, series),
      );
    if (isPublished)
      await this.author(owner, by, madeAt, (author) =>
        // It was published there by the rules of that server.
        author.publish(version, async () => [], { series, nodeId, message: MESSAGE }),
      );
  }

  private async author<K extends RepositoryKind>(
    owner: { kind: K; resource: { id: string; name: string } },
    name: string,
    madeAt: number,
    work: (author: VersionAuthor<K>) => Promise<unknown>,
  ): Promise<void> {
    const principal = { username: name, email: EMAIL };
    await authorVersions(this.tools, { ...owner, principal, actor: this.actor, madeAt }, work);
  }

  private async readFiles(versionId: string) {
    const version = this.versions.get(versionId);
    if (version === undefined) return [];
    return Promise.all(
      (this.filesOf.get(versionId) ?? []).map(async ({ relativePath, checksum }) => {
        const at = this.places.ofVersion(version, relativePath);
        const content = await this.files.configurationFile(at, checksum);
        if (!Buffer.isBuffer(content)) throw changed(`${at.configuration} ${at.version} ${relativePath}`);
        return { path: normalizePath(relativePath.replaceAll('\\', '/')), content };
      }),
    );
  }

  private async readParameters(fileId: string): Promise<Buffer | null> {
    const file = this.parameters.get(fileId);
    if (file === undefined) return null;
    const at = this.places.ofParameters(file);
    const content = await this.files.parameterFile(at, file.checksum);
    if (!Buffer.isBuffer(content)) throw changed(`${at.configuration} ${at.scopeType} ${at.version}`);
    return content;
  }
}

function changed(name: string): Error {
  return new Error(`a file of the source has changed while it was imported: ${name}; run the import again`);
}
