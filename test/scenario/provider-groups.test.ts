// full: SQLite, PostgreSQL
/** What somebody may do by the groups of the company. */

import { expect } from 'chai';
import { expectProblem, ok } from '../support/replies.ts';
import { signInBy } from '../support/sign-in-flow.ts';
import { PROVIDER, startSignInServer } from '../support/sign-in-server.ts';
import { started } from '../support/started.ts';

const ME = '/api/v1/auth/me';
const MAPPINGS = '/api/v1/groups/external-mappings';
const JSON_ONLY = { Accept: 'application/problem+json' };

describe('groups of a provider', () => {
  const server = started(() => startSignInServer({ groupsClaim: '/groups' }));
  let group: string;

  before(async () => {
    const { admin } = server.hawser;
    group = (await ok(201, admin.post('/api/v1/groups', { name: 'Readers', description: null }))).id;
    const roles = await ok(200, admin.get('/api/v1/roles?take=100'));
    const viewer = roles.find(({ name }: { name: string }) => name === 'Viewer') ?? expect.fail();
    await ok(200, admin.put(`/api/v1/groups/${group}/roles`, { roleIds: [viewer.id] }));
    const body = { provider: PROVIDER, externalGroupId: 'SG-Web', externalGroupName: null, groupId: group };
    await ok(201, admin.post(MAPPINGS, body));
  });
  afterEach(() => server.hawser.clock.advance(20_000));

  const person = (groups: unknown, name = 'ann') => ({ sub: `of-${name}`, preferred_username: name, groups });
  const refusal = async (who: Record<string, unknown>) => {
    server.provider.person = { sub: 'nobody', ...who };
    return (await signInBy(server.hawser, PROVIDER, { headers: JSON_ONLY })).reply;
  };
  const membersOf = async () => (await ok(200, server.hawser.admin.get(`/api/v1/groups/${group}`))).members;

  it('give what the mapped groups here have, until the next sign-in says otherwise', async () => {
    const ann = await server.signIn(person(['SG-Web', 'SG-Other', 'SG-Web']));
    const me = await ok(200, ann.get(ME));
    expect(me.groups).to.deep.equal(['Readers']);
    expect(me.roles).to.deep.equal(['Viewer']);
    expect(me.permissions).to.include('nodes.read');
    await ok(200, ann.get('/api/v1/nodes'));
    expect((await membersOf())[0]).to.include({ username: 'ann', source: PROVIDER });
    const later = await server.signIn(person(['sg-web']));
    expect((await ok(200, later.get(ME))).groups).to.deep.equal([]);
    await expectProblem(ann.get('/api/v1/nodes'), 403, 'forbidden');
  });

  it('stand beside memberships of its own, of which a member has one', async () => {
    const { admin } = server.hawser;
    const cid = await server.signIn(person(['SG-Web'], 'cid'));
    const { userId } = await ok(200, cid.get(ME));
    const members = await ok(200, admin.put(`/api/v1/groups/${group}/members`, { userIds: [userId] }));
    const own = members.filter(({ username }: { username: string }) => username === 'cid');
    expect(own).to.have.length(1);
    expect(own[0].source).to.equal('Local');
    expect((await server.signIn(person([], 'cid'))) && (await membersOf()).map(sourceOfMember)).to.include(
      'cid Local',
    );
    expect((await ok(200, cid.get(ME))).groups).to.deep.equal(['Readers']);
  });

  it('refuse where they are missing, malformed or too many', async () => {
    for (const groups of [undefined, null, 'SG-Web', [7], [''], { a: 1 }, ['a\0'], ['a\ud800']])
      await expectProblem(refusal(person(groups, 'dee')), 403, 'oidc_not_allowed', JSON.stringify(groups));
    const many = Array.from({ length: 1_001 }, (_, at) => `SG-${at}`);
    await expectProblem(refusal(person(many, 'dee')), 403, 'groups_overage');
    await server.signIn(person(many.slice(1), 'dee'));
    const elsewhere = { ...person(undefined, 'dee'), _claim_names: { groups: 'src1' } };
    await expectProblem(refusal(elsewhere), 403, 'groups_overage');
    expect((await membersOf()).map(sourceOfMember)).to.not.include(`dee ${PROVIDER}`);
  });

  it('decide who may sign in at all', async () => {
    await server.change({ allowedGroups: ['SG-Web'] });
    await expectProblem(refusal(person(['SG-Other'], 'eli')), 403, 'oidc_not_allowed');
    await server.signIn(person(['SG-Other', 'SG-Web'], 'eli'));
    await server.change({ createUsers: false });
    await expectProblem(refusal(person(['SG-Web'], 'fox')), 403, 'oidc_not_allowed');
    await server.signIn(person(['SG-Web'], 'eli'));
    await server.change({});
  });

  it('stay as they were where the file has a fault', async () => {
    const { hawser } = server;
    await server.change({ allowedGroups: [] });
    expect(hawser.log()).to.include('/0/allowedGroups');
    await server.signIn(person(['SG-Web'], 'hex'));
    await server.change({ idTokenAlg: 'none' });
    expect(hawser.log()).to.include('/0/idTokenAlg');
    expect(await ok(200, hawser.client().get('/api/v1/auth/providers'))).to.have.length(1);
  });
});

const sourceOfMember = ({ username, source }: { username: string; source: string }) =>
  `${username} ${source}`;
