/**
 * Measures how long `hawser import-opendsc` takes for a large site, and again when all is there. The baseline is what stock
 * git takes in the same run to commit and tag such versions, one after the other, with everything flushed.
 */

import { join } from 'node:path';
import { SECOND } from '../../src/lib/clock.ts';
import { OpenDscSite } from '../../test/support/opendsc/site.ts';
import type { Processes } from './processes.ts';
import { table, verdict } from './report.ts';
import type { Effort } from './scenarios.ts';
import { StockGit } from './stock-git.ts';

/** The most that the import may take, in milliseconds. */
const TARGET = 60 * SECOND;
/** Versions that stock git makes for the baseline. */
const BASELINE_VERSIONS = 100;
const VALUES = 20;

export interface ImportAmounts {
  nodes: number;
  configurations: number;
  /** Of each configuration. */
  versions: number;
  /** Of each version. */
  files: number;
}

export interface ImportResults {
  amounts: ImportAmounts;
  /** Milliseconds. */
  imported: number;
  again: number;
  checked: number;
  /** Milliseconds that stock git takes for one version. */
  stockGit: number;
  /** The import as a multiple of what stock git takes for all versions. */
  ratio: number;
  met: boolean;
}

/** @param progress is called with what begins */
export async function measureImport(
  folder: string,
  _template: string,
  processes: Processes,
  { imports: amounts }: Effort,
  progress: (message: string) => void,
): Promise<ImportResults> {
  progress(`making an OpenDSC site of ${amounts.nodes} nodes`);
  const source = await makeSite(amounts).write({ folder: join(folder, 'opendsc') });
  const site = join(folder, 'import');
  progress('measuring: import');
  const imported = await processes.importOpenDsc(site, source);
  const again = await processes.importOpenDsc(site, source);
  const checked = await processes.importOpenDsc(site, source, '--check');
  progress('measuring: stock git');
  const stockGit = await measureStockGit(join(folder, 'import-stock-git'), amounts);
  const ratio = imported / (stockGit * amounts.configurations * amounts.versions);
  return { amounts, imported, again, checked, stockGit, ratio, met: imported <= TARGET };
}

function makeSite({ nodes, configurations, versions, files }: ImportAmounts): OpenDscSite {
  const site = new OpenDscSite();
  const region = site.scopeType({ name: 'Region', precedence: 10 });
  const values = Array.from({ length: VALUES }, (_, at) => site.scopeValue(region, `region-${at}`));
  const all = Array.from({ length: configurations }, (_, at) => {
    const configuration = site.configuration({ name: `service-${at}` });
    for (let minor = 0; minor < versions; minor += 1)
      site.version(configuration, { version: `1.${minor}.0`, files: contents(`${at}.${minor}`, files) });
    site.parameters({ configuration, text: 'parameters:\n  port: 80\n' });
    site.parameters({
      configuration,
      scopeType: region,
      value: 'region-0',
      text: 'parameters:\n  port: 81\n',
    });
    return configuration;
  });
  for (let at = 0; at < nodes; at += 1) {
    const configuration = all[at % all.length];
    const value = values[at % values.length];
    site.node({
      fqdn: `node-${at}.example.org`,
      ...(configuration && { assignment: { configuration } }),
      ...(value && { tags: [value] }),
    });
  }
  return site;
}

/** Files of about a kilobyte, which no two versions share. */
function contents(seed: string, files: number): Record<string, string> {
  const named = Array.from({ length: files }, (_, at) => {
    const path = at === 0 ? 'main.dsc.yaml' : `files/part-${at}.yaml`;
    return [path, `$schema: x\nresources: []\n# ${seed} ${at}\n${'# a line of a file\n'.repeat(50)}`];
  });
  return Object.fromEntries(named);
}

async function measureStockGit(folder: string, { files }: ImportAmounts): Promise<number> {
  const git = new StockGit(folder);
  const bytes = (seed: string) =>
    Object.fromEntries(
      Object.entries(contents(seed, files)).map(([path, text]) => [path, Buffer.from(text)]),
    );
  await git.begin(bytes('first'));
  let milliseconds = 0;
  for (let at = 0; at < BASELINE_VERSIONS; at += 1)
    milliseconds += await git.publish(`1.${at}.0`, bytes(`stock ${at}`));
  return milliseconds / BASELINE_VERSIONS;
}

export function formatImport(results: ImportResults): string {
  const { amounts, imported, again, checked, stockGit, ratio, met } = results;
  const { nodes, configurations, versions, files } = amounts;
  const seconds = (milliseconds: number) => `${(milliseconds / SECOND).toFixed(1)} s`;
  return [
    `import of ${nodes} nodes and ${configurations * versions} versions of ${files} files`,
    ...table([
      ['', '', 'time', 'stock git', 'ratio', 'target', ''],
      [
        ...['import', 'of all', seconds(imported), seconds(stockGit * configurations * versions)],
        ...[ratio.toFixed(2), seconds(TARGET), verdict(met)],
      ],
      ['import', 'again', seconds(again), '', '', '', ''],
      ['check', 'of all', seconds(checked), '', '', '', ''],
    ]),
  ].join('\n');
}
