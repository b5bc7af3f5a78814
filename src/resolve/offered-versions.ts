/** Which versions assignments give now, for lists of nodes. A fleet has few distinct assignments. */

import { HawserError } from '../lib/errors.ts';
import type { GitStore } from '../versions/store.ts';
import type { CompositeReader } from './composites.ts';
import { findWanted, type WantedVersion } from './wanted-version.ts';

/** What is assigned, by its name. */
export interface NamedAssignment extends WantedVersion {
  name: string;
  isComposite: boolean;
}

export class OfferedVersions {
  private readonly store: GitStore;
  private readonly composites: CompositeReader;

  constructor(store: GitStore, composites: CompositeReader) {
    this.store = store;
    this.composites = composites;
  }

  /**
   * The version that nodes with this assignment are offered. Null where no version fits, or for a composite none of one of
   * its children, and where that cannot be read at the moment.
   */
  async of(assignment: NamedAssignment): Promise<string | null> {
    try {
      return await this.find(assignment);
    } catch (error) {
      if (error instanceof HawserError && ['internal', 'unavailable', 'not_found'].includes(error.kind))
        return null;
      throw error;
    }
  }

  private async find({ name, isComposite, ...wanted }: NamedAssignment): Promise<string | null> {
    const kind = isComposite ? 'composites' : 'configurations';
    const found = findWanted(await this.store.versions({ kind, name }), wanted);
    if (found === null || !isComposite) return found?.version ?? null;
    const { prereleaseChannel } = wanted;
    const { children } = await this.composites.document({ kind, name }, found);
    for (const { configuration, version } of children) {
      const versions = await this.store.versions({ kind: 'configurations', name: configuration });
      if (findWanted(versions, { majorVersion: null, prereleaseChannel, version }) === null) return null;
    }
    return found.version;
  }
}
