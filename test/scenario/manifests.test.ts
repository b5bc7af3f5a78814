// full: SQLite, PostgreSQL
import { expect } from 'chai';
import { publishWithChildren } from '../support/composites.ts';
import { MAIN } from '../support/configurations.ts';
import { eventually } from '../support/eventually.ts';
import { publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, saveParameters } from '../support/parameter-files.ts';
import { type Grant, makeUser, type Person } from '../support/people.ts';
import { manifestPath, pulled, told } from '../support/proof.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

/** What a checksum stands for: who may read it. How long it is kept, evidence-manifests.test.ts has. */
describe('manifests', () => {
  const hawser = started(startHawser);
  let single: string;
  let composite: string;

  before(async () => {
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
    await publishConfiguration(hawser.admin, 'base', { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
    await saveParameters(hawser, { configuration: 'web', content: 'parameters: {port: 80}' });
    await publishWithChildren(hawser.admin, 'site', '1.0.0', ['web', 'base']);
    const node = await hawser.registerNode('web-01.example.org');
    const other = await hawser.registerNode('web-02.example.org');
    await assign(hawser, node, 'web');
    await assign(hawser, other, 'site', { isComposite: true });
    single = await told(node);
    composite = await told(other);
    await eventually(() => ok(200, hawser.admin.get(manifestPath(single))));
    await eventually(() => ok(200, hawser.admin.get(manifestPath(composite))));
  });

  const grantsOf = (...grants: [Grant['on'], string][]): Grant[] =>
    grants.map(([on, name]) => ({ on, name, level: 'Read' }));
  let people = 0;
  const reader = (...grants: [Grant['on'], string][]): Promise<Person> => {
    people += 1;
    return makeUser(hawser, {
      username: `reader-${people}`,
      permissions: ['nodes.read'],
      grants: grantsOf(...grants),
    });
  };
  /** The statuses of the manifests of the configuration and of the composite. */
  const statuses = async ({ client }: Pick<Person, 'client'>): Promise<string> => {
    const found = [];
    for (const checksum of [single, composite]) {
      const reply = await client.get(manifestPath(checksum));
      if (reply.status !== 200) await expectProblem(reply, 404, 'not_found');
      found.push(reply.status);
    }
    return found.join(' ');
  };

  it('are for those who read all that they are made of', async () => {
    expect(await statuses(await reader())).to.equal('404 404');
    expect(await statuses(await reader(['parameters', 'web']))).to.equal('404 404');
    expect(await statuses(await reader(['configuration', 'web']))).to.equal('200 404');
    expect(await statuses(await reader(['composite', 'site']))).to.equal('404 404');
    expect(await statuses(await reader(['composite', 'site'], ['configuration', 'web']))).to.equal('200 404');
    expect(await statuses(await reader(['configuration', 'base'], ['configuration', 'web']))).to.equal(
      '200 404',
    );
    const all = await reader(['composite', 'site'], ['configuration', 'web'], ['configuration', 'base']);
    expect(await statuses(all)).to.equal('200 200');
    const token = (...scopes: string[]) => all.withToken(...scopes);
    expect(await statuses({ client: await token('nodes.read') })).to.equal('404 404');
    expect(await statuses({ client: await token('configurations.grants') })).to.equal('200 404');
  });

  it('are found in any case, and nothing else names one', async () => {
    expect((await ok(200, hawser.admin.get(manifestPath(single.toUpperCase())))).checksum).to.equal(single);
    for (const text of ['a'.repeat(64), single.slice(1), `${single}0`, 'web', '%00'])
      await expectProblem(hawser.admin.get(manifestPath(text)), 404, 'not_found');
  });

  it('of what was deleted since are for those who may read every configuration', async () => {
    await publishConfiguration(hawser.admin, 'gone', { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
    const last = await hawser.registerNode('web-03.example.org');
    await assign(hawser, last, 'gone');
    const { checksum, digest } = await pulled(last);
    await eventually(() => ok(200, hawser.admin.get(manifestPath(checksum))));
    const author = await reader(['configuration', 'gone']);
    await ok(200, author.get(manifestPath(checksum)));
    await ok(204, hawser.admin.delete(`/api/v1/nodes/${last.nodeId}/configuration`));
    await ok(204, hawser.admin.delete('/api/v1/configurations/gone'));
    await expectProblem(author.get(manifestPath(checksum)), 404, 'not_found');
    const kept = await eventually(async () => {
      const manifest = await ok(200, hawser.admin.get(manifestPath(checksum)));
      expect(manifest.bundleDigest).to.equal(digest);
      return manifest;
    });
    expect(kept).to.include({ configurationName: 'gone', version: '1.0.0' });
  });
});
