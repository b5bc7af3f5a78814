/** Paths that mean something of their own in a configuration and in the bundle that is made of it. */

import { foldPath } from './safe-path.ts';

/** The entry point where nobody names one. */
export const DEFAULT_ENTRY_POINT = 'main.dsc.yaml';

/** Where a bundle holds the merged parameters. */
export const PARAMETERS_FILE = 'parameters.yaml';
const PARAMETERS_KEY = foldPath(PARAMETERS_FILE);

/** Whether a path stands where the parameters go: in any case, or as a folder that could not be unpacked beside them. */
export function takesParametersPlace(path: string): boolean {
  return foldPath(path.split('/', 1)[0] ?? '') === PARAMETERS_KEY;
}
