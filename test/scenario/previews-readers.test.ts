// everyday: SQLite
/** Who reads a preview that was kept: whoever may read, with this token and now, all that a group is made of. */

import { expect } from 'chai';
import type { Client } from '../support/client.ts';
import { publishWithChildren } from '../support/composites.ts';
import { create, MAIN, publish } from '../support/configurations.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, saveParameters } from '../support/parameter-files.ts';
import { grant, makeUser, type Person } from '../support/people.ts';
import { groupOf, groupsOf, PREVIEWS, preview, type Wish } from '../support/previews.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { createScopeType, createScopeValue } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const VALUE = 'a-value-that-not-everybody-reads';
const DECLARING = '$schema: x\nparameters:\n  greeting: {type: string}\nresources: []\n';

describe('a preview that was kept', () => {
  const hawser = started(startHawser);
  let onWeb: NodeUnderTest;
  let onFarm: NodeUnderTest;
  let onOther: NodeUnderTest;
  let prod: string;
  /** May read web and farm, and not what is in other. */
  let maker: Person;
  /** Manages users, and may read farm, but not its child. */
  let stranger: Person;

  before(async () => {
    const { admin } = hawser;
    await ok(201, create(admin, 'web', { version: '1.0.0' }, { files: { [MAIN]: DECLARING } }));
    await ok(200, publish(admin, 'web', '1.0.0'));
    await publishConfiguration(admin, 'other', { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
    await publishWithChildren(admin, 'farm', '1.0.0', ['web']);
    const contentOf = (value: string) => `parameters:\n  greeting: ${value}\n`;
    await saveParameters(hawser, { configuration: 'web', content: contentOf(VALUE) });
    prod = await createScopeValue(hawser, await createScopeType(hawser, 'Environment'), 'prod');
    const ofProd = { scopeType: 'Environment', value: 'prod', content: contentOf(`${VALUE}-in-prod`) };
    await saveParameters(hawser, { configuration: 'web', ...ofProd });
    [onWeb, onFarm, onOther] = [
      await hawser.registerNode('on-web.example.org'),
      await hawser.registerNode('on-farm.example.org'),
      await hawser.registerNode('on-other.example.org'),
    ];
    await assign(hawser, onWeb, 'web');
    await assign(hawser, onFarm, 'farm', { isComposite: true });
    await assign(hawser, onOther, 'other');
    const farm = { on: 'composite', name: 'farm', level: 'Read' } as const;
    const grants = [farm, { on: 'configuration', name: 'web', level: 'Read' } as const];
    maker = await makeUser(hawser, { username: 'maker', permissions: ['nodes.read'], grants });
    const permissions = ['nodes.read', 'users.manage'] as const;
    stranger = await makeUser(hawser, {
      username: 'stranger',
      permissions: [...permissions],
      grants: [farm],
    });
  });

  /** They name nothing of which the caller would need to be asked. */
  const changes = (): Record<string, Wish> => ({
    Unassign: { kind: 'Unassign', nodeIds: [onWeb.nodeId, onFarm.nodeId] },
    Tag: { kind: 'Tag', nodeIds: [onWeb.nodeId, onFarm.nodeId], scopeValueId: prod },
  });

  /** Nothing of web is shown: no content, no name of a node. */
  const expectHidden = async (reader: Client, made: { id: string }, groups: readonly { id: string }[]) => {
    expect(await groupsOf(reader, made)).to.deep.equal([]);
    const list = `${PREVIEWS}/${made.id}/nodes`;
    for (const Accept of ['application/json', 'text/csv'])
      expect((await reader.get(list, { Accept })).text).to.not.match(/on-(web|farm)/);
    for (const { id } of groups) {
      const group = `${PREVIEWS}/${made.id}/groups/${id}`;
      await expectProblem(reader.get(group), 404, 'not_found');
      await expectProblem(reader.get(`${group}/files/${MAIN}`), 404, 'not_found');
    }
    const { counts, groupCount } = await ok(200, reader.get(`${PREVIEWS}/${made.id}`));
    expect(counts).to.include({ changed: 0, unresolvable: 0 });
    expect(counts.notVisible).to.be.at.least(2);
    expect(groupCount).to.equal(0);
  };

  for (const kind of ['Unassign', 'Tag']) {
    it(`shows to others, to weaker tokens and later what they may read of it: ${kind}`, async () => {
      const made = await preview(maker, [changes()[kind] as Wish]);
      const groups = await groupsOf(maker, made);
      expect(groups).to.have.length(2);
      expect(made.counts).to.include({ notVisible: 1, unchanged: 0 });
      const strong = await maker.withToken(
        ...['nodes.read', 'configurations.grants', 'composite-configurations.grants', 'parameters.grants'],
      );
      expect(await groupsOf(strong, made)).to.deep.equal(groups);
      const weak = await maker.withToken('nodes.read');
      await expectHidden(weak, made, groups);
      await expectHidden(
        await maker.withToken('nodes.read', 'composite-configurations.grants'),
        made,
        groups,
      );
      await expectHidden(stranger, made, groups);
      const ofAll = await groupsOf(hawser.admin, made);
      expect(ofAll).to.deep.equal(groups);
      await grant(hawser, maker, 'web', null);
      await expectHidden(maker, made, groups);
      await grant(hawser, maker, 'web', 'Read');
      expect(await groupsOf(maker, made)).to.deep.equal(groups);
    });
  }

  it('shows to each reader the part that they may read', async () => {
    const wish = { kind: 'Unassign', nodeIds: [onWeb.nodeId, onOther.nodeId] };
    const made = await preview(hawser.admin, [wish]);
    expect(made.counts).to.include({ nodes: 3, unresolvable: 2, unchanged: 1, notVisible: 0 });
    const grants = [{ on: 'configuration', name: 'other', level: 'Read' } as const];
    const permissions = ['nodes.read', 'users.manage'] as const;
    const half = await makeUser(hawser, { username: 'half', permissions: [...permissions], grants });
    const [group, ...more] = await groupsOf(half, made);
    expect(more).to.deep.equal([]);
    expect(group.before.configurationName).to.equal('other');
    await groupOf(half, made, group.id);
    const { counts, groupCount } = await ok(200, half.get(`${PREVIEWS}/${made.id}`));
    expect(counts).to.deep.equal({ nodes: 1, changed: 0, unchanged: 0, unresolvable: 1, notVisible: 2 });
    expect(groupCount).to.equal(1);
    const nodes = await half.get(`${PREVIEWS}/${made.id}/nodes`);
    expect(nodes.json.map(({ fqdn }: { fqdn: string }) => fqdn)).to.deep.equal(['on-other.example.org']);
    expect(nodes.headers['x-total-count']).to.equal('1');
  });
});
