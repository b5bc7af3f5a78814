/** Whether dsc can read the documents that nodes are offered. */

import type { Config } from '../../config.ts';
import { isError, printFinding } from '../../domain/findings.ts';
import { EntryPoints } from '../../resolve/entry-points.ts';
import { Fleet } from '../../resolve/fleet.ts';
import { ParameterReader } from '../../resolve/parameters.ts';
import { readOffers } from '../../resolve/read-offers.ts';
import { readCommandKeys } from '../command-keys.ts';
import { type Check, type Finding, several, warningOf } from './findings.ts';

const NAME = 'documents';
const CACHE_BYTES = 64 * 1024 * 1024;
const REMEDY = 'publish a version above it whose document is good: its findings say what is wrong';

/** Counts the versions with an Error that some node is offered. They were published before it was looked for, or as they are. */
export async function checkDocuments(config: Config): Promise<Check> {
  const { dataDir, databaseUrl, reposDir } = config;
  const keys = await readCommandKeys(config);
  const fleet = new Fleet({ dataDir, databaseUrl, reposDir, cacheBytes: CACHE_BYTES }, keys);
  try {
    const parameters = new ParameterReader(fleet.store, fleet);
    const readers = { parameters, keys: new Map<string, number>() };
    const plans = await fleet.atOneMoment(async (moment) =>
      (await readOffers(fleet, moment, readers)).configurationsOffered(),
    );
    const entryPoints = new EntryPoints(fleet.documents);
    const findings: Finding[] = [];
    for (const { name, tag, entryPoint, files } of plans) {
      const oid = files.find(({ path }) => path === entryPoint)?.oid;
      if (oid === undefined) continue;
      const load = () => fleet.store.blob({ kind: 'configurations', name }, oid);
      const first = (await entryPoints.read({ oid, caller: NAME, load })).findings.find(isError);
      if (first === undefined) continue;
      const what = `nodes are offered ${tag.version}, which dsc cannot read: ${printFinding({ ...first, file: entryPoint })}`;
      findings.push(warningOf(`configurations/${name}`, what, REMEDY));
    }
    const summary = `${findings.length} of ${several(plans.length, 'version')} that nodes are offered cannot be read by dsc`;
    return { name: NAME, summary, findings };
  } finally {
    await fleet.close();
  }
}
