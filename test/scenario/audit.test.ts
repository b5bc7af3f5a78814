// full: SQLite, PostgreSQL
import { expect } from 'chai';
import { DAY, HOUR, MINUTE } from '../../src/lib/clock.ts';
import { auditEntries, type Entry } from '../support/audit.ts';
import { addEntries } from '../support/audit-table.ts';
import { withDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { createKey, type Hawser, startHawser } from '../support/hawser.ts';
import { expectProblem } from '../support/replies.ts';
import { started } from '../support/started.ts';

const AUDIT = '/api/v1/audit';
const KEYS = '/api/v1/admin/registration-keys';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

const actionsOf = (entries: Entry[]) => entries.map(({ action }) => action);

describe('the audit trail', () => {
  const hawser = started(startHawser);
  let adminId: string;
  let keyId: string;
  /** Between the first key and its end, and after all. */
  let [middle, end] = ['', ''];

  before(async () => {
    adminId = (await hawser.admin.get('/api/v1/auth/me')).json.userId;
    keyId = (await hawser.admin.post(KEYS, { description: 'rack 7' })).json.id;
    hawser.clock.advance(MINUTE);
    middle = new Date(hawser.clock.now()).toISOString();
    hawser.clock.advance(MINUTE);
    await hawser.admin.put(`${KEYS}/${keyId}`, { description: 'rack 8' });
    await hawser.admin.delete(`${KEYS}/${keyId}`);
    await hawser.client().post('/api/v1/auth/login', { username: 'admin', password: 'a-wrong-password' });
    hawser.clock.advance(MINUTE);
    end = new Date(hawser.clock.now()).toISOString();
  });

  it('lists entries with every member, newest first', async () => {
    const entries = await auditEntries(hawser);
    for (const entry of entries) {
      expect(entry).to.have.all.keys(
        ...['id', 'timestamp', 'actorType', 'actorId', 'actorName', 'action', 'resourceType', 'resourceId'],
        ...['resourceName', 'summary', 'details', 'ipAddress', 'requestId'],
      );
      expect(entry.timestamp).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    }
    expect(actionsOf(entries)).to.deep.equal([
      'session.refused',
      'registration_key.revoked',
      'registration_key.updated',
      'registration_key.created',
      'token.created',
      'session.created',
    ]);
    expect(new Set(entries.map(({ id }) => id)).size).to.equal(entries.length);
  });

  it('puts those of one millisecond in the order of writing', async () => {
    const at = hawser.clock.now() - HOUR;
    const places = [1, 2, 3].map((place) => UNKNOWN.replace(/0$/, String(place)));
    await addEntries(
      hawser,
      places.map((id) => ({ id, timestamp: at, action: 'of.one.moment' })),
    );
    const entries = await auditEntries(hawser, 'action=of.one.moment');
    expect(entries.map(({ id }) => id.at(-1))).to.deep.equal(['3', '2', '1']);
  });

  it('is read a page at a time', async () => {
    const whole = await auditEntries(hawser);
    const reply = await hawser.admin.get(`${AUDIT}?take=2&skip=1`);
    expect(reply.json).to.deep.equal(whole.slice(1, 3));
    expect(reply.headers['x-total-count']).to.equal(String(whole.length));
    expect(reply.headers['link']).to.equal(`<${AUDIT}?take=2&skip=3>; rel="next"`);
    const filtered = await hawser.admin.get(`${AUDIT}/?action=session.created&take=1`);
    expect(filtered.headers['x-total-count']).to.equal('1');
    expect(filtered.headers).to.not.have.property('link');
  });

  it('is filtered by action and type in any case, by id of the resource and of who acted', async () => {
    const actions = async (query: string) => actionsOf(await auditEntries(hawser, query));
    expect(await actions('action=TOKEN.Created')).to.deep.equal(['token.created']);
    const ofKey = ['registration_key.revoked', 'registration_key.updated', 'registration_key.created'];
    expect(await actions('resourceType=registrationkey')).to.deep.equal(ofKey);
    expect(await actions(`resourceId=${keyId}`)).to.deep.equal(ofKey);
    expect(await actions(`userId=${adminId.toUpperCase()}`)).to.include.members([
      'session.created',
      ...ofKey,
    ]);
    expect(await actions(`userId=${adminId}`)).to.not.include('session.refused');
    expect(await actions(`userId=${adminId}&resourceType=Token`)).to.deep.equal(['token.created']);
    expect(await actions(`resourceId=${keyId}&action=registration_key.updated&take=1`)).to.have.length(1);
  });

  it('answers an empty list for what names nothing', async () => {
    const injection = encodeURIComponent("x' or '1'='1");
    const nothing = [`action=no.such`, `action=${injection}`, 'action=', 'resourceType=Cat', 'resourceType='];
    nothing.push(`userId=${UNKNOWN}`, `resourceId=${UNKNOWN}`, 'resourceType=Node&action=token.created');
    for (const query of nothing) {
      const reply = await hawser.admin.get(`${AUDIT}?${query}`);
      expect(reply.status, query).to.equal(200);
      expect(reply.json, query).to.deep.equal([]);
      expect(reply.headers['x-total-count']).to.equal('0');
    }
  });

  it('is filtered by time, both ends included, with any offset', async () => {
    const actions = async (query: string) => actionsOf(await auditEntries(hawser, query));
    expect(await actions(`from=${middle}&resourceType=RegistrationKey`)).to.deep.equal([
      ...['registration_key.revoked', 'registration_key.updated'],
    ]);
    expect(await actions(`to=${middle}&resourceType=RegistrationKey`)).to.deep.equal([
      'registration_key.created',
    ]);
    expect(await actions(`from=${end}`)).to.deep.equal([]);
    expect(await actions(`from=${middle}&to=${end}&action=session.refused`)).to.have.length(1);
    const [refused] = await auditEntries(hawser, 'action=session.refused');
    const moment = refused?.timestamp ?? '';
    expect(await actions(`from=${moment}&to=${moment}`)).to.include('session.refused');
    const offset = encodeURIComponent(moment.replace('Z', '+00:00'));
    expect(await actions(`from=${offset}&to=${offset}`)).to.include('session.refused');
  });

  it('refuses filters that cannot be meant', async () => {
    const faults: [string, string][] = [
      ['from=yesterday', '/from'],
      ['to=2026-01-01', '/to'],
      [`from=${end}&to=${middle}`, '/to'],
      ['userId=admin', '/userId'],
      ['resourceId=1', '/resourceId'],
      ['userId=', '/userId'],
      ['action=a&action=b', '/action'],
    ];
    for (const [query, path] of faults) {
      const reply = await expectProblem(
        hawser.admin.get(`${AUDIT}?${query}`),
        400,
        'validation_failed',
        query,
      );
      expect(reply.json.errors[0].path, query).to.equal(path);
    }
  });

  it('cannot be changed in the database either, as long as its rule is there', async () => {
    const change = withDatabase(hawser, ({ write }) =>
      write.updateTable('audit_entries').set({ actor_name: 'somebody else' }).execute(),
    );
    const fault = await change.then(
      () => 'none',
      (error: Error) => error.message,
    );
    expect(fault).to.equal('audit entries are never changed');
  });
});

describe('retention of the audit trail', () => {
  const pruned = (hawser: Hawser) => auditEntries(hawser, 'action=audit.pruned');

  it('is off by default: 300 days later all is there', async () => {
    const hawser = await startHawser();
    try {
      await keepTokens(hawser);
      const before = await auditEntries(hawser);
      expect(before).to.have.length(2);
      hawser.clock.advance(300 * DAY);
      await hawser.restart();
      expect(await auditEntries(hawser)).to.deep.equal(before);
    } finally {
      await hawser.close();
    }
  });

  it('deletes what is older than the setting says at the start, and says so itself', async () => {
    const hawser = await startHawser({ HAWSER_AUDIT_KEEP_DAYS: '30' });
    try {
      await keepTokens(hawser);
      // More than fit into one batch of the pruning.
      const old = { timestamp: hawser.clock.now() - DAY, action: 'settings.changed' };
      await addEntries(hawser, Array(500).fill(old));
      hawser.clock.advance(20 * DAY);
      await createKey(hawser.admin);
      await hawser.restart();
      expect(await pruned(hawser), 'after 20 days').to.deep.equal([]);
      hawser.clock.advance(11 * DAY);
      await hawser.restart();
      const entries = await eventually(async () => {
        const all = await auditEntries(hawser);
        expect(actionsOf(all)).to.deep.equal(['audit.pruned', 'registration_key.created']);
        return all;
      });
      expect(entries[0]).to.deep.include({
        ...{ actorType: 'System', actorId: null, actorName: 'hawser', ipAddress: null, requestId: null },
        ...{ resourceType: 'Audit', resourceId: null },
      });
      // Those put in by hand, the session and the token of the start.
      expect(entries[0]?.details?.['deleted']).to.equal(502);
      const { olderThan } = entries[0]?.details ?? {};
      expect(hawser.clock.now() - Date.parse(String(olderThan))).to.be.within(30 * DAY, 30 * DAY + MINUTE);
      await hawser.restart();
      expect(await pruned(hawser), 'with nothing left to delete').to.have.length(1);
    } finally {
      await hawser.close();
    }
  });
});

/** Lets the token of the test outlive the journey. */
async function keepTokens(hawser: Hawser): Promise<void> {
  await withDatabase(hawser, ({ write }) =>
    write.updateTable('access_tokens').set({ expires_at: null }).execute(),
  );
}
