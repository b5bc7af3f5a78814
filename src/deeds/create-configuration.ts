/** Creates a configuration with its first draft. */

import { readValidationSettings } from '../db/settings.ts';
import { DEFAULT_ENTRY_POINT } from '../domain/bundle-paths.ts';
import type { Caller } from '../security/caller.ts';
import { createResource, type ResourceTools } from '../versions/resources.ts';
import { checkDraft } from '../versions/rules.ts';
import type { FileContent } from '../versions/store.ts';
import type { WantedDraft } from './create-draft.ts';

const FIRST_VERSION = '1.0.0';

/** A configuration with its first draft. What is absent is chosen by the server. */
export interface WantedConfiguration extends WantedDraft {
  name: string;
  description?: string | null | undefined;
  useServerManagedParameters?: boolean | undefined;
}

/**
 * Creates a configuration with its first draft.
 * @param answer as that of `createResource`
 * @throws HawserError as `createResource` and `checkDraft`
 */
export async function createConfiguration<T>(
  tools: ResourceTools,
  caller: Caller & { gone: AbortSignal },
  { form, files }: { form: WantedConfiguration; files: readonly FileContent[] },
  answer: (id: string) => Promise<T>,
): Promise<T> {
  const { name, description = null, version = FIRST_VERSION, useServerManagedParameters = true } = form;
  const { entryPoint = DEFAULT_ENTRY_POINT, prereleaseChannel, message } = form;
  const { requireSemVer } = await readValidationSettings(tools.database.read);
  const flags = { useServerManagedParameters, requireSemVer };
  const content = checkDraft({ version, entryPoint, prereleaseChannel, files, ...flags });
  const draft = { version, ...content, message };
  const made = { name, description, useServerManagedParameters, entryPoint: null, draft };
  return createResource(tools, caller, { kind: 'configurations', ...made }, answer);
}
