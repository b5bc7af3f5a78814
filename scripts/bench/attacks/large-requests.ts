/** Requests that are large, but within the limits. */

import { randomBytes } from 'node:crypto';
import { type Attack, ONE_REQUEST, TEN_REQUESTS } from './attack.ts';
import { ENTRY_POINT, type Files } from './site.ts';

const REPORTS = 20;
const REPORT_BYTES = 4_500_000;
const MEBIBYTE = 1024 * 1024;

export const LARGE_REPORTS: Attack = {
  name: 'reports',
  label: '20 reports of 4.5 MB at once, one node',
  waitLimit: TEN_REQUESTS,
  async prepare(site) {
    const { nodeId, identity } = await site.nodeWith('reporter.example.org', 'attacked');
    const node = site.caller({ identity });
    const json = { operation: 'Test', result: { results: resultsOf(REPORT_BYTES), hadErrors: false } };
    const report = { bytes: Buffer.from(JSON.stringify(json)), type: 'application/json' };
    return async () => {
      const path = `/api/v1/nodes/${nodeId}/reports`;
      const count = site.amount(REPORTS, REPORTS / 2);
      await Promise.all(
        Array.from({ length: count }, () => node.ask({ method: 'POST', path, body: report })),
      );
    };
  },
};

export const LARGE_UPLOAD: Attack = {
  name: 'large-upload',
  label: 'an upload of one file of 50 MiB',
  waitLimit: ONE_REQUEST,
  async prepare(site) {
    const { author } = site;
    const entry = '$schema: x\nresources: []\n';
    const files = {
      [ENTRY_POINT]: entry,
      'large.bin': randomBytes(site.amount(50, 10) * MEBIBYTE - entry.length),
    };
    const body = { form: { fields: { name: 'large' }, files } };
    return async () => void (await author.ask({ method: 'POST', path: '/api/v1/configurations', body }));
  },
};

export const LARGE_PUBLISHING: Attack = {
  name: 'publish',
  label: 'publishing 2,000 files',
  waitLimit: ONE_REQUEST,
  async prepare(site) {
    const { author } = site;
    const files: Files = { [ENTRY_POINT]: '$schema: x\nresources: []\n' };
    for (let at = 1; at < site.amount(2_000, 500); at += 1) files[`${at % 50}/${at}`] = `${at}\n`;
    await site.draft('large', files);
    const path = '/api/v1/configurations/large/versions/1.0.0/publish';
    return async () => void (await author.ask({ method: 'PUT', path }));
  },
};

function resultsOf(bytes: number): unknown[] {
  const one = (at: number) => ({
    name: `Service ${at}`,
    type: 'Microsoft.Windows/Service',
    result: {
      actualState: { name: `svc-${at}`, status: 'Running' },
      inDesiredState: true,
      differingProperties: [],
    },
  });
  const length = JSON.stringify(one(10_000)).length + 1;
  return Array.from({ length: Math.floor(bytes / length) }, (_, at) => one(10_000 + at));
}
