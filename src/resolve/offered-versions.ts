/** Which versions assignments give now, for lists of nodes. A fleet has few distinct assignments. */

import type { Awaitable } from '../lib/awaitable.ts';
import { HawserError } from '../lib/errors.ts';
import type { GitStore } from '../versions/store.ts';
import type { CompositeReader } from './composites.ts';
import { type ByNode, Fork, type NodeOpenness, valueFor } from './open-versions.ts';
import { byVersions, type GivenReaders, isWhole, type WantedVersion } from './wanted-version.ts';

/** What is assigned, by its name. */
export interface NamedAssignment extends WantedVersion {
  name: string;
  isComposite: boolean;
}

/**
 * The version that nodes with an assignment are offered. Null where no version fits, or for a composite none of one of its
 * children, and where that cannot be read at the moment.
 */
export type Offered = ByNode<string | null>;

export class OfferedVersions {
  private readonly readers: GivenReaders;
  private readonly openness: NodeOpenness;

  constructor(store: GitStore, composites: CompositeReader, openness: NodeOpenness) {
    // Which files go with a version does not matter here.
    const parameters = async () => () => null;
    this.readers = { versions: (repository) => store.versions(repository), parameters, composites };
    this.openness = openness;
  }

  of({ name, isComposite, ...wanted }: NamedAssignment): Promise<Offered> {
    const repository = { kind: isComposite ? 'composites' : 'configurations', name } as const;
    return orUnknown(() =>
      byVersions(this.readers, repository, wanted, (given) => (isWhole(given) ? given.tag.version : null)),
    );
  }

  /** What each of the nodes is offered, of which it is known what their assignments offer. */
  toEach(nodes: readonly { nodeId: string; offered: Offered }[]): Promise<(string | null)[]> {
    const openTo = this.openness.ofAll(nodes.map(({ nodeId }) => nodeId));
    return Promise.all(
      nodes.map(({ offered }, at) => {
        const open = openTo[at];
        return offered instanceof Fork && open ? orUnknown(() => valueFor(offered, open)) : offered;
      }) as (string | null)[],
    );
  }
}

async function orUnknown<T>(work: () => Awaitable<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof HawserError && ['internal', 'unavailable', 'not_found'].includes(error.kind))
      return null;
    throw error;
  }
}
