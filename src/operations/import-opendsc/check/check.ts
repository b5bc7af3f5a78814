/** `hawser import-opendsc --check`: compares, for every node, what OpenDSC served with what this server serves. */

import type { FleetPlace } from '../../../resolve/fleet.ts';
import type { KeyRing } from '../../../resolve/secret-leaves.ts';
import type { SourceFiles, SourceSite } from '../source/site.ts';
import { compareServed, type Difference } from './compare.ts';
import { ServedHere } from './here.ts';
import type { Served } from './offer.ts';
import { ServedThere } from './there.ts';

export interface CheckReport {
  /** How many nodes were compared. */
  compared: number;
  differences: ({ node: string; fqdn: string } & Difference)[];
}

/** Nodes of which a page of people's text shows the differences. */
const SHOWN = 200;

/**
 * Compares what each node of the source was served there with what it is served here.
 * @param onProgress is told how many of how many nodes were compared
 */
export async function checkMove(
  place: FleetPlace,
  keys: KeyRing,
  { site, files }: { site: SourceSite; files: SourceFiles },
  onProgress: (done: number, all: number) => void = () => undefined,
): Promise<CheckReport> {
  const here = await ServedHere.open(place, keys);
  try {
    const there = new ServedThere(site, files);
    const comparison = new Comparison();
    const differences: CheckReport['differences'] = [];
    for (const [at, node] of site.nodes.entries()) {
      const found = comparison.of(await there.of(node), await here.of(node.id));
      for (const difference of found) differences.push({ node: node.id, fqdn: node.fqdn, ...difference });
      onProgress(at + 1, site.nodes.length);
    }
    return { compared: site.nodes.length, differences };
  } finally {
    await here.close();
  }
}

/** Compares two offers once, however many nodes are served both. */
class Comparison {
  private readonly known = new Map<string, Difference[]>();

  of(there: Served, here: Served | undefined): Difference[] {
    if (!there || !here || 'fault' in there || 'fault' in here) return compareServed(there, here);
    const key = `${there.offer.key}\n${here.offer.key}`;
    const found = this.known.get(key) ?? compareServed(there, here);
    this.known.set(key, found);
    return found;
  }
}

/** The report as people read it. */
export function describeCheck({ compared, differences }: CheckReport): string {
  const nodes = new Set(differences.map(({ node }) => node)).size;
  if (nodes === 0) return `${compared} nodes were compared. Each gets here what it got there.\n`;
  const lines = differences.slice(0, SHOWN).map(({ fqdn, path, there, here, reason }) => {
    const values = `there ${JSON.stringify(there)}, here ${JSON.stringify(here)}`;
    return `  ${[fqdn, ...(path ? [path] : [])].join(' ')}: ${reason} (${values})\n`;
  });
  const more = differences.length - SHOWN;
  if (more > 0) lines.push(`  and ${more} more, which --json shows\n`);
  return `${compared} nodes were compared. ${nodes} of them get something else here:\n${lines.join('')}`;
}
