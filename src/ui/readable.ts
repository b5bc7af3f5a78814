/** What the user may read of configurations, asked before something is read that would be refused. */

import { useResource } from './resource.ts';
import { can } from './session.ts';
import type { Composite, Configuration } from './types.ts';

export interface Readable {
  /** False while it is not known yet; then nothing counts as readable. */
  isKnown: boolean;
  /** May the user read this configuration? */
  configuration(name: string): boolean;
  /** May the user read the parameters of this configuration? */
  parameters(name: string): boolean;
  composite(name: string): boolean;
}

const OVERRIDES = [
  'configurations.admin-override',
  'composite-configurations.admin-override',
  'parameters.admin-override',
];

/** Whoever may read everything is not asked about single names. */
export function useReadable(isNeeded = true): Readable {
  const isOverAll = OVERRIDES.every(can);
  const ask = isNeeded && !isOverAll;
  const configurations = useResource<Configuration[]>(ask ? '/configurations?take=1000' : null);
  const composites = useResource<Composite[]>(ask ? '/composite-configurations?take=1000' : null);
  const one = (name: string) => configurations.data?.find((each) => each.name === name);
  return {
    isKnown: isOverAll || (configurations.data !== null && composites.data !== null),
    configuration: (name) => isOverAll || one(name) !== undefined,
    parameters: (name) => isOverAll || (one(name)?.parametersAccess ?? null) !== null,
    composite: (name) => isOverAll || composites.data?.some((each) => each.name === name) === true,
  };
}
