/**
 * `node scripts/run.js scripts/console/large.ts [nodes]` starts a server with very many nodes, reports and events, which
 * are written straight into its database, and says where its console is. Ctrl-C ends it and removes its folders.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeTemplate } from '../bench/fleet.ts';
import { ADMIN_PASSWORD, Processes } from '../bench/processes.ts';
import { makeRecordSite, RECORDS_OF_ONE } from '../bench/record-site.ts';

const NODES = 100_000;
const REPORTS_PER_NODE = 3;

async function main(nodes: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'hawser-large-'));
  const processes = new Processes();
  const close = async () => {
    await processes.close();
    rmSync(folder, { recursive: true, force: true });
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void close().then(() => process.exit(0)));
  try {
    const size = { nodes, reports: REPORTS_PER_NODE * nodes, reportsOfBusy: 10 * RECORDS_OF_ONE };
    const template = await makeTemplate(join(folder, 'template'));
    const { endpoint } = await makeRecordSite(join(folder, 'site'), template, processes, size);
    console.log(
      `https://localhost:${endpoint.port}/ui/ with ${nodes} nodes; user admin, password ${ADMIN_PASSWORD}`,
    );
  } catch (error) {
    await close();
    throw error;
  }
}

const wish = Number(process.argv[2] ?? NODES);
if (Number.isInteger(wish) && wish >= 10) {
  await main(wish);
} else {
  console.error('usage: node scripts/run.js scripts/console/large.ts [nodes, at least 10]');
  process.exitCode = 2;
}
