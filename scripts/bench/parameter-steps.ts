/** The steps of the rounds on parameters: a publish over HTTP, and a wave of polls. */

import { DEFAULT_SCOPE_TYPE_ID } from '../../src/domain/scopes.ts';
import { cpuSecondsOf } from './cpu.ts';
import type { Wave } from './messages.ts';
import { contentOf, type ParameterSite } from './parameter-site.ts';
import { expect } from './probe.ts';
import { timed } from './versions.ts';

/** The number of polls in progress at a time, as in the load generator. */
const AT_ONCE = 32;

export interface Published {
  draftMs: number;
  publishMs: number;
}

export interface WaveSample extends Wave {
  /** CPU milliseconds of the server per 1,000 polls. */
  cpu: number;
}

/**
 * Lets every connected node poll once.
 * @param touched how many of them must get another answer than before; null if that is not known
 */
export async function pollAll(
  { crowd, server }: ParameterSite,
  state: string,
  touched: number | null,
): Promise<WaveSample> {
  const before = cpuSecondsOf(server.pid);
  const wave = await crowd.wave(AT_ONCE, state);
  const seconds = cpuSecondsOf(server.pid) - before;
  if (touched !== null && wave.changed !== touched)
    throw new Error(`a publishing was to change what ${touched} nodes get, and changed ${wave.changed}`);
  return { ...wave, cpu: (seconds * 1_000 * 1_000) / wave.polls };
}

export async function publishFile(
  site: ParameterSite,
  scopeType: string,
  value: string | null,
  revision: string,
): Promise<Published> {
  const { client, configurationId, scopeTypeIds } = site;
  const version = `1.${site.nextMinor}.0`;
  site.nextMinor += 1;
  const scope = value === null ? {} : { scopeValue: value };
  const path = `/api/v1/parameters/${scopeTypeIds.get(scopeType) ?? DEFAULT_SCOPE_TYPE_ID}/${configurationId}`;
  const content = contentOf(scopeType, value, revision);
  const draft = await timed(() => client.put(path, { version, content, ...scope }));
  expect(draft.reply.status === 201, 'a draft of a parameter file', draft.reply);
  const query = value === null ? '' : `?scopeValue=${value}`;
  const publish = await timed(() => client.put(`${path}/versions/${version}/publish${query}`));
  expect(publish.reply.status === 200, 'a publishing of a parameter file', publish.reply);
  return { draftMs: draft.ms, publishMs: publish.ms };
}
