/** Reads composites: the document of a version, and the children of all versions. */

import { LRUCache } from 'lru-cache';
import {
  COMPOSITE_FILE,
  type CompositeChild,
  type CompositeDocument,
  parseComposite,
} from '../domain/composite-document.ts';
import type { RepositoryRef } from '../git/types.ts';
import { internal } from '../lib/errors.ts';
import { isOffered } from '../versions/sorted-versions.ts';
import type { VersionRef } from '../versions/types.ts';
import type { VersionSource } from '../versions/version-source.ts';

/** The number of documents that are kept. A child costs some 200 bytes. */
const MAX_DOCUMENTS = 2_000;

/** A version of a composite with what it consists of. */
export interface CompositeVersion {
  compositeName: string;
  version: string;
  /** Whether it is published, and not withdrawn. */
  isPublished: boolean;
  document: CompositeDocument;
}

export class CompositeReader {
  private readonly store: VersionSource;
  /** Documents by the ids of their blobs, whose content never changes. */
  private readonly documents = new LRUCache<string, CompositeDocument>({ max: MAX_DOCUMENTS });

  constructor(store: VersionSource) {
    this.store = store;
  }

  /** @throws HawserError `repository_damaged` if the version holds no composite document */
  async document(repository: RepositoryRef, version: VersionRef): Promise<CompositeDocument> {
    const { files } = await this.store.details(repository, version);
    const file = files.find(({ path }) => path === COMPOSITE_FILE);
    if (file === undefined) throw damaged();
    const cached = this.documents.get(file.oid);
    if (cached) return cached;
    const document = parseComposite((await this.store.blob(repository, file.oid)).toString('utf8'));
    if (document === null) throw damaged();
    this.documents.set(file.oid, document);
    return document;
  }

  /** Whether any version, draft or published, of any composite has the configuration as a child. */
  async isChild(configurationName: string): Promise<boolean> {
    for await (const { configuration } of this.children())
      if (configuration === configurationName) return true;
    return false;
  }

  /** The children of every version, draft or published, of every composite. Composites deleted meanwhile are skipped. */
  async *children(): AsyncGenerator<CompositeChild> {
    for await (const { document } of this.versions()) yield* document.children;
  }

  /** Every version, draft or published, of every composite, by name and then the highest first, as `children`. */
  async *versions(): AsyncGenerator<CompositeVersion> {
    for (const compositeName of await this.store.list('composites')) {
      const repository = { kind: 'composites', name: compositeName } as const;
      try {
        for (const ref of (await this.store.versions(repository)).versions)
          yield {
            ...{ compositeName, version: ref.version, isPublished: isOffered(ref) },
            document: await this.document(repository, ref),
          };
      } catch (error) {
        if (await this.store.has(repository)) throw error;
      }
    }
  }
}

const damaged = () =>
  internal('repository_damaged', 'The version of the composite holds no readable document');
