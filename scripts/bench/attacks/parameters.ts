/** Parameter documents that are expensive to read, or to explain. */

import { type Attack, ONE_REQUEST, TEN_REQUESTS } from './attack.ts';
import type { Site } from './site.ts';

const DEFAULT_SCOPE = '00000000-0000-0000-0000-000000000001';
const LEVELS = 97;
const FILE_BYTES = 64 * 1024;
const VALIDATIONS = 16;
const VALIDATED_BYTES = 84_000;
const CHARACTERS = 1_000_000;
const LEAVES = 10_000;

export const PROVENANCE: Attack = {
  name: 'provenance',
  label: 'provenance of 64 KB of long keys, 97 deep',
  waitLimit: ONE_REQUEST,
  async prepare(site) {
    const configurationId = await site.publish('deep', { 'main.dsc.yaml': '$schema: x\nresources: []\n' });
    const { nodeId } = await site.nodeWith('deep.example.org', 'deep');
    const { author } = site;
    return async () => {
      const saved = await saveParameters(site, configurationId, deepDocument());
      if (saved >= 300) return;
      const path = `/api/v1/parameters/${DEFAULT_SCOPE}/${configurationId}/versions/1.0.0/publish`;
      await author.ask({ method: 'PUT', path });
      await author.ask({ method: 'GET', path: `/api/v1/nodes/${nodeId}/parameters/provenance` });
    };
  },
};

export const VALIDATIONS_AT_ONCE: Attack = {
  name: 'validations',
  label: '16 validations of 84 KB of YAML at once, one user',
  waitLimit: TEN_REQUESTS,
  async prepare(site) {
    await site.publish('validated', {
      'main.dsc.yaml': '$schema: x\nparameters:\n  list:\n    type: array\nresources: []\n',
    });
    const { author } = site;
    const path = '/api/v1/configurations/validated/parameters/validate';
    const bytes = Buffer.from(`parameters:\n  list: [${'12,'.repeat(VALIDATED_BYTES / 3 - 10)}12]\n`);
    return async () => {
      const body = { bytes, type: 'application/yaml' };
      await Promise.all(
        Array.from({ length: VALIDATIONS }, () => author.ask({ method: 'POST', path, body })),
      );
    };
  },
};

export const LARGE_DOCUMENT: Attack = {
  name: 'large-document',
  label: 'a parameter document of 1,000,000 characters',
  waitLimit: ONE_REQUEST,
  async prepare(site) {
    const configurationId = await site.publish('large', { 'main.dsc.yaml': '$schema: x\nresources: []\n' });
    return async () => void (await saveParameters(site, configurationId, largeDocument()));
  },
};

/** @returns the status; 599 if there was no answer */
async function saveParameters(site: Site, configurationId: string, content: string): Promise<number> {
  const path = `/api/v1/parameters/${DEFAULT_SCOPE}/${configurationId}`;
  const body = { json: { version: '1.0.0', content } };
  return (await site.author.ask({ method: 'PUT', path, body })).status ?? 599;
}

/**
 * Half of the document is one chain of nested keys, and the other half are leaves at its end. So each leaf's pointer
 * is half as long as the file.
 */
function deepDocument(): string {
  const key = 'k'.repeat(Math.floor(FILE_BYTES / 2 / LEVELS) - 6);
  const leaves = Array.from({ length: Math.floor(FILE_BYTES / 2 / 13) }, (_, at) => `"leaf${10_000 + at}":1`);
  const way = Array.from({ length: LEVELS }, () => `{"${key}": `).join('');
  return `{"parameters": ${way}{${leaves.join(',')}}${'}'.repeat(LEVELS + 1)}`;
}

function largeDocument(): string {
  const line = (at: number) => `  leaf${10_000 + at}: `;
  const rest = Math.floor(CHARACTERS / LEAVES) - line(0).length - 2;
  const lines = Array.from({ length: LEAVES }, (_, at) => `${line(at)}${'x'.repeat(rest)}`);
  return `parameters:\n${lines.join('\n')}\n`;
}
