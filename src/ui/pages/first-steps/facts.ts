/** What is done of the first steps, as the API tells it. */

import { withQuery } from '../../links.ts';
import { type Resource, useResource } from '../../resource.ts';
import { can, me } from '../../session.ts';
import type { Configuration, FleetSummary, RegistrationKey } from '../../types.ts';
import { hasStatus, isAssigned } from './summary.ts';

export const STEPS = ['password', 'configuration', 'key', 'node', 'assigned', 'report'] as const;
export type StepName = (typeof STEPS)[number];

export interface Facts {
  done: Record<StepName, boolean>;
  /** The configurations that have a published version, as far as the user may read them. */
  published: readonly Configuration[];
}

/** @param pause in milliseconds, after which it is asked again */
export function useFacts(summary: FleetSummary, pause: number): Facts | null {
  const options = { pause: () => pause };
  const configurations = useResource<Configuration[]>('/configurations?take=100', options);
  const mayMakeKeys = can('registration-keys.manage');
  const keysPath = withQuery('/admin/registration-keys', { take: 100 });
  const keys = useResource<RegistrationKey[]>(mayMakeKeys ? keysPath : null, options);
  const mayReadReports = can('reports.read-all');
  const reports = useResource<unknown[]>(mayReadReports ? '/reports?take=1' : null, options);
  // A node that is expected has no machine yet.
  const registered = useResource<unknown[]>('/nodes?awaiting=false&take=1', options);
  const isOnItsWay = ({ state }: Resource<unknown>, isAsked = true) => isAsked && state === 'loading';
  if (isOnItsWay(configurations) || isOnItsWay(registered)) return null;
  if (isOnItsWay(keys, mayMakeKeys) || isOnItsWay(reports, mayReadReports)) return null;
  const published = (configurations.data ?? []).filter((one) => one.latestPublishedVersion !== null);
  return {
    published,
    done: {
      password: me.value?.requirePasswordChange === false,
      // What is assigned has a version, though the user may not be allowed to read it.
      configuration: published.length > 0 || isAssigned(summary),
      key: summary.nodes > 0 || (keys.data ?? []).some(isGood),
      node: (registered.total ?? 0) > 0,
      assigned: isAssigned(summary),
      report: hasStatus(summary) || (reports.total ?? 0) > 0,
    },
  };
}

function isGood({ isRevoked, expiresAt }: RegistrationKey): boolean {
  return !isRevoked && Date.parse(expiresAt) > Date.now();
}
