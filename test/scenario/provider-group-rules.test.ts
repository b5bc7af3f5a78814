// full: SQLite
/** Whose groups count, and for what, where two providers name some, rule by rule. */

import { expect } from 'chai';
import { ADMINISTRATOR_ROLE_ID } from '../../src/domain/permissions.ts';
import { create } from '../support/configurations.ts';
import { postForm } from '../support/forms.ts';
import { makeUser } from '../support/people.ts';
import { expectProblem, ok } from '../support/replies.ts';
import {
  answerOfProvider,
  beginSignIn,
  type Cookies,
  clientWith,
  finishSignIn,
  keepCookies,
  providerIn,
  signInBy,
} from '../support/sign-in-flow.ts';
import { PROVIDER, startSignInServer } from '../support/sign-in-server.ts';
import { started } from '../support/started.ts';
import { NAMES, type Name, startWithTwoProviders } from '../support/two-providers.ts';

const ME = '/api/v1/auth/me';
const GROUPS = '/api/v1/groups';
const MAPPINGS = `${GROUPS}/external-mappings`;
const PASSWORD = 'a-password-of-a-test-user';
/** Problems where something is wrong, and else a page. */
const EITHER = { Accept: 'application/problem+json, text/html;q=0.5' };

interface Member {
  username: string;
  source: string;
}

describe('two providers', () => {
  const server = started(startWithTwoProviders);
  /** Each is mapped to the group `SG-Web` of one provider. */
  const groups: Record<Name, string> = { corp: '', partner: '' };

  before(async () => {
    for (const name of NAMES) {
      groups[name] = await makeGroup(`Web of ${name}`);
      await map(name, 'SG-Web', groups[name]);
    }
  });
  afterEach(() => server.hawser.clock.advance(60_000));

  const makeGroup = async (name: string) =>
    (await ok(201, server.hawser.admin.post(GROUPS, { name, description: null }))).id as string;
  const map = async (provider: string, externalGroupId: string, groupId: string) => {
    const body = { provider, externalGroupId, externalGroupName: null, groupId };
    return (await ok(201, server.hawser.admin.post(MAPPINGS, body))).id as string;
  };
  const person = (name: string, held: unknown = []) => ({
    ...{ sub: `of-${name}`, preferred_username: name, groups: held },
  });
  const membersOf = async (id: string) => {
    const { members } = await ok(200, server.hawser.admin.get(`${GROUPS}/${id}`));
    return members.map(({ username, source }: Member) => `${username} ${source}`);
  };
  const groupsOf = async (client: ReturnType<typeof clientWith>) => (await ok(200, client.get(ME))).groups;
  /** Gives somebody with a password an identity, and signs in by it. */
  const link = async (name: Name, userName: string, cookies: Cookies, held: string[]) => {
    const { hawser, providers } = server;
    const session = `hawser_session=${cookies.get('hawser_session')}`;
    const client = hawser.client().with({ Cookie: session });
    const asked = await client.post(`/login/oidc/${name}/link`, { currentPassword: PASSWORD });
    keepCookies(cookies, asked);
    providers[name].person = person(userName, held);
    const callback = await answerOfProvider(providerIn(asked));
    const reply = await finishSignIn(hawser, callback, { cookies });
    expect(reply.status, reply.text).to.equal(200);
    keepCookies(cookies, reply);
    return clientWith(hawser, cookies);
  };

  it('have a link each on the sign-in page, in the order of the file', async () => {
    const { text } = await server.hawser.client().get('/login', { Accept: 'text/html' });
    const links = [...text.matchAll(/href="\/login\/oidc\/([^"]*)">([^<]*)</g)].map(([, ...parts]) => parts);
    expect(links).to.deep.equal([
      ['corp', 'Sign in with People of corp'],
      ['partner', 'Sign in with People of partner'],
    ]);
  });

  it('may give the same subject to two people, who are two here', async () => {
    const { hawser, providers } = server;
    const ann = await server.signIn('corp', { ...person('ann'), email: 'ann@example.org' });
    providers.partner.person = { ...person('ann'), email: 'ann@example.org' };
    const same = (await signInBy(hawser, 'partner', { headers: EITHER })).reply;
    await expectProblem(same, 409, 'account_name_taken');
    const other = await server.signIn('partner', { ...person('ann'), preferred_username: 'another' });
    const [one, two] = [await ok(200, ann.get(ME)), await ok(200, other.get(ME))];
    expect([one.username, two.username]).to.deep.equal(['ann', 'another']);
    expect([one.authProvider, two.authProvider]).to.deep.equal(['corp', 'partner']);
    // The clock of the server is before that of the providers.
    const iat = Math.floor(hawser.clock.now() / 1_000) + 1;
    const logoutToken = await providers.partner.logoutToken({ sub: 'of-ann', iat });
    const send = (name: Name) =>
      postForm(hawser.client(), `/login/oidc/${name}/backchannel-logout`, { logout_token: logoutToken });
    await expectProblem(send('corp'), 400, 'oidc_flow_invalid');
    await ok(200, send('partner'));
    expect([(await ann.get(ME)).status, (await other.get(ME)).status]).to.deep.equal([200, 401]);
  });

  it('end only what was begun at the same one', async () => {
    const { hawser, providers } = server;
    providers.corp.person = person('bea');
    const { authorizeUrl, cookies } = await beginSignIn(hawser, 'corp');
    const callback = await answerOfProvider(authorizeUrl);
    const elsewhere = new URL(callback.href.replace('/corp/', '/partner/'));
    const mixed = finishSignIn(hawser, elsewhere, { cookies, headers: EITHER });
    await expectProblem(mixed, 400, 'oidc_flow_invalid');
    expect((await finishSignIn(hawser, callback, { cookies })).status).to.equal(200);
  });

  it('give what is mapped of their own groups, and nothing of the other’s', async () => {
    const cid = await server.signIn('corp', person('cid', ['SG-Web']));
    expect(await groupsOf(cid)).to.deep.equal(['Web of corp']);
    const dan = await server.signIn('partner', person('dan', ['SG-Web']));
    expect(await groupsOf(dan)).to.deep.equal(['Web of partner']);
    expect(await membersOf(groups.corp)).to.deep.equal(['cid corp']);
  });

  it('each replace the groups of their own identity alone', async () => {
    const { hawser } = server;
    const eli = await makeUser(hawser, { username: 'eli' });
    const cookies: Cookies = new Map([eli.session.split('=') as [string, string]]);
    await link('corp', 'eli', cookies, ['SG-Web']);
    // Only a session by password, or one by a provider of who has a password, can link another identity.
    const client = await link('partner', 'eli', cookies, ['SG-Web']);
    expect(await groupsOf(client)).to.deep.equal(['Web of corp', 'Web of partner']);
    await server.signIn('partner', person('eli', []));
    expect(await groupsOf(client)).to.deep.equal(['Web of corp']);
    await server.signIn('partner', person('eli', ['SG-Web']));
    await server.signIn('corp', person('eli', []));
    expect(await groupsOf(client)).to.deep.equal(['Web of partner']);
    const shared = await makeGroup('Shared');
    await map('corp', 'SG-Shared', shared);
    await map('partner', 'SG-Shared', shared);
    for (const name of NAMES) await server.signIn(name, person('eli', ['SG-Shared']));
    expect(await groupsOf(client)).to.deep.equal(['Shared']);
    expect(await membersOf(shared)).to.have.length(1);
    await ok(200, hawser.admin.put(`${GROUPS}/${shared}/members`, { userIds: [eli.userId] }));
    expect(await membersOf(shared)).to.deep.equal(['eli Local']);
    const details = await ok(200, hawser.admin.get(`/api/v1/users/${eli.userId}`));
    expect(details.groups.map(({ name }: { name: string }) => name)).to.deep.equal(['Shared']);
    const identities = await ok(200, hawser.admin.get(`/api/v1/users/${eli.userId}/identities`));
    const ofCorp = identities.find(({ provider }: { provider: string }) => provider === 'corp');
    await ok(204, hawser.admin.delete(`/api/v1/users/${eli.userId}/identities/${ofCorp.id}`));
    expect((await client.get(ME)).status, 'the session by the other one').to.equal(200);
  });

  it('name groups that are taken as they are written', async () => {
    const exact = await makeGroup('Exact');
    await map('corp', 'SG-Exact', exact);
    for (const [at, name] of ['sg-exact', ' SG-Exact', 'SG-Exact ', 'SG'].entries()) {
      const client = await server.signIn('corp', person(`near-${at}`, [name]));
      expect(await groupsOf(client), JSON.stringify(name)).to.deep.equal([]);
    }
    expect(await groupsOf(await server.signIn('corp', person('there', ['SG-Exact'])))).to.deep.equal([
      'Exact',
    ]);
  });

  it('give the grants of a mapped group too, to sessions and tokens, as long as the mapping stands', async () => {
    const { admin } = server.hawser;
    const authors = await makeGroup('Authors');
    const mapping = await map('corp', 'SG-Authors', authors);
    await ok(201, create(admin, 'web'));
    const grant = { principalType: 'Group', principalId: authors, level: 'Read' };
    await ok(204, admin.put('/api/v1/configurations/web/permissions', grant));
    const fay = await server.signIn('corp', person('fay', ['SG-Authors']));
    const wish = { name: 'a', scopes: ['configurations.grants'], expiresAt: null };
    const { token } = await ok(201, fay.post('/api/v1/auth/tokens', wish));
    const clients = [fay, server.hawser.client().with({ Authorization: `Bearer ${token}` })];
    const statuses = () =>
      Promise.all(clients.map(async (client) => (await client.get('/api/v1/configurations/web')).status));
    expect(await statuses()).to.deep.equal([200, 200]);
    await ok(204, admin.delete(`${MAPPINGS}/${mapping}`));
    expect(await statuses()).to.deep.equal([404, 404]);
    await map('corp', 'SG-Authors', authors);
    expect(await statuses()).to.deep.equal([200, 200]);
    await server.signIn('corp', person('fay', []));
    expect(await statuses()).to.deep.equal([404, 404]);
  });

  it('can make administrators, of whom none is the last without a password here', async () => {
    const { admin } = server.hawser;
    const chiefs = await makeGroup('Chiefs');
    await ok(200, admin.put(`${GROUPS}/${chiefs}/roles`, { roleIds: [ADMINISTRATOR_ROLE_ID] }));
    await map('corp', 'SG-Chiefs', chiefs);
    const gus = await server.signIn('corp', person('gus', ['SG-Chiefs']));
    const { userId } = await ok(200, gus.get(ME));
    const users = await ok(200, gus.get('/api/v1/users?take=1000'));
    const first = users.find(({ username }: { username: string }) => username === 'admin');
    const body = { username: 'admin', email: first.email, isActive: false };
    const deactivate = () => gus.put(`/api/v1/users/${first.id}`, body);
    await expectProblem(deactivate(), 409, 'last_administrator', 'by a mapping');
    await ok(200, admin.put(`${GROUPS}/${chiefs}/members`, { userIds: [userId] }));
    await expectProblem(deactivate(), 409, 'last_administrator', 'by a membership');
    await ok(200, admin.put(`/api/v1/users/${userId}/roles`, { roleIds: [ADMINISTRATOR_ROLE_ID] }));
    await expectProblem(deactivate(), 409, 'last_administrator', 'by a role');
  });
});

describe('the groups that may sign in', () => {
  it('are compared as they are written, and none is known where the provider leaves them out', async () => {
    const server = await startSignInServer({
      groupsClaim: '/realm/groups',
      allowedGroups: ['SG-Web', 'ops'],
    });
    try {
      const attempt = async (realm: unknown, more: Record<string, unknown> = {}) => {
        server.provider.person = { sub: 'of-ann', preferred_username: 'ann', realm, ...more };
        return (await signInBy(server.hawser, PROVIDER, { headers: EITHER })).reply;
      };
      for (const group of ['sg-web', ' SG-Web', 'SG-Web ', 'SG', '*', 'Ops'])
        await expectProblem(attempt({ groups: [group] }), 403, 'oidc_not_allowed', group);
      await expectProblem(attempt({ groups: [] }), 403, 'oidc_not_allowed');
      await expectProblem(attempt({}), 403, 'oidc_not_allowed');
      await expectProblem(attempt(undefined, { groups: ['SG-Web'] }), 403, 'oidc_not_allowed', 'elsewhere');
      await expectProblem(attempt({}, { hasgroups: true }), 403, 'groups_overage');
      const sources = { _claim_names: { realm: 'src1' } };
      await expectProblem(attempt(undefined, sources), 403, 'groups_overage');
      expect((await attempt({ groups: ['other', 'ops'] })).status).to.equal(200);
    } finally {
      await server.close();
    }
  });
});
