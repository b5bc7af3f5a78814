// full: SQLite
import { expect } from 'chai';
import { encodeForm } from '../support/client.ts';
import { makeClientCertificate } from '../support/client-certificates.ts';
import { getOutput } from '../support/dsc-results.ts';
import { createKey, createToken, publishConfiguration, signIn, startHawser } from '../support/hawser.ts';
import { openRequest } from '../support/open-request.ts';
import { grant, makeUser, type Person } from '../support/people.ts';
import { ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

const MAIN = 'main.dsc.yaml';
const PASSWORD = 'a-password-of-a-test-user';
const BOUNDARY = 'a-boundary';
const HOUR = 3_600_000;

/** Each caller sends the head of a call, loses a right, and only then sends the body. */
describe('a body that comes after its sender has lost the right to what it asks for', () => {
  const hawser = started(startHawser);
  let people = 0;
  before(async () => {
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
  });

  const person = (...roles: string[]) => {
    people += 1;
    return makeUser(hawser, { username: `person-${people}`, roles });
  };
  const open = (headers: Record<string, string>, method: string, path: string) =>
    openRequest(hawser.target(), null, { method, path, headers });
  const deactivate = async ({ userId, username }: Person) => {
    const body = { username, email: `${username}@example.org`, isActive: false };
    await ok(200, hawser.admin.put(`/api/v1/users/${userId}`, body));
  };
  const newUser = (username: string) =>
    JSON.stringify({ username, email: `${username}@example.org`, password: PASSWORD });
  const usersNamed = async (username: string) =>
    (await hawser.admin.get('/api/v1/users?take=1000')).json.filter(
      (user: { username: string }) => user.username === username,
    ).length;

  it('is 401 of an administrator who was deactivated, and turns nobody on again', async () => {
    const caller = await person('Administrator');
    const path = `/api/v1/users/${caller.userId}`;
    const late = await open({ Cookie: caller.session }, 'PUT', path);
    await deactivate(caller);
    const { username } = caller;
    late.end(JSON.stringify({ username, email: `${username}@example.org`, isActive: true }));
    expect([await late.status, await late.code]).to.deep.equal([401, 'unauthenticated']);
    expect((await hawser.admin.get(path)).json.isActive).to.equal(false);
  });

  /** What happens between head and body, and how the call that makes a user is answered then. */
  const MEANWHILE: Record<
    string,
    { status: 201 | 401 | 403; byToken?: true; happens(caller: Person, tokenId: string): Promise<unknown> }
  > = {
    'of a token that was revoked': {
      ...{ status: 401, byToken: true },
      happens: ({ client }, tokenId) => ok(204, client.delete(`/api/v1/auth/tokens/${tokenId}`)),
    },
    'of a token that has ended meanwhile by itself': {
      ...{ status: 401, byToken: true },
      happens: async () => hawser.clock.advance(HOUR + 1),
    },
    'of a session that was signed out': {
      status: 401,
      happens: ({ client }) => ok(204, client.post('/api/v1/auth/logout')),
    },
    'of somebody whose role was taken away': {
      status: 403,
      happens: ({ userId }) => ok(200, hawser.admin.put(`/api/v1/users/${userId}/roles`, { roleIds: [] })),
    },
    'of somebody whose password was reset, which ends the session': {
      status: 401,
      happens: ({ userId }) =>
        ok(
          204,
          hawser.admin.post(`/api/v1/users/${userId}/reset-password`, { newPassword: `${PASSWORD}-2` }),
        ),
    },
    'of somebody who still may when others have changed': {
      status: 201,
      happens: async () => deactivate(await person('Viewer')),
    },
    'of a session that still stands, whoever else signs in': {
      status: 201,
      happens: async ({ username, session }) => {
        await signIn(hawser.client(), username, PASSWORD);
        await createToken(hawser.client(), session, ['users.manage']);
      },
    },
  };
  for (const [what, { status, byToken, happens }] of Object.entries(MEANWHILE)) {
    it(`is ${status} ${what}`, async () => {
      const caller = await person('Administrator');
      const username = `made-by-${caller.username}`;
      const expiresAt = new Date(hawser.clock.now() + HOUR).toISOString();
      const wish = { name: 'ci', scopes: ['users.manage'], expiresAt };
      const { token, tokenId } = await ok(201, caller.client.post('/api/v1/auth/tokens', wish));
      const credential = byToken ? { Authorization: `Bearer ${token}` } : { Cookie: caller.session };
      const late = await open(credential, 'POST', '/api/v1/users');
      await happens(caller, tokenId);
      late.end(newUser(username));
      expect(await late.status).to.equal(status);
      if (status !== 201) expect(await late.code).to.equal(status === 401 ? 'unauthenticated' : 'forbidden');
      expect(await usersNamed(username)).to.equal(status === 201 ? 1 : 0);
    });
  }

  it('is 404 without the grant, 403 with a lower one, and done with the one that is enough', async () => {
    const caller = await person('Author');
    const path = '/api/v1/configurations/web';
    const answers: unknown[] = [];
    for (const left of [null, 'Read', 'Modify'] as const) {
      await grant(hawser, caller, 'web', 'Manage');
      const late = await open({ Cookie: caller.session }, 'PATCH', path);
      await grant(hawser, caller, 'web', left);
      late.end(JSON.stringify({ description: `as ${left}` }));
      answers.push([await late.status, (await hawser.admin.get(path)).json.description]);
    }
    expect(answers).to.deep.equal([
      [404, null],
      [403, null],
      [200, 'as Modify'],
    ]);
  });

  it('is 404 of files without the grant, and leaves no draft', async () => {
    const caller = await person('Author');
    await grant(hawser, caller, 'web', 'Manage');
    const headers = { Cookie: caller.session, 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}` };
    const path = '/api/v1/configurations/web/versions';
    const late = await open(headers, 'POST', path);
    await grant(hawser, caller, 'web', null);
    late.end(
      encodeForm(
        { fields: { version: '9.0.0' }, files: { [MAIN]: '$schema: x\nresources: []\n' } },
        BOUNDARY,
      ),
    );
    expect(await late.status).to.equal(404);
    expect((await hawser.admin.get(`${path}/9.0.0`)).status).to.equal(404);
    expect(hawser.git('configurations/web.git', 'for-each-ref')).not.to.include('9.0.0');
  });

  it('is judged before If-Match is', async () => {
    const caller = await person('Author');
    await grant(hawser, caller, 'web', 'Manage');
    const headers = { Cookie: caller.session, 'If-Match': '"not-the-current-one"' };
    const late = await open(headers, 'PATCH', '/api/v1/configurations/web');
    await grant(hawser, caller, 'web', null);
    late.end(JSON.stringify({ description: 'whatever' }));
    expect(await late.status).to.equal(404);
  });

  it('is 401 of a node that was deleted', async () => {
    const { nodeId, identity } = await hawser.registerNode('deleted.example.org');
    const path = `/api/v1/nodes/${nodeId}/reports`;
    const late = await openRequest(hawser.target(), identity, { method: 'POST', path });
    await ok(204, hawser.admin.delete(`/api/v1/nodes/${nodeId}`));
    late.end(JSON.stringify({ operation: 'Get', result: getOutput() }));
    expect(await late.status).to.equal(401);
  });

  it('is 401 of a certificate that its node has replaced', async () => {
    const { nodeId, identity, fqdn } = await hawser.registerNode('replaced.example.org');
    const late = await openRequest(hawser.target(), identity, {
      method: 'POST',
      path: `/api/v1/nodes/${nodeId}/reports`,
    });
    const registrationKey = await createKey(hawser.admin, { allowReregistration: true });
    const next = hawser.client(await makeClientCertificate({ commonName: fqdn }));
    await ok(200, next.post('/api/v1/nodes/register', { registrationKey, fqdn }));
    late.end(JSON.stringify({ operation: 'Get', result: getOutput() }));
    expect(await late.status).to.equal(401);
  });

  it('counts from its own moment: a registration key that has ended by then is rejected', async () => {
    const expiresAt = new Date(hawser.clock.now() + HOUR).toISOString();
    const { key } = (await hawser.admin.post('/api/v1/admin/registration-keys', { expiresAt })).json;
    const call = { method: 'POST', path: '/api/v1/nodes/register' };
    const identity = await makeClientCertificate({ commonName: 'late.example.org' });
    const late = await openRequest(hawser.target(), identity, call);
    hawser.clock.advance(HOUR + 1);
    late.end(JSON.stringify({ registrationKey: key, fqdn: 'late.example.org' }));
    expect([await late.status, await late.code]).to.deep.equal([403, 'registration_key_rejected']);
  });
});
