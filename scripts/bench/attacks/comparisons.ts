/** Comparisons of contents that take long to compare. */

import type { Attack } from './attack.ts';
import { ENTRY_POINT } from './site.ts';

/**
 * The longest that a poll may wait while versions are compared, in milliseconds: 10 more than some poll waits anyway while
 * the server has nothing else to do.
 */
const COMPARISON = 20;
const MEMBERS = 40_000;
const LINES = 20_000;
const ENTRY = '$schema: x\nresources: []\n';

export const COMPARED_VERSIONS: Attack = {
  name: 'comparison',
  label: 'comparing 2 MB of minified JSON and 20,000 lines that differ',
  waitLimit: COMPARISON,
  async prepare(site) {
    await site.publish('compared', filesOf('a'));
    await site.revise('compared', '1.1.0', filesOf('b'));
    const { author } = site;
    const reviewer = site.authorWith({ Accept: 'text/x-diff' });
    const path = '/api/v1/configurations/compared/compare';
    return async () => {
      await author.ask({ method: 'GET', path: `${path}?to=1.1.0` });
      for (const file of ['minified.json', 'lines.txt'])
        await author.ask({ method: 'GET', path: `${path}/files/${file}?to=1.1.0` });
      await reviewer.ask({ method: 'GET', path: `${path}?to=1.1.0` });
    };
  },
};

/** @param seed every content differs from that of another seed, in each of its members and in most of its lines */
function filesOf(seed: string): Record<string, string> {
  const members = Array.from({ length: MEMBERS }, (_, at) => [
    `member ${at}`,
    { value: `${seed}-${at}-of-the-fleet` },
  ]);
  const lines = Array.from(
    { length: LINES },
    (_, at) => `${at % 7 === 0 ? 'same' : seed} ${(at * 7_919) % LINES}\n`,
  );
  return {
    [ENTRY_POINT]: ENTRY,
    'minified.json': JSON.stringify(Object.fromEntries(members)),
    'lines.txt': lines.join(''),
  };
}
