// everyday: SQLite; full: PostgreSQL
import { expect } from 'chai';
import { newId } from '../../src/lib/ids.ts';
import { auditedCall, auditedDuring, expectNothingAudited } from '../support/audit.ts';
import { startHawser } from '../support/hawser.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

const GROUPS = '/api/v1/groups';
const MAPPINGS = `${GROUPS}/external-mappings`;
const UNKNOWN = '3f0e0000-0000-4000-8000-000000000000';
const MEMBERS = [
  ...['id', 'provider', 'externalGroupId', 'externalGroupName', 'groupId', 'groupName', 'createdAt'],
];

describe('external mappings', () => {
  const hawser = started(startHawser);
  let groupId: string;
  const map = (externalGroupId: unknown, more: Record<string, unknown> = {}) =>
    hawser.admin.post(MAPPINGS, { provider: 'entra', externalGroupId, groupId, ...more });
  const mapped = async (externalGroupId: string) => ok(201, map(externalGroupId));
  const mappingOf = (id: string) => `${MAPPINGS}/${id}`;
  const listed = async (query = '') => ok(200, hawser.admin.get(`${MAPPINGS}${query}`));

  before(async () => {
    groupId = (await ok(201, hawser.admin.post(GROUPS, { name: 'Crew' }))).id;
  });

  it('are not hidden by the groups, which have their address beside them', async () => {
    for (const slash of ['', '/']) {
      const list = await hawser.admin.get(`${MAPPINGS}${slash}`);
      expect(await ok(200, list)).to.deep.equal([]);
      expect(list.headers['x-total-count']).to.equal('0');
      const wish = { provider: 'entra', externalGroupId: `first${slash}`, groupId };
      const { id } = await ok(201, hawser.admin.post(`${MAPPINGS}${slash}`, wish));
      await ok(204, hawser.admin.delete(`${mappingOf(id)}${slash}`));
    }
  });

  it('answer 405 to methods that only a group takes', async () => {
    for (const method of ['PUT', 'DELETE', 'PATCH']) {
      const reply = await hawser.admin.call(method, MAPPINGS, { json: { name: 'x' } });
      expect(reply.status, method).to.equal(405);
      expect(reply.headers['allow'], method).to.equal('GET, HEAD, OPTIONS, POST');
    }
    expect((await hawser.admin.get(mappingOf(UNKNOWN))).status).to.equal(405);
  });

  it('are created, listed and deleted', async () => {
    const { reply, entries } = await auditedCall(hawser, () =>
      map('  S-1-5-21 ', { externalGroupName: ' Night crew ', groupId: groupId.toUpperCase() }),
    );
    const [entry, ...others] = entries;
    const mapping = await ok(201, reply);
    expect(mapping).to.have.all.keys(MEMBERS);
    expect(mapping).to.include({
      provider: 'entra',
      externalGroupId: 'S-1-5-21',
      groupId,
      groupName: 'Crew',
    });
    expect(mapping.externalGroupName).to.equal('Night crew');
    expect(reply.headers['location']).to.equal(mappingOf(mapping.id));
    expect(await listed()).to.deep.equal([mapping]);
    expect(others).to.deep.equal([]);
    expect(entry).to.include({ action: 'external_mapping.created', resourceType: 'ExternalMapping' });
    expect(entry).to.include({ resourceId: mapping.id, actorName: 'admin' });
    expect(entry?.details).to.include({ provider: 'entra', externalGroupId: 'S-1-5-21', groupId });
    const [end, ...more] = await auditedDuring(hawser, async () => {
      await ok(204, hawser.admin.delete(mappingOf(mapping.id)));
      await expectProblem(hawser.admin.delete(mappingOf(mapping.id)), 404, 'not_found');
    });
    expect(more).to.deep.equal([]);
    expect(end).to.include({ action: 'external_mapping.deleted', resourceId: mapping.id });
    expect(end?.details).to.include({ provider: 'entra', externalGroupId: 'S-1-5-21', groupName: 'Crew' });
    expect(await listed()).to.deep.equal([]);
  });

  it('are listed by provider and external id, a page at a time', async () => {
    for (const [provider, externalGroupId] of ['ldap b', 'ldap a', 'entra c'].map((of) => of.split(' '))) {
      await ok(201, map(externalGroupId, { provider }));
    }
    const ids = (list: { externalGroupId: string }[]) => list.map((mapping) => mapping.externalGroupId);
    expect(ids(await listed())).to.deep.equal(['c', 'a', 'b']);
    const page = await hawser.admin.get(`${MAPPINGS}?take=1&skip=1`);
    expect(ids(page.json)).to.deep.equal(['a']);
    expect(page.headers['x-total-count']).to.equal('3');
    expect(page.headers['link']).to.equal(`<${MAPPINGS}?take=1&skip=2>; rel="next"`);
    for (const { id } of await listed()) await ok(204, hawser.admin.delete(mappingOf(id)));
  });

  it('let an external group of a provider stand for one group only', async () => {
    const other = await ok(201, hawser.admin.post(GROUPS, { name: 'Other' }));
    await mapped('once');
    await expectNothingAudited(hawser, async () => {
      await expectProblem(map('once'), 409, 'mapping_exists');
      await expectProblem(map(' once ', { groupId: other.id }), 409, 'mapping_exists');
    });
    await ok(201, map('once', { provider: 'ldap' }));
    await ok(201, map('ONCE'));
    const replies = await Promise.all([groupId, other.id, groupId].map((id) => map('race', { groupId: id })));
    expect(replies.map(({ status }) => status).sort()).to.deep.equal([201, 409, 409]);
  });

  it('of a group that does not exist answer 404, also where it has just been deleted', async () => {
    await expectProblem(map('lost', { groupId: UNKNOWN }), 404, 'not_found');
    const passing = await ok(201, hawser.admin.post(GROUPS, { name: 'Passing' }));
    const kept = await ok(201, map('kept', { groupId: passing.id }));
    const groupPath = `${GROUPS}/${passing.id}`;
    const [gone, late] = await Promise.all([
      hawser.admin.delete(groupPath),
      map('late', { groupId: passing.id }),
    ]);
    expect(gone.status).to.equal(204);
    expect(late.status).to.be.oneOf([201, 404]);
    const left: { groupId: string }[] = await listed();
    expect(left.filter((mapping) => mapping.groupId === passing.id)).to.deep.equal([]);
    await expectProblem(hawser.admin.delete(mappingOf(kept.id)), 404, 'not_found');
    await mapped('kept');
  });

  it('refuse what is no text, no id or no member', async () => {
    const texts: unknown[] = ['', '  ', 'x'.repeat(257), 'a\nb', 'a\u0000b', 'a\u202eb', '\ud800', 5, [], {}];
    for (const text of texts) {
      for (const member of ['provider', 'externalGroupId', 'externalGroupName']) {
        const reply = await map('faulty', { [member]: text });
        await expectProblem(reply, 400, 'validation_failed', `${member} ${JSON.stringify(text)}`);
        expect(reply.json.errors[0].path).to.equal(`/${member}`);
      }
    }
    const others: [string, unknown][] = [
      ['groupId', 'Crew'],
      ['groupId', null],
      ['provider', null],
      ['externalGroupId', null],
      ['groupName', 'Crew'],
      ['id', newId()],
    ];
    for (const [member, value] of others) {
      const reply = await map('faulty', { [member]: value });
      await expectProblem(reply, 400, 'validation_failed', member);
      expect(reply.json.errors[0].path).to.equal(`/${member}`);
    }
    for (const text of ["'; drop table groups; --", '😀'.repeat(256), 'cn=crew,dc=example']) {
      expect((await mapped(text)).externalGroupId).to.equal(text);
    }
    for (const id of [UNKNOWN, groupId, 'nothing', '%00', 'members']) {
      await expectProblem(hawser.admin.delete(mappingOf(id)), 404, 'not_found', id);
    }
  });

  it('show the name that the group has now', async () => {
    const { id } = await ok(201, hawser.admin.post(GROUPS, { name: 'Old name' }));
    await ok(201, map('named', { groupId: id, externalGroupName: null }));
    await ok(200, hawser.admin.put(`${GROUPS}/${id}`, { name: 'New name' }));
    const list: Record<string, unknown>[] = await listed();
    const mapping = list.find((entry) => entry['externalGroupId'] === 'named');
    expect(mapping).to.include({ groupName: 'New name', externalGroupName: null });
  });
});
