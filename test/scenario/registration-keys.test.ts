// everyday: SQLite; full: PostgreSQL
import { expect } from 'chai';
import { DAY, HOUR } from '../../src/lib/clock.ts';
import { startHawser } from '../support/hawser.ts';
import { expectInvalid, expectProblem } from '../support/replies.ts';
import { signerLine } from '../support/signed-tags.ts';
import { newSshKey } from '../support/ssh-keys.ts';
import { started } from '../support/started.ts';

const KEYS = '/api/v1/admin/registration-keys';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const MEMBERS = [
  ...['id', 'key', 'keyPrefix', 'description', 'expiresAt', 'createdAt', 'maxUses', 'currentUses'],
  ...['isRevoked', 'allowReregistration', 'profile', 'lastUsedAt', 'nodes', 'signers'],
];

describe('registration keys', () => {
  const hawser = started(startHawser);
  const create = (body: unknown = {}) => hawser.admin.post(KEYS, body);

  it('are shown once, and last seven days unless told otherwise', async () => {
    const reply = await create();
    expect(reply.status).to.equal(201);
    expect(reply.json).to.have.all.keys(MEMBERS);
    const { id, key, keyPrefix, createdAt, expiresAt } = reply.json;
    expect(key).to.have.length.of.at.least(43);
    expect(key.startsWith(keyPrefix)).to.equal(true);
    expect(keyPrefix.length).to.be.lessThan(20);
    expect(reply.headers['location']).to.equal(`${KEYS}/${id}`);
    expect(Date.parse(expiresAt) - Date.parse(createdAt)).to.equal(7 * DAY);
    expect(reply.json).to.include({ description: null, maxUses: null, currentUses: 0, isRevoked: false });
    expect(reply.json.allowReregistration).to.equal(false);
    const list = await hawser.admin.get(KEYS);
    expect(list.status).to.equal(200);
    expect(list.text).to.not.include(key);
    const listed = list.json.find((entry: { id: string }) => entry.id === id);
    expect(listed).to.deep.equal({ ...reply.json, key: null });
  });

  it('take a description, an end, a number of uses and leave to register anew', async () => {
    const expiresAt = new Date(hawser.clock.now() + HOUR).toISOString();
    const wish = { description: 'rack 7', expiresAt, maxUses: 3, allowReregistration: true };
    expect((await create(wish)).json).to.include(wish);
    const nothing = { description: null, expiresAt: null, maxUses: null, allowReregistration: null };
    const reply = await create(nothing);
    expect(reply.status, 'null is as good as absent').to.equal(201);
    expect(reply.json.allowReregistration).to.equal(false);
    expect(Date.parse(reply.json.expiresAt) - Date.parse(reply.json.createdAt)).to.equal(7 * DAY);
  });

  it('take those who may sign what their nodes run, and show them in lists', async () => {
    const signers = `# ours\n${signerLine(newSshKey())}`;
    const { id, signers: shown } = (await create({ signers })).json;
    expect(shown).to.equal(signers);
    const list: { id: string; signers: string | null }[] = (await hawser.admin.get(KEYS)).json;
    expect(list.find((entry) => entry.id === id)?.signers).to.equal(signers);
    expect((await create({ signers: '' })).json.signers).to.equal(null);
    expect((await create({ signers: null })).json.signers).to.equal(null);
    const faulty = await create({ signers: `${signers}bob@example.com ssh-dss AAAA\n` });
    expect(faulty.status).to.equal(400);
    expect(faulty.json.errors[0]).to.include({ path: '/signers', code: 'invalid_signers', line: 3 });
    const nobody = await create({ signers: '# nobody\n' });
    expect(nobody.json.errors[0]).to.include({ path: '/signers', code: 'invalid_signers' });
  });

  it('are refused with values out of bounds', async () => {
    const past = new Date(hawser.clock.now() - HOUR).toISOString();
    const faults: [Record<string, unknown>, string][] = [
      [{ expiresAt: past }, '/expiresAt'],
      [{ maxUses: 0 }, '/maxUses'],
      [{ maxUses: 1.5 }, '/maxUses'],
      [{ maxUses: 1e300 }, '/maxUses'],
      [{ allowReregistration: 'yes' }, '/allowReregistration'],
      [{ description: 'x'.repeat(4_001) }, '/description'],
      [{ key: 'my-own-key' }, '/key'],
      [{ isRevoked: true }, '/isRevoked'],
    ];
    for (const [body, path] of faults) {
      await expectInvalid(create(body), path, JSON.stringify(body));
    }
  });

  it('can be described anew, without being shown again', async () => {
    const { id, key } = (await create({ description: 'before', maxUses: 2 })).json;
    const reply = await hawser.admin.put(`${KEYS}/${id}`, { description: 'after' });
    expect(reply.status).to.equal(200);
    expect(reply.json).to.have.all.keys(MEMBERS);
    expect(reply.json).to.include({ id, key: null, description: 'after', maxUses: 2 });
    expect(reply.text).to.not.include(key);
    expect((await hawser.admin.put(`${KEYS}/${id}`, { description: null })).json.description).to.equal(null);
    const other = await hawser.admin.put(`${KEYS}/${id}`, { description: 'x', maxUses: 99 });
    expect(other.status, 'nothing else can be changed').to.equal(400);
  });

  it('stop when revoked, stay listed, and can be revoked again', async () => {
    const { id, key } = (await create()).json;
    expect((await hawser.admin.delete(`${KEYS}/${id}`)).status).to.equal(204);
    expect((await hawser.admin.delete(`${KEYS}/${id}`)).status, 'again').to.equal(204);
    const list = await hawser.admin.get(KEYS);
    expect(list.json.find((entry: { id: string }) => entry.id === id).isRevoked).to.equal(true);
    const node = await hawser.registerNode('one.example.org');
    await expectProblem(
      node.client.post('/api/v1/nodes/register', { registrationKey: key, fqdn: node.fqdn }),
      403,
      'registration_key_rejected',
    );
  });

  it('that do not exist answer 404', async () => {
    for (const id of [UNKNOWN, 'not-a-uuid', UNKNOWN.toUpperCase().replace('8', 'A'), '..', '%00', '1']) {
      const calls = [
        hawser.admin.put(`${KEYS}/${id}`, { description: 'x' }),
        hawser.admin.delete(`${KEYS}/${id}`),
      ];
      for (const reply of await Promise.all(calls)) {
        expect(reply.status, id).to.equal(404);
        expect(reply.json.code).to.equal('not_found');
      }
    }
  });

  it('are listed newest first with their uses', async () => {
    hawser.clock.advance(HOUR);
    await hawser.registerNode('two.example.org');
    const page = await hawser.admin.get(`${KEYS}?take=1`);
    expect(page.json).to.have.length(1);
    expect(page.json[0].currentUses).to.equal(1);
    expect(page.headers['link']).to.equal(`<${KEYS}?take=1&skip=1>; rel="next"`);
  });
});
