// full: SQLite, PostgreSQL
import { expect } from 'chai';
import { TIMELINE_KINDS } from '../../src/domain/timeline.ts';
import { MINUTE } from '../../src/lib/clock.ts';
import { auditEntries } from '../support/audit.ts';
import type { Client } from '../support/client.ts';
import { publishWithChildren } from '../support/composites.ts';
import { MAIN, release } from '../support/configurations.ts';
import { testedService, testOutput } from '../support/dsc-results.ts';
import { eventually } from '../support/eventually.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, configurationPath, poll, saveParameters } from '../support/parameter-files.ts';
import { makeUser } from '../support/people.ts';
import { expectInvalid, expectProblem, ok } from '../support/replies.ts';
import { offeredTo, sendReport } from '../support/running.ts';
import { createScopeType, createScopeValue, SCOPE_TYPES, tagNode } from '../support/scopes.ts';
import { started } from '../support/started.ts';
import { withdraw } from '../support/withdrawals.ts';

const NODES = '/api/v1/nodes';
const DOCUMENT = '$schema: x\nresources: []\n';

interface Had {
  configurationName: string;
  version: string;
  checksum: string;
}

interface Entry {
  id: string;
  at: string;
  kind: string;
  actorName: string | null;
  summary: string;
  details: Record<string, unknown> & {
    before?: Had | null;
    after?: Had | null;
    cause?: { id: string; action: string } | null;
  };
  link: string | null;
}

describe('the timeline of a node', () => {
  const hawser = started(startHawser);
  let node: NodeUnderTest;
  let next = 0;

  beforeEach(async () => {
    next += 1;
    node = await hawser.registerNode(`web-${next}.example.org`);
  });

  const timeline = (query = '', client: Client = hawser.admin): Promise<Entry[]> =>
    ok(200, client.get(`${NODES}/${node.nodeId}/timeline?take=1000${query}`));
  const oldestFirst = async (kinds: string, client?: Client) =>
    (await timeline(`&kinds=${kinds}`, client)).reverse();
  /** Polls and reports, so that all that the poll tells is written. */
  const takes = async () => {
    const checksum = await offeredTo(node);
    await ok(201, sendReport(node, { configurationChecksum: checksum }));
    return checksum;
  };
  const versions = ({ details: { before, after, cause } }: Entry) => [
    before && `${before.configurationName} ${before.version}`,
    after && `${after.configurationName} ${after.version}`,
    cause?.action ?? null,
  ];

  it('says what the node is offered, before and after, and which deed of whom changed it', async () => {
    const name = `app-${next}`;
    await publishConfiguration(hawser.admin, name, { '1.0.0': { [MAIN]: DOCUMENT } });
    await assign(hawser, node, name);
    await takes();
    await release(hawser.admin, name, '1.1.0', { files: { [MAIN]: `${DOCUMENT}# 2\n` } });
    await takes();
    const type = await createScopeType(hawser, `Stage${next}`);
    await tagNode(hawser, node.nodeId, await createScopeValue(hawser, type, 'prod'));
    await createScopeValue(hawser, type, 'test');
    const file = { configuration: name, scopeType: `Stage${next}`, content: 'parameters: {a: 1}' };
    await saveParameters(hawser, { ...file, value: 'prod' });
    await saveParameters(hawser, { ...file, value: 'test' });
    await takes();
    await ok(200, withdraw(hawser.admin, name, '1.1.0'));
    await takes();
    await ok(200, withdraw(hawser.admin, name, '1.0.0'));
    await ok(404, poll(node));
    await ok(204, hawser.admin.delete(configurationPath(node)));
    await ok(404, poll(node));
    const offers = await eventually(async () => {
      const found = await oldestFirst('Offered');
      expect(found).to.have.length(5);
      return found;
    });
    expect(offers.map(versions)).to.deep.equal([
      [null, `${name} 1.0.0`, 'node.configuration_assigned'],
      [`${name} 1.0.0`, `${name} 1.1.0`, 'configuration.version_published'],
      [`${name} 1.1.0`, `${name} 1.1.0`, 'parameters.version_published'],
      [`${name} 1.1.0`, `${name} 1.0.0`, 'configuration.version_withdrawn'],
      [`${name} 1.0.0`, null, 'configuration.version_withdrawn'],
    ]);
    for (const [at, offer] of offers.entries()) {
      expect(offer.actorName).to.equal('admin');
      expect(offer.details.before ?? null).to.deep.equal(offers[at - 1]?.details.after ?? null);
    }
    const [saved] = await auditEntries(hawser, 'action=parameters.version_published&take=2&skip=1');
    expect(offers[2]?.details.cause?.id, 'that of its own scope').to.equal(saved?.id);
    expect(offers[1]?.summary).to.equal(`${node.fqdn} is offered ${name} 1.1.0 in place of ${name} 1.0.0`);
    const runs = await oldestFirst('Running');
    expect(runs.map(({ details }) => details.after?.version)).to.deep.equal([
      '1.0.0',
      '1.1.0',
      '1.1.0',
      '1.0.0',
    ]);
    expect(runs[1]?.link).to.equal(`/api/v1/manifests/${offers[1]?.details.after?.checksum}`);
  });

  it('finds the cause in a child of a composite, and in the order of scope types', async () => {
    const [child, whole] = [`child-${next}`, `whole-${next}`];
    await publishConfiguration(hawser.admin, child, { '1.0.0': { [MAIN]: DOCUMENT } });
    await publishWithChildren(hawser.admin, whole, '1.0.0', [child]);
    await assign(hawser, node, whole, { isComposite: true });
    const types: string[] = [];
    for (const letter of ['A', 'B']) {
      const scopeType = `${letter}${next}`;
      const id = await createScopeType(hawser, scopeType);
      types.push(id);
      await tagNode(hawser, node.nodeId, await createScopeValue(hawser, id, 'x'));
      await saveParameters(hawser, {
        ...{ configuration: child, scopeType, value: 'x', content: `parameters: {a: ${letter}}` },
      });
    }
    await takes();
    await release(hawser.admin, child, '1.1.0', { files: { [MAIN]: `${DOCUMENT}# 2\n` } });
    await takes();
    const all: { id: string; isSystem: boolean }[] = await ok(
      200,
      hawser.admin.get(`${SCOPE_TYPES}?take=1000`),
    );
    const [a, b] = types;
    const swapped = all.map(({ id }) => (id === a ? b : id === b ? a : id));
    await ok(200, hawser.admin.put(`${SCOPE_TYPES}/reorder`, { scopeTypeIds: swapped }));
    await takes();
    const offers = await oldestFirst('Offered');
    expect(offers.map(versions).slice(1)).to.deep.equal([
      [`${whole} 1.0.0`, `${whole} 1.0.0`, 'configuration.version_published'],
      [`${whole} 1.0.0`, `${whole} 1.0.0`, 'scope_type.reordered'],
    ]);
    const before = offers.length;
    await offeredTo(node);
    await takes();
    expect(await oldestFirst('Offered'), 'what stays is no entry').to.have.length(before);
  });

  it('tells of deeds on the node, of its status, and of reports whose outcome is another one', async () => {
    const report = async (inDesiredState: boolean, hadErrors = false) => {
      const result = testOutput([testedService(inDesiredState)], hadErrors);
      await ok(201, node.client.post(`${NODES}/${node.nodeId}/reports`, { operation: 'Test', result }));
    };
    for (const [state, hadErrors] of [[true], [true], [false], [false, true], [false, true], [true]] as const)
      await report(state, hadErrors);
    await ok(204, node.client.put(`${NODES}/${node.nodeId}/lcm-status`, { lcmStatus: 'Testing' }));
    await ok(200, hawser.admin.put(`${NODES}/${node.nodeId}/lcm-config`, { configurationMode: 'Remediate' }));
    const type = await createScopeType(hawser, `Ring${next}`);
    const value = await createScopeValue(hawser, type, 'first');
    await tagNode(hawser, node.nodeId, value);
    await ok(204, hawser.admin.delete(`${NODES}/${node.nodeId}/tags/${value}`));
    const entries = (await timeline()).reverse();
    expect(entries.map(({ kind, summary }) => [kind, summary])).to.deep.equal([
      ['Certificate', `${node.fqdn} was registered`],
      ['Report', `A Test on ${node.fqdn} says that it is in its desired state`],
      ['Status', `${node.fqdn} became Compliant`],
      ['Report', `A Test on ${node.fqdn} says that it is not in its desired state`],
      ['Status', `${node.fqdn} became NonCompliant`],
      ['Report', `A Test on ${node.fqdn} had errors`],
      ['Status', `${node.fqdn} became Error`],
      ['Report', `A Test on ${node.fqdn} says that it is in its desired state`],
      ['Status', `${node.fqdn} became Compliant`],
      ['LcmStatus', `The agent on ${node.fqdn} said that it is Testing`],
      ['Settings', `The settings of the agent on ${node.fqdn} were changed`],
      ['Tag', `${node.fqdn} was tagged with Ring${next} first`],
      ['Tag', `The tag Ring${next} first was taken from ${node.fqdn}`],
    ]);
    for (const { kind, actorName } of entries)
      expect(actorName).to.equal(['Settings', 'Tag'].includes(kind) ? 'admin' : null);
    const { link } = entries[1] as Entry;
    expect(await ok(200, hawser.admin.get(link ?? ''))).to.include({ nodeId: node.nodeId });
    expect(JSON.stringify(entries)).to.not.match(/tokenId|registrationKeyId/);
  });

  it('is read page by page, by kinds, and by the name of the node', async () => {
    for (const lcmStatus of ['Testing', 'Idle', 'Testing', 'Idle', 'Error']) {
      await ok(204, node.client.put(`${NODES}/${node.nodeId}/lcm-status`, { lcmStatus }));
      await ok(201, sendReport(node));
    }
    const whole = await timeline();
    const pages: Entry[] = [];
    for (let before = ''; ; ) {
      const path = `${NODES}/${node.fqdn}/timeline?take=2${before}`;
      const page: Entry[] = await ok(200, hawser.admin.get(path));
      pages.push(...page);
      if (page.length < 2) break;
      before = `&before=${page.at(-1)?.id}`;
    }
    expect(pages).to.deep.equal(whole);
    expect(await timeline('&kinds=report,Status')).to.deep.equal(
      whole.filter(({ kind }) => kind === 'Report' || kind === 'Status'),
    );
    for (const kind of TIMELINE_KINDS)
      for (const entry of await timeline(`&kinds=${kind}`)) expect(entry).to.include({ kind });
    const path = `${NODES}/${node.nodeId}/timeline`;
    for (const query of [
      'kinds=Nonsense',
      'kinds=',
      'take=0',
      'before=x1',
      'before=s999999',
      'before=',
      'skip=1',
    ])
      await expectInvalid(hawser.admin.get(`${path}?${query}`), undefined, query);
  });

  it('shows what the caller may read', async () => {
    const name = `hidden-${next}`;
    await publishConfiguration(hawser.admin, name, { '1.0.0': { [MAIN]: DOCUMENT } });
    await assign(hawser, node, name);
    await takes();
    hawser.clock.advance(2 * MINUTE);
    await release(hawser.admin, name, '1.1.0', { files: { [MAIN]: `${DOCUMENT}# 2\n` } });
    await takes();
    const reader = await makeUser(hawser, { username: `nodes-${next}`, permissions: ['nodes.read'] });
    const shown = await timeline('', reader);
    const all = await timeline();
    expect(shown.map(({ id }) => id)).to.deep.equal(
      all.filter(({ kind }) => kind !== 'Report').map(({ id }) => id),
    );
    const [offered] = shown.filter(({ kind }) => kind === 'Offered');
    expect(offered).to.include({ actorName: null });
    expect(offered?.details.cause).to.equal(null);
    expect(offered?.details.after?.version).to.equal('1.1.0');
    const owner = await makeUser(hawser, {
      ...{ username: `owner-${next}`, permissions: ['nodes.read'] as const },
      grants: [{ on: 'configuration', name, level: 'Read' }],
    });
    const [known] = (await timeline('', owner)).filter(({ kind }) => kind === 'Offered');
    expect(known).to.include({ actorName: 'admin' });
    const report = all.find(({ kind }) => kind === 'Report');
    await expectInvalid(reader.get(`${NODES}/${node.nodeId}/timeline?before=${report?.id}`), '/before');
    const other = await makeUser(hawser, { username: `other-${next}`, permissions: ['reports.read'] });
    await expectProblem(other.get(`${NODES}/${node.nodeId}/timeline`), 403, 'forbidden');
  });
});
