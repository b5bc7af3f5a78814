/** A command for the agent whose runs are numbered, and what the server has got of them. */

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentUnderTest } from './agent.ts';
import type { Client } from './client.ts';

/** Each run writes its number and its operation before it prints them. */
const COUNTER = `
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
const [file, operation] = process.argv.slice(2);
const run = (existsSync(file) ? readFileSync(file, 'utf8').split('\\n').length - 1 : 0) + 1;
appendFileSync(file, operation + '\\n');
const resource = { name: 'one', type: 'Test/One', result: { inDesiredState: true } };
process.stdout.write(JSON.stringify({ metadata: { run }, results: [resource], hadErrors: false }));
`;

/** Gives the agent a command whose runs are numbered from 1. */
export function countRuns(agent: AgentUnderTest): void {
  const script = join(agent.folder, 'counter.mjs');
  writeFileSync(script, COUNTER);
  agent.settings['COMMAND'] = JSON.stringify([process.execPath, script, journalOf(agent), '{operation}']);
}

/** The operations of all runs, the oldest first. */
export function operationsOf(agent: AgentUnderTest): string[] {
  const path = journalOf(agent);
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
}

/** The numbers of the runs whose reports the agent keeps, the oldest first. */
export function keptRuns({ stateDir }: AgentUnderTest): number[] {
  const folder = join(stateDir, 'reports');
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder)
    .filter((name) => /^\d{12}(-missing)?\.json$/.test(name))
    .sort();
  return names.map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')).result.metadata?.run);
}

/** The numbers of the runs whose reports the server has, in the order in which they came. */
export async function reportedRuns(admin: Client, nodeId: string): Promise<number[]> {
  const { json } = await admin.get(`/api/v1/nodes/${nodeId}/reports?take=500`);
  const runs: number[] = [];
  for (const { id } of json.toReversed()) {
    runs.push((await admin.get(`/api/v1/reports/${id}`)).json.result.metadata?.run);
  }
  return runs;
}

function journalOf({ folder }: AgentUnderTest): string {
  return join(folder, 'journal');
}
