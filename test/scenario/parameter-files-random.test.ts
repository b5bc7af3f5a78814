// full: SQLite, PostgreSQL
/**
 * Parameter files are published, withdrawn, offered again and rolled out at random: what each node gets, and what a dry run says of a
 * withdrawal, is what a model says that knows nothing of Git.
 */

import { expect } from 'chai';
import { parse } from 'yaml';
import { publishWithChildren } from '../support/composites.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, configurationId, pullBundle } from '../support/parameter-files.ts';
import { randomFrom } from '../support/random-site.ts';
import { ok } from '../support/replies.ts';
import { doDeed, RING_SETTING, rolloutsOf } from '../support/rollouts.ts';
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
  files: { version: string; number: number; isWithdrawn: boolean; reach?: Reach }[];
}

/** To whom a file that rolls out is open; all of them where it does not. */
type Reach = 'north' | 'nobody';

interface Holder {
  node: NodeUnderTest;
  isDirect: boolean;
  site: string;
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
    const siteId = await createScopeType(hawser, 'Site', { valueMode: 'Restricted' });
    await ok(200, admin.put(RING_SETTING, { rolloutScopeType: 'Site' }));
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
      const value = site?.series.value ?? '';
      holders.push({
        node,
        isDirect,
        site: value,
        series: [everywhere, ...(site ? [site.series] : []), ...own],
      });
    }
    const all = [...new Set(holders.flatMap(({ series }) => series))];
    const given = ({ files }: Series, without?: string, site = '') =>
      files.findLast(({ version, isWithdrawn, reach = site }) => {
        return !isWithdrawn && version !== without && reach === site;
      });
    const nameOf = (series: Series, version: string) => ({ ...series, configurationId: id, version });

    const save = async (series: Series, number: number) => {
      const version = `1.${number}.0`;
      const { scopeTypeId, value, key } = series;
      const scope = value === undefined ? {} : { scopeValue: value };
      const body = { version, content: `parameters:\n  ${key}: ${number}\n`, ...scope };
      await ok(201, admin.put(`/api/v1/parameters/${scopeTypeId}/${id}`, body));
      return { version, number, isWithdrawn: false };
    };
    const publish = async (series: Series, number: number) => {
      const file = await save(series, number);
      await ok(200, admin.put(fileVersionOf(nameOf(series, file.version), '/publish')));
      series.files.push(file);
    };

    /** Ends by giving it to all, or by taking it back from all, and is looked at before that too. */
    const rollOut = async (series: Series, number: number, look: () => Promise<void>) => {
      const file: Series['files'][number] = await save(series, number);
      const scopeTypeName = { [DEFAULT_ID]: 'Default', [NODE_ID]: 'Node' }[series.scopeTypeId] ?? 'Site';
      const scope = { scopeTypeName, scopeValue: series.value ?? null };
      const steps = [{ ring: 'north', gate: { bakeTime: '10:00:00' } }];
      const plan = { parameters: [{ ...scope, version: file.version }], steps, onHalt: 'Keep' };
      const { key } = await ok(201, admin.post(rolloutsOf('web'), plan));
      series.files.push(file);
      file.reach = 'north';
      await look();
      const does = random() < 0.5 ? 'complete' : 'revert';
      // A step without nodes may have completed it by itself.
      const { state } = await ok(200, admin.get(`${rolloutsOf('web')}/${key}`));
      if (state === 'Running') await ok(200, doDeed(admin, `${rolloutsOf('web')}/${key}`, does));
      if (state === 'Running' && does === 'revert') file.reach = 'nobody';
      else delete file.reach;
    };

    /** Whatever a dry run may say is to be said once at least. */
    const tried = { next: false, nothing: false, nobody: false };
    /** What the dry run is to say. */
    const effectOf = (series: Series, version: string) => {
      const losing = holders.filter(
        (each) => each.series.includes(series) && given(series, undefined, each.site)?.version === version,
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
      const look = () => lookAt(step);
      const chance = random();
      if (chance < 0.2) await rollOut(series, step, look);
      else if (series.files.length === 0 || chance < 0.5) await publish(series, step);
      else await withdrawOrOffer(series);
      await look();
    }
    expect(tried).to.deep.equal({ next: true, nothing: true, nobody: true });

    async function lookAt(step: number) {
      for (const holder of holders) {
        const merged = holder.series.flatMap((each) => {
          const file = given(each, undefined, holder.site);
          return file ? [[each.key, file.number] as const] : [];
        });
        const bundle = await pullBundle(holder.node);
        const text = bundle[holder.isDirect ? 'parameters.yaml' : 'web/parameters.yaml'];
        const got = text === undefined ? {} : parse(text).parameters;
        expect(got, `step ${step}: ${holder.node.fqdn}`).to.deep.equal(Object.fromEntries(merged));
      }
    }
  });
});
