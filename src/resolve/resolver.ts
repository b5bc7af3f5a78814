/** Answers what a node gets. Cached per distinct assignment, not per node: a fleet shares few answers. */

import { LRUCache } from 'lru-cache';
import type { Assignment } from '../db/node-lookup.ts';
import type { Database } from '../db/open.ts';
import { chooseVersion } from '../domain/version-choice.ts';
import type { GitStore } from '../git/store.ts';
import type { RepositoryRef } from '../git/types.ts';
import { notFound } from '../lib/errors.ts';
import { type Manifest, type ManifestFile, makeManifest } from './manifest.ts';

interface CachedManifest {
  generation: number;
  manifest: Promise<Manifest>;
  /** The settled value, so that a poll need not wait for a promise. */
  settled: Manifest | null;
}

/** Distinct assignments kept; each costs some 500 bytes. */
const MAX_ASSIGNMENTS = 50_000;

export class Resolver {
  private readonly database: Database;
  private readonly store: GitStore;
  private readonly cache = new LRUCache<string, CachedManifest>({ max: MAX_ASSIGNMENTS });

  constructor(database: Database, store: GitStore) {
    this.database = database;
    this.store = store;
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
    return chooseVersion((await this.store.index(repository)).published, assignment)?.version ?? null;
  }

  /** The manifest's files, sorted by path bytes; what its tag holds never changes, even if the ref moves. */
  async files({ configurationName, tag }: Manifest): Promise<readonly ManifestFile[]> {
    return (await this.store.details({ kind: 'configurations', name: configurationName }, tag)).files;
  }

  /** Content of one of the manifest's files. */
  content(manifest: Manifest, file: ManifestFile): Promise<Buffer> {
    return this.store.blob({ kind: 'configurations', name: manifest.configurationName }, file.oid);
  }

  private async compute(assignment: Assignment): Promise<Manifest> {
    const repository = await this.repositoryOf(assignment);
    const tag = chooseVersion((await this.store.index(repository)).published, assignment);
    if (tag === null) {
      throw notFound('No published version fits the assignment of this node', 'no_eligible_version');
    }
    const { entryPoint, files } = await this.store.details(repository, tag);
    const configurationId = assignment.configurationId ?? '';
    const { name: configurationName } = repository;
    const content = { configurationId, configurationName, version: tag.version, tag, entryPoint };
    return makeManifest({ ...content, parametersFile: null }, files);
  }

  private async repositoryOf(assignment: Assignment): Promise<RepositoryRef> {
    const row = await this.database.read
      .selectFrom('configurations')
      .select('name')
      .where('id', '=', assignment.configurationId)
      .executeTakeFirst();
    if (!row) throw notFound('No configuration is assigned to this node', 'no_configuration_assigned');
    return { kind: 'configurations', name: row.name };
  }
}

function keyOf(assignment: Assignment): string {
  const { configurationId, compositeId, majorVersion, prereleaseChannel } = assignment;
  return `${configurationId ?? compositeId}|${majorVersion ?? ''}|${prereleaseChannel ?? ''}`;
}
