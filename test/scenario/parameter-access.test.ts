// full: SQLite, PostgreSQL
import { expect } from 'chai';
import type { GrantLevel } from '../../src/domain/permissions.ts';
import { auditedDuring } from '../support/audit.ts';
import type { Client, Reply } from '../support/client.ts';
import { MAIN } from '../support/configurations.ts';
import { publishConfiguration, startHawser } from '../support/hawser.ts';
import { configurationId } from '../support/parameter-files.ts';
import { makeUser, type Person } from '../support/people.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { DEFAULT_ID } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const CONTENT = 'parameters: {port: 80}\n';
const WEB = '/api/v1/configurations/web';
const PERMISSIONS = `${WEB}/parameters/permissions`;
const LEVELS = ['Read', 'Modify', 'Manage'] as const;
type Outcome = 'in' | 'forbidden' | 'not_found';

describe('who may do what with parameters', () => {
  const hawser = started(startHawser);
  let set: string;
  let bob: Person;
  let serial = 0;

  before(async () => {
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
    set = `/api/v1/parameters/${DEFAULT_ID}/${await configurationId(hawser.admin, 'web')}`;
    bob = await makeUser(hawser, { username: 'bob', roles: ['Viewer'] });
    await ok(201, hawser.admin.put(set, { version: '1.0.0', content: CONTENT }));
    await ok(200, hawser.admin.put(`${set}/versions/1.0.0/publish`));
  });

  /** Gives the person this level on the thing that has its permissions there, or none. */
  const grant = async (person: Person, path: string, level: GrantLevel | null) => {
    const principal = { principalType: 'User', principalId: person.userId };
    if (level !== null) await ok(204, hawser.admin.put(path, { ...principal, level }));
    else await hawser.admin.delete(`${path}/User/${person.userId}`);
  };
  const onParameters = (level: GrantLevel | null, person = bob) => grant(person, PERMISSIONS, level);
  const onConfiguration = (level: GrantLevel | null, person = bob) =>
    grant(person, `${WEB}/permissions`, level);

  const draft = async () => {
    serial += 1;
    const version = `2.${serial}.0`;
    await ok(201, hawser.admin.put(set, { version, content: CONTENT }));
    return version;
  };

  /** One call of each row with the level that it asks for, each sure to succeed for who may. */
  const CALLS: [level: GrantLevel, call: (client: Client) => Promise<Reply>][] = [
    ['Read', (client) => client.get(`${set}/versions`)],
    ['Read', (client) => client.get(`${set}/majors`)],
    ['Read', (client) => client.get(`${set}/majors/1`)],
    ['Read', async (client) => client.get(`${set}/versions/${await draft()}`)],
    ['Read', (client) => client.get(`${WEB}/parameter-files`)],
    ['Modify', async (client) => client.put(set, { version: await draft(), content: 'parameters: {}\n' })],
    ['Modify', async (client) => client.put(`${set}/versions/${await draft()}/publish`)],
    [
      'Modify',
      async (client) =>
        client.upload(`${WEB}/parameters/parameter-files`, {
          fields: { scopeTypeName: 'Default', version: await draft() },
          part: { name: 'parametersFile', filename: 'p.yaml', content: CONTENT },
        }),
    ],
    ['Manage', async (client) => client.delete(`${set}/versions/${await draft()}`)],
    ['Manage', (client) => client.get(PERMISSIONS)],
    [
      'Manage',
      (client) =>
        client.put(PERMISSIONS, { principalType: 'User', principalId: bob.userId, level: 'Nothing' }),
    ],
  ];

  const outcomeOf = ({ status, text }: Reply): Outcome => {
    if (status === 403) return 'forbidden';
    if (status === 404) return 'not_found';
    expect(status, text).to.be.oneOf([200, 201, 204, 400]);
    return 'in';
  };

  /** Everything up to this level is let in, what is above is forbidden, and all is hidden without any. */
  const expectLevel = async (client: Client, held: GrantLevel | null, why: string) => {
    for (const [needed, call] of CALLS) {
      const isIn = held !== null && LEVELS.indexOf(held) >= LEVELS.indexOf(needed);
      const expected = held === null ? 'not_found' : isIn ? 'in' : 'forbidden';
      expect(outcomeOf(await call(client)), `${why}: ${needed} with ${held}, ${call}`).to.equal(expected);
    }
  };

  for (const level of LEVELS) {
    it(`a grant of ${level} on them opens what it says, by session and by a token for it`, async () => {
      await onConfiguration(null);
      await onParameters(level);
      await expectLevel(bob.client, level, 'session');
      await expectLevel(await bob.withToken('parameters.grants'), level, 'parameters.grants');
      await expectLevel(await bob.withToken('nodes.read', 'configurations.grants'), null, 'other scopes');
    });

    it(`without one of their own, ${level} on the configuration counts, as far as a token may use it`, async () => {
      await onParameters(null);
      await onConfiguration(level);
      await expectLevel(bob.client, level, 'session');
      await expectLevel(await bob.withToken('configurations.grants'), level, 'configurations.grants');
      await expectLevel(await bob.withToken('parameters.grants'), null, 'parameters.grants');
    });
  }

  it('a grant of their own counts in place of the one on the configuration, lower or higher', async () => {
    await onConfiguration('Manage');
    await onParameters('Read');
    await expectLevel(bob.client, 'Read', 'lower');
    await expectLevel(await bob.withToken('parameters.grants', 'configurations.grants'), 'Read', 'token');
    await onConfiguration('Read');
    await onParameters('Manage');
    await expectLevel(bob.client, 'Manage', 'higher');
    await onParameters(null);
    await onConfiguration(null);
    await expectLevel(bob.client, null, 'none');
  });

  it('a grant of their own that a token may not use bounds it, and lets nothing fall back above it', async () => {
    const narrow = await bob.withToken('configurations.grants');
    const wide = await bob.withToken('configurations.grants', 'parameters.grants');
    for (const configuration of LEVELS) {
      for (const parameters of LEVELS) {
        await onConfiguration(configuration);
        await onParameters(parameters);
        const lower = LEVELS[Math.min(LEVELS.indexOf(configuration), LEVELS.indexOf(parameters))] ?? null;
        await expectLevel(narrow, lower, `${configuration}, but on them`);
        await expectLevel(wide, parameters, `${configuration}, and on them`);
      }
    }
    await onConfiguration(null);
    await expectLevel(narrow, null, 'nothing on the configuration');
    await onParameters(null);
    const { id: groupId } = await ok(201, hawser.admin.post('/api/v1/groups', { name: 'Readers' }));
    await ok(200, hawser.admin.put(`/api/v1/groups/${groupId}/members`, { userIds: [bob.userId] }));
    await ok(
      204,
      hawser.admin.put(PERMISSIONS, { principalType: 'Group', principalId: groupId, level: 'Read' }),
    );
    await onConfiguration('Manage');
    await expectLevel(narrow, 'Read', 'bounded by a group');
    await ok(204, hawser.admin.delete(`/api/v1/groups/${groupId}`));
    await expectLevel(narrow, 'Manage', 'bounded no more');
    await onConfiguration(null);
  });

  it('nor does an override on configurations lift what a token may not use', async () => {
    const root = await makeUser(hawser, { username: 'bounded', roles: ['Administrator'] });
    await onParameters('Read', root);
    await onConfiguration('Modify', root);
    await expectLevel(root.client, 'Manage', 'session');
    await expectLevel(await root.withToken('configurations.admin-override'), 'Read', 'configurations');
    await expectLevel(await root.withToken('configurations.grants'), 'Read', 'grants');
    await expectLevel(await root.withToken('parameters.admin-override'), 'Manage', 'parameters');
    await onParameters(null, root);
    // The token may use the grant and not the override, whatever its owner has by the override.
    await expectLevel(await root.withToken('configurations.grants'), 'Modify', 'without one on them');
    await onConfiguration(null, root);
  });

  it('an override opens all of them, by a token only with the scope for it', async () => {
    const root = await makeUser(hawser, { username: 'root', roles: ['Administrator'] });
    await expectLevel(root.client, 'Manage', 'session');
    await expectLevel(await root.withToken('parameters.admin-override'), 'Manage', 'parameters');
    await expectLevel(await root.withToken('configurations.admin-override'), 'Manage', 'configurations');
    const others = ['parameters.grants', 'configurations.grants', 'scopes.admin-override'];
    await expectLevel(await root.withToken(...others), null, 'others');
  });

  it('they open nothing of the configuration itself', async () => {
    await onParameters('Manage');
    await expectProblem(bob.client.get(WEB), 404, 'not_found');
    await expectProblem(bob.client.get(`${WEB}/permissions`), 404, 'not_found');
    await onParameters(null);
  });

  it('of another configuration they are as hidden as those of none', async () => {
    await publishConfiguration(hawser.admin, 'secret', {
      '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' },
    });
    await onParameters('Manage');
    const secret = `/api/v1/parameters/${DEFAULT_ID}/${await configurationId(hawser.admin, 'secret')}`;
    const nobodys = `/api/v1/parameters/${DEFAULT_ID}/00000000-0000-4000-8000-000000000000`;
    const [theirs, none] = await Promise.all(
      [secret, nobodys].map((path) => expectProblem(bob.client.get(`${path}/versions`), 404, 'not_found')),
    );
    expect(theirs?.json).to.deep.equal(none?.json);
    await onParameters(null);
  });

  it('grants on them are listed, given and taken, each with an entry in the audit trail', async () => {
    expect(await ok(200, hawser.admin.get(PERMISSIONS))).to.deep.equal([]);
    const entries = await auditedDuring(hawser, async () => {
      await onParameters('Modify');
      const [listed, ...others] = await ok(200, hawser.admin.get(PERMISSIONS));
      expect(others).to.deep.equal([]);
      expect(listed).to.include({
        ...{ principalType: 'User', principalId: bob.userId, principalName: 'bob', level: 'Modify' },
      });
      expect(listed).to.have.all.keys(
        ...['principalType', 'principalId', 'principalName', 'level', 'grantedAt', 'grantedByUserId'],
        ...['scopeTypeId', 'scopeValueId', 'restricted', 'scopeTypeName', 'scopeValue'],
      );
      await onParameters(null);
    });
    expect(entries.map(({ action }) => action)).to.deep.equal([
      ...['parameters.granted', 'parameters.grant_revoked'],
    ]);
    await expectProblem(hawser.admin.delete(`${PERMISSIONS}/User/${bob.userId}`), 404, 'not_found');
    const stranger = { principalType: 'Group', principalId: bob.userId, level: 'Read' };
    await expectProblem(hawser.admin.put(PERMISSIONS, stranger), 404, 'not_found');
    await expectProblem(
      hawser.admin.get('/api/v1/configurations/none/parameters/permissions'),
      404,
      'not_found',
    );
  });
});
