/** A fleet of 10,000 nodes that moves from OpenDSC, and the one value that was changed afterwards. */

import { rmSync } from 'node:fs';
import { expect } from 'chai';
import { type Hawser, startHawser } from '../support/hawser.ts';
import { checkMove, importInto, type Written, write } from '../support/opendsc/moving.ts';
import { OpenDscSite } from '../support/opendsc/site.ts';
import { saveParameters } from '../support/parameter-files.ts';

const NODES = 10_000;
const VALUES = 10;

describe('a fleet that moves from OpenDSC', () => {
  let hawser: Hawser;
  let written: Written;

  before(async () => {
    hawser = await startHawser();
  });
  after(async () => {
    await hawser.close();
    rmSync(written.files, { recursive: true, force: true });
  });

  it('finds nothing after a move, and then the one value that was changed among 10,000 nodes', async () => {
    const site = new OpenDscSite();
    const region = site.scopeType({ name: 'Region', precedence: 10 });
    const values = Array.from({ length: VALUES }, (_, at) => site.scopeValue(region, `r${at}`));
    const web = site.configuration({ name: 'web' });
    site.version(web, { version: '1.0.0' });
    site.parameters({ configuration: web, text: 'parameters: {port: 80, name: all}\n' });
    for (const { name: value } of values)
      site.parameters({
        configuration: web,
        scopeType: region,
        value,
        text: `parameters: {name: ${value}}\n`,
      });
    for (let at = 0; at < NODES; at += 1) {
      const tag = values[at % VALUES];
      site.node({
        fqdn: `n${at}.example.org`,
        assignment: { configuration: web },
        ...(tag && { tags: [tag] }),
      });
    }
    const own = { configuration: web, scopeType: site.nodeScope, value: 'n4711.example.org' };
    site.parameters({ ...own, text: 'parameters: {port: 8080}\n' });
    written = await write(site);
    expect((await importInto(hawser, written, {})).code).to.equal(0);
    expect(await checkMove(hawser, written)).to.deep.equal({
      code: 0,
      report: { compared: NODES, differences: [] },
    });
    const scope = { scopeType: 'Node', value: 'n4711.example.org' };
    await saveParameters(hawser, {
      configuration: 'web',
      ...scope,
      version: '1.1.0',
      content: 'parameters: {port: 8081}\n',
    });
    const { code, report } = await checkMove(hawser, written);
    expect(code).to.equal(2);
    expect(report.compared).to.equal(NODES);
    expect(report.differences.map(({ node, ...difference }) => difference)).to.deep.equal([
      {
        fqdn: 'n4711.example.org',
        path: 'parameters.yaml#/parameters/port',
        there: 8080,
        here: 8081,
        reason: 'The value differs',
      },
    ]);
  });
});
