/** Whether all that changes name is still there, in the state for which they are previewed. */

import type { FleetSnapshot } from '../db/fleet-snapshot.ts';
import { HawserError, notFound } from '../lib/errors.ts';
import type { Proposal } from './proposal.ts';
import type { ProposedVersions } from './proposed-versions.ts';

/** @throws HawserError not_found with a sentence that names what is gone */
export async function requireTargets(
  { registry: { configurations, composites } }: FleetSnapshot,
  proposed: ProposedVersions,
  { published, files, offers = [], assignments }: Proposal,
): Promise<void> {
  const names = {
    configurations: new Set([...configurations.values()].map(({ name }) => name)),
    composites: new Set(composites.values()),
  };
  const requireName = (kind: keyof typeof names, name: string) => {
    if (!names[kind].has(name)) throw gone(name);
  };
  for (const { kind, name, series } of published) {
    requireName(kind === 'composites' ? kind : 'configurations', name);
    await requireVersions(name, async () => {
      if (kind === 'parameters') (await proposed.parameters.index(name)).of(series);
      else await proposed.versions({ kind, name });
    });
  }
  for (const { kind, name } of offers) {
    requireName(kind === 'composites' ? kind : 'configurations', name);
    await requireVersions(name, async () => void (await proposed.versions({ kind, name })));
  }
  for (const { configurationName, series } of files) {
    requireName('configurations', configurationName);
    (await proposed.parameters.index(configurationName)).of(series);
  }
  for (const assignment of assignments.values()) {
    const { configurationId = null, compositeId = null } = assignment ?? {};
    if (configurationId !== null && !configurations.has(configurationId))
      throw gone('that was to be assigned');
    if (compositeId !== null && !composites.has(compositeId)) throw gone('that was to be assigned');
  }
}

async function requireVersions(name: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof HawserError && error.code === 'repository_missing') throw gone(name);
    throw error;
  }
}

const gone = (what: string) => notFound(`The configuration ${what} has been deleted meanwhile`);
