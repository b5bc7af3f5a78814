/** The configurations that a node gets by its assignment: the assigned one, or the children of a composite. */

import { apiPath } from '../../links.ts';
import { type Readable, useReadable } from '../../readable.ts';
import { type Resource, useResource } from '../../resource.ts';
import type { CompositeVersion, NodeDetails } from '../../types.ts';

export interface Part {
  name: string;
  /** Null where the API finds it by the assignment. */
  configurationId: string | null;
  mayReadParameters: boolean;
}

export interface Parts {
  /** Null while they are on their way. */
  parts: readonly Part[] | null;
  /** The user may read all of them with their parameters, and the composite. */
  isReadable: boolean;
  readable: Readable;
  /** It is not known yet what they are. */
  isBusy: boolean;
  /** What has to be read for it; of a configuration there is nothing. */
  resource: Resource<CompositeVersion>;
}

/** @param node null while it is on its way */
export function useParts(node: NodeDetails | null): Parts {
  const assignment = node?.assignment ?? null;
  const readable = useReadable(assignment !== null);
  const version = assignment?.resolvedVersion ?? null;
  const isOfChildren = assignment?.isComposite === true && version !== null;
  const mayAsk = isOfChildren && readable.isKnown && readable.composite(assignment.configurationName);
  const path = mayAsk
    ? `/composite-configurations${apiPath(assignment.configurationName)}/versions${apiPath(version)}`
    : null;
  const resource = useResource<CompositeVersion>(path, { poll: false });
  const parts = partsOf();
  return {
    parts,
    resource,
    readable,
    isBusy: assignment !== null && (!readable.isKnown || (mayAsk && resource.state === 'loading')),
    isReadable:
      parts?.every(({ name, mayReadParameters }) => readable.configuration(name) && mayReadParameters) ===
      true,
  };

  function partsOf(): readonly Part[] | null {
    if (node === null) return null;
    if (assignment === null || version === null) return [];
    if (!readable.isKnown) return null;
    if (!assignment.isComposite) return [partOf(assignment.configurationName, null)];
    if (!mayAsk) return null;
    return (
      resource.data?.items.map((item) => partOf(item.childConfigurationName, item.childConfigurationId)) ??
      null
    );
  }

  function partOf(name: string, configurationId: string | null): Part {
    return { name, configurationId, mayReadParameters: readable.parameters(name) };
  }
}

export interface Offered {
  /** Null while it is not known, or may not be. */
  checksum: string | null;
  isBusy: boolean;
  resource: Resource<{ checksum: string }>;
}

/** What a node gets at its next poll. It is asked for only where the user may read all of it. */
export function useOffered(node: NodeDetails | null, { isReadable }: Parts): Offered {
  const isOffered = (node?.assignment?.resolvedVersion ?? null) !== null;
  const path =
    node !== null && isOffered && isReadable ? `/nodes${apiPath(node.id)}/configuration/checksum` : null;
  const resource = useResource<{ checksum: string }>(path);
  return {
    resource,
    checksum: resource.data?.checksum ?? null,
    isBusy: path !== null && resource.state === 'loading',
  };
}
