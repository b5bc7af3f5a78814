// full: SQLite, PostgreSQL
/**
 * Parameter files are published, withdrawn and offered again at random: what each node gets, and what a dry run says of a
 * withdrawal, is what a model says that knows nothing of Git.
 */

import { expect } from 'chai';
import { parse } from 'yaml';
import { publishWithChildren } from '../support/composites.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, configurationId, pullBundle } from '../support/parameter-files.ts';
import { randomFrom } from '../support/random-site.ts';
import { ok } from '../support/replies.ts';
import { createScopeType, createScopeValue, DEFAULT_ID, NODE_ID, tagNode } from '../support/scopes.ts';
import { started } from '../support/started.ts';
import { fileVersionOf, offerFileAgain, withdrawFile } from '../support/withdrawals.ts';

const STEPS = 60;
const DOCUMENT = { 'main.dsc.yaml': '$schema: x\nresources: []\n' };

interface Series {
  /** The parameter that its files set, to the number of the file. */
  key: string;
  scopeTypeId: string;
  value?: string;
  /** By their age, and so by their version. */
  files: { version: string; number: number; isWithdrawn: boolean }[];
}

interface Holder {
  node: NodeUnderTest;
  isDirect: boolean;
  series: Series[];
}

describe('parameter files at random', () => {
  const hawser = started(startHawser);

  it('reach each node as the highest that is not withdrawn, and a dry run counts whom a withdrawal concerns', async () => {
    const random = randomFrom(7);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
    const { admin } = hawser;
    await publishConfiguration(admin, 'web', { '1.0.0': DOCUMENT });
    await publishWithChildren(admin, 'farm', '1.0.0', ['web']);
    const id = await configurationId(admin, 'web');
    const seriesOf = (key: string, scopeTypeId: string, value?: string): Series => ({
      ...{ key, scopeTypeId, files: [] },
      ...(value !== undefined && { value }),
    });
    const everywhere = seriesOf('everywhere', DEFAULT_ID);
    const siteId = await createScopeType(hawser, 'Site');
    const sites: { series: Series; tag: string }[] = [];
    for (const value of ['north', 'south'])
      sites.push({
        series: seriesOf(value, siteId, value),
        tag: await createScopeValue(hawser, siteId, value),
      });
    const holders: Holder[] = [];
    for (let at = 0; at < 6; at += 1) {
      const node = await hawser.registerNode(`n${at}.example.org`);
      const isDirect = at % 3 > 0;
      await assign(hawser, node, isDirect ? 'web' : 'farm', { isComposite: !isDirect });
      const site = sites[at % 2];
      if (site) await tagNode(hawser, node.nodeId, site.tag);
      const own = at < 2 ? [seriesOf('own', NODE_ID, node.fqdn)] : [];
      holders.push({ node, isDirect, series: [everywhere, ...(site ? [site.series] : []), ...own] });
    }
    const all = [...new Set(holders.flatMap(({ series }) => series))];
    const given = ({ files }: Series, without?: string) =>
      files.findLast(({ version, isWithdrawn }) => !isWithdrawn && version !== without);
    const nameOf = (series: Series, version: string) => ({ ...series, configurationId: id, version });

    const publish = async (series: Series, number: number) => {
      const version = `1.${number}.0`;
      const { scopeTypeId, value, key } = series;
      const scope = value === undefined ? {} : { scopeValue: value };
      const body = { version, content: `parameters:\n  ${key}: ${number}\n`, ...scope };
      await ok(201, admin.put(`/api/v1/parameters/${scopeTypeId}/${id}`, body));
      await ok(200, admin.put(fileVersionOf(nameOf(series, version), '/publish')));
      series.files.push({ version, number, isWithdrawn: false });
    };

    /** Whatever a dry run may say is to be said once at least. */
    const tried = { next: false, nothing: false, nobody: false };
    /** What the dry run is to say. */
    const effectOf = (series: Series, version: string) => {
      const losing = holders.filter(
        (each) => each.series.includes(series) && given(series)?.version === version,
      );
      const direct = losing.filter(({ isDirect }) => isDirect).length;
      const wouldGet = [{ version: given(series, version)?.version ?? null, nodes: losing.length }];
      return {
        ...{ nodes: losing.length, direct, viaComposites: losing.length - direct },
        wouldGet: losing.length === 0 ? [] : wouldGet,
      };
    };

    const withdrawOrOffer = async (series: Series) => {
      const file = pick(series.files);
      const named = nameOf(series, file.version);
      if (file.isWithdrawn) await ok(204, offerFileAgain(admin, named));
      else {
        const told = await ok(200, admin.put(fileVersionOf(named, '/withdraw', 'dryRun=true')));
        const effect = effectOf(series, file.version);
        expect(told, `${series.key} ${file.version}`).to.deep.equal(effect);
        const [next] = effect.wouldGet;
        tried[next === undefined ? 'nobody' : next.version === null ? 'nothing' : 'next'] = true;
        await ok(200, withdrawFile(admin, named));
      }
      file.isWithdrawn = !file.isWithdrawn;
    };

    for (let step = 1; step <= STEPS; step += 1) {
      const series = pick(all);
      if (series.files.length === 0 || random() < 0.3) await publish(series, step);
      else await withdrawOrOffer(series);
      for (const holder of holders) {
        const merged = holder.series.flatMap((each) => {
          const file = given(each);
          return file ? [[each.key, file.number] as const] : [];
        });
        const bundle = await pullBundle(holder.node);
        const text = bundle[holder.isDirect ? 'parameters.yaml' : 'web/parameters.yaml'];
        const got = text === undefined ? {} : parse(text).parameters;
        expect(got, `step ${step}: ${holder.node.fqdn}`).to.deep.equal(Object.fromEntries(merged));
      }
    }
    expect(tried).to.deep.equal({ next: true, nothing: true, nobody: true });
  });
});
