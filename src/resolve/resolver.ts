/** Answers what a node gets. Cached per distinct assignment, not per node: a fleet shares few answers. */

import { LRUCache } from 'lru-cache';
import type { Assignment } from '../db/node-lookup.ts';
import type { Database } from '../db/open.ts';
import type { CompositeChild } from '../domain/composite-document.ts';
import { printIncludeDocument } from '../domain/include-document.ts';
import { chooseVersion, type VersionWish } from '../domain/version-choice.ts';
import type { GitStore } from '../git/store.ts';
import type { RepositoryRef } from '../git/types.ts';
import type { VersionRef } from '../git/version-index.ts';
import { notFound } from '../lib/errors.ts';
import type { CompositeReader } from './composites.ts';
import { compositeManifest, configurationManifest, type Manifest, type ManifestPart } from './manifest.ts';

interface CachedManifest {
  generation: number;
  manifest: Promise<Manifest>;
  /** The settled value, so that a poll need not wait for a promise. */
  settled: Manifest | null;
}

/** A file of a bundle whose content is read only when it is needed. */
export interface BundleFile {
  path: string;
  read(): Promise<Buffer>;
}

/** Distinct assignments kept; each costs some 500 bytes. */
const MAX_ASSIGNMENTS = 50_000;

export class Resolver {
  private readonly database: Database;
  private readonly store: GitStore;
  private readonly composites: CompositeReader;
  private readonly cache = new LRUCache<string, CachedManifest>({ max: MAX_ASSIGNMENTS });

  constructor(database: Database, store: GitStore, composites: CompositeReader) {
    this.database = database;
    this.store = store;
    this.composites = composites;
  }

  /**
   * The manifest for an assignment as of a generation. Steady state: one look into a map.
   * @throws HawserError not_found `no_eligible_version` when no published version fits the assignment
   */
  manifest(assignment: Assignment, generation: number): Manifest | Promise<Manifest> {
    const key = keyOf(assignment);
    const cached = this.cache.get(key);
    if (cached?.generation === generation) return cached.settled ?? cached.manifest;
    const entry: CachedManifest = { generation, manifest: this.compute(assignment), settled: null };
    this.cache.set(key, entry);
    entry.manifest.then(
      (manifest) => {
        entry.settled = manifest;
      },
      // A failure is not kept: the next poll asks again.
      () => this.cache.get(key) === entry && this.cache.delete(key),
    );
    return entry.manifest;
  }

  /** The version that an assignment gives now, null where none is eligible. */
  async resolvedVersion(assignment: Assignment): Promise<string | null> {
    const repository = await this.repositoryOf(assignment);
    return (await this.choose(repository, assignment))?.version ?? null;
  }

  /**
   * Whether the assignment gives a node anything now: a version of what is assigned and, of a composite, one of
   * every child.
   */
  async isEligible(assignment: Assignment): Promise<boolean> {
    const repository = await this.repositoryOf(assignment);
    const version = await this.choose(repository, assignment);
    if (version === null || repository.kind === 'configurations') return version !== null;
    const { children } = await this.composites.document(repository, version);
    for (const child of children) {
      if ((await this.tagOfChild(child, assignment.prereleaseChannel)) === null) return false;
    }
    return true;
  }

  /** All files of the bundle, in its order: by path bytes, part by part, a composite's own document first. */
  async files(manifest: Manifest): Promise<BundleFile[]> {
    const parts = await Promise.all(manifest.parts.map((part) => this.filesOf(part)));
    const { document, entryPoint } = manifest;
    if (document === null) return parts.flat();
    return [{ path: entryPoint, read: async () => Buffer.from(document) }, ...parts.flat()];
  }

  private async filesOf({ configurationName: name, tag, folder }: ManifestPart): Promise<BundleFile[]> {
    const repository = { kind: 'configurations', name } as const;
    const { files } = await this.store.details(repository, tag);
    return files.map(({ path, oid }) => ({
      path: folder + path,
      read: () => this.store.blob(repository, oid),
    }));
  }

  private async compute(assignment: Assignment): Promise<Manifest> {
    const repository = await this.repositoryOf(assignment);
    const version = await this.choose(repository, assignment);
    if (version === null) throw noEligibleVersion('No published version fits the assignment of this node');
    if (repository.kind === 'configurations') return this.ofConfiguration(repository, version);
    return this.ofComposite(repository, version, assignment.prereleaseChannel);
  }

  private async ofConfiguration(repository: RepositoryRef, tag: VersionRef): Promise<Manifest> {
    const { entryPoint, files } = await this.store.details(repository, tag);
    return configurationManifest(repository.name, tag, entryPoint, files);
  }

  private async ofComposite(
    repository: RepositoryRef,
    tag: VersionRef,
    prereleaseChannel: string | null,
  ): Promise<Manifest> {
    const { entryPoint, children } = await this.composites.document(repository, tag);
    const manifests: Manifest[] = [];
    for (const child of children) {
      const childTag = await this.tagOfChild(child, prereleaseChannel);
      if (childTag === null)
        throw noEligibleVersion('A child of the composite has no published version that fits');
      manifests.push(await this.ofConfiguration(repositoryOfChild(child), childTag));
    }
    const document = printIncludeDocument(entryPoint, manifests.map(toInclude));
    const composite = { name: repository.name, version: tag.version, entryPoint, document };
    return compositeManifest(composite, manifests);
  }

  /** The pinned version while it is published; without a pin, what the node's channel admits. */
  private tagOfChild(child: CompositeChild, prereleaseChannel: string | null): Promise<VersionRef | null> {
    const repository = repositoryOfChild(child);
    return child.version === null
      ? this.choose(repository, { majorVersion: null, prereleaseChannel })
      : this.published(repository, child.version);
  }

  private async choose(repository: RepositoryRef, wish: VersionWish): Promise<VersionRef | null> {
    return chooseVersion((await this.store.index(repository)).published, wish);
  }

  private async published(repository: RepositoryRef, version: string): Promise<VersionRef | null> {
    const found = (await this.store.index(repository)).get(version);
    return found?.status === 'Published' ? found : null;
  }

  private async repositoryOf({ configurationId, compositeId }: Assignment): Promise<RepositoryRef> {
    const kind = compositeId === null ? 'configurations' : 'composites';
    const row = await this.database.read
      .selectFrom(kind)
      .select('name')
      .where('id', '=', compositeId ?? configurationId)
      .executeTakeFirst();
    if (!row) throw notFound('No configuration is assigned to this node', 'no_configuration_assigned');
    return { kind, name: row.name };
  }
}

function repositoryOfChild({ configuration: name }: CompositeChild): RepositoryRef {
  return { kind: 'configurations', name };
}

function toInclude({ configurationName, entryPoint, parametersFile }: Manifest) {
  const inside = (path: string) => `${configurationName}/${path}`;
  return {
    name: configurationName,
    configurationFile: inside(entryPoint),
    parametersFile: parametersFile === null ? null : inside(parametersFile),
  };
}

const noEligibleVersion = (message: string) => notFound(message, 'no_eligible_version');

function keyOf(assignment: Assignment): string {
  const { configurationId, compositeId, majorVersion, prereleaseChannel } = assignment;
  return `${configurationId ?? compositeId}|${majorVersion ?? ''}|${prereleaseChannel ?? ''}`;
}
