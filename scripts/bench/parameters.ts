/**
 * Measures what parameters cost: resolving a node with few and with many scope values, publishing a parameter file,
 * and the fleet's polls right after a publish.
 */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { makeCrowdIdentities } from './crowd-identities.ts';
import { makeParameterSite, toCrowd } from './parameter-site.ts';
import type { Processes } from './processes.ts';
import { compareResolving } from './resolving.ts';
import { formatScale, type ScaleRow } from './scale.ts';
import type { Effort } from './scenarios.ts';
import { formatWaves, measureWaves, type WaveRow } from './waves.ts';

const FEW_VALUES = 10;

export interface ParameterResults {
  nodes: number;
  connected: number;
  values: number;
  resolving: ScaleRow[];
  waves: WaveRow[];
}

/** @param progress is called with what begins */
export async function measureParameters(
  folder: string,
  template: string,
  processes: Processes,
  effort: Effort,
  progress: (message: string) => void,
): Promise<ParameterResults> {
  const amounts = effort.parameters;
  progress('making the parameters of few and of many scope values');
  const identities = await makeCrowdIdentities(amounts.connected);
  const make = async (name: string, values: number, nodes: number, count: number) => {
    mkdirSync(join(folder, name));
    return makeParameterSite(
      join(folder, name),
      template,
      processes,
      { nodes, values },
      identities.slice(0, count),
    );
  };
  const few = await make('few-values', FEW_VALUES, amounts.compared, amounts.compared);
  const many = await make('many-values', amounts.values, amounts.nodes, amounts.connected);
  progress('measuring: resolving with few and many scope values');
  for (const { crowd, server, connecting } of [few, many]) {
    await crowd.connect(server.endpoint, toCrowd(connecting.slice(0, amounts.compared)));
  }
  const resolving = await compareResolving(few, many, `${FEW_VALUES} : ${amounts.values} values`, effort);
  progress(`measuring: a publishing, then ${amounts.connected} nodes poll`);
  await many.crowd.connect(many.server.endpoint, toCrowd(many.connecting.slice(amounts.compared)));
  const waves = await measureWaves(many, effort);
  for (const { client } of [few, many]) client.close();
  return { nodes: amounts.nodes, connected: amounts.connected, values: amounts.values, resolving, waves };
}

export function formatParameters({ nodes, connected, values, resolving, waves }: ParameterResults): string {
  return [
    formatScale('parameters', resolving),
    '',
    `a publishing, then ${connected} of ${nodes} nodes poll; ${values} values with a file each`,
    formatWaves(waves),
  ].join('\n');
}
