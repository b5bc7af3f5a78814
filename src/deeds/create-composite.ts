/** Creates a composite without any version. */

import { DEFAULT_ENTRY_POINT } from '../domain/bundle-paths.ts';
import { normalizePath } from '../domain/safe-path.ts';
import type { Caller } from '../security/caller.ts';
import { createResource, type ResourceTools } from '../versions/resources.ts';

/** A composite that is to be made. What is absent or null is chosen by the server. */
export interface WantedComposite {
  name: string;
  description?: string | null | undefined;
  /** The path of the document that refers to the children; absent or null: the default. */
  entryPoint?: string | null | undefined;
}

/**
 * Creates a composite without any version.
 * @param answer as that of `createResource`
 * @throws HawserError as `createResource`, invalid `invalid_path` for the entry point
 */
export async function createComposite<T>(
  tools: ResourceTools,
  caller: Caller,
  { name, description = null, entryPoint }: WantedComposite,
  answer: (id: string) => Promise<T>,
): Promise<T> {
  const made = {
    kind: 'composites',
    name,
    description,
    useServerManagedParameters: false,
    entryPoint: normalizePath(entryPoint ?? DEFAULT_ENTRY_POINT),
    draft: null,
  } as const;
  return createResource(tools, caller, made, answer);
}
