import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { startHawser } from '../support/hawser.ts';
import { expectInvalid, expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';
import { prepareWebhook, SECRET, WEBHOOKS } from '../support/webhooks.ts';

const URL_OF_CI = 'https://ci.example.org/hook?key=in-the-url';
const OTHER_SECRET = `whsec_${Buffer.alloc(24, 9).toString('base64')}`;
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

describe('webhooks', () => {
  const hawser = started(startHawser);

  const make = (members: Record<string, unknown> = {}) =>
    hawser.admin.post(WEBHOOKS, { url: URL_OF_CI, events: ['rollout.*'], secret: SECRET, ...members });

  it('are made, read, changed, listed and deleted', async () => {
    const made = await ok(201, make());
    expect(made).to.have.all.keys('id', 'url', 'events', 'isActive', 'createdAt', 'modifiedAt');
    expect(made).to.deep.include({ url: URL_OF_CI, events: ['rollout.*'], isActive: true });
    const path = `${WEBHOOKS}/${made.id}`;
    expect(await ok(200, hawser.admin.get(path))).to.deep.equal(made);
    const change = { url: 'https://cd.example.org/', events: ['*'], isActive: false };
    const changed = await ok(200, hawser.admin.put(path, change));
    expect(changed).to.deep.include(change);
    expect(await ok(200, hawser.admin.get(WEBHOOKS))).to.deep.equal([changed]);
    await ok(204, hawser.admin.delete(path));
    await expectProblem(hawser.admin.get(path), 404, 'not_found');
    await expectProblem(hawser.admin.put(path, change), 404, 'not_found');
    await expectProblem(hawser.admin.delete(path), 404, 'not_found');
  });

  it('are changed only if nobody else has changed them, where the caller wants that', async () => {
    const { id } = await ok(201, make());
    const path = `${WEBHOOKS}/${id}`;
    const { headers } = await hawser.admin.get(path);
    const change = { url: URL_OF_CI, events: ['*'] };
    const ifMatch = hawser.admin.with({ 'If-Match': String(headers['etag']) });
    await ok(200, ifMatch.put(path, change));
    await expectProblem(ifMatch.put(path, { ...change, isActive: false }), 412, 'precondition_failed');
    await expectProblem(ifMatch.delete(path), 412, 'precondition_failed');
    await ok(204, hawser.admin.delete(path));
  });

  it('are refused with an address, events or a secret that nothing can come of', async () => {
    const faults: [Record<string, unknown>, string][] = [
      [{ url: 'http://ci.example.org/' }, '/url'],
      [{ url: 'ftp://ci.example.org/' }, '/url'],
      [{ url: 'ci.example.org' }, '/url'],
      [{ url: 'https://user:pass@ci.example.org/' }, '/url'],
      [{ url: 'https://ci.example.org/#part' }, '/url'],
      [{ url: `https://ci.example.org/${'a'.repeat(2_000)}` }, '/url'],
      [{ events: [] }, '/events'],
      [{ events: ['rollouts.*'] }, '/events/0'],
      [{ events: ['node.registered', '**'] }, '/events/1'],
      [{ secret: undefined }, '/secret'],
      [{ secret: SECRET.slice(6) }, '/secret'],
      [{ secret: 'whsec_c2hvcnQ=' }, '/secret'],
      [{ secret: `whsec_${Buffer.alloc(65).toString('base64')}` }, '/secret'],
      [{ secret: 'whsec_not base64 but long enough for a secret' }, '/secret'],
      [{ nonsense: 1 }, '/nonsense'],
    ];
    for (const [members, path] of faults) {
      const { json, text } = await expectInvalid(make(members), undefined, JSON.stringify(members));
      expect(json.errors.map((error: { path: string }) => error.path)).to.include(path);
      expect(text).to.not.include(String(members['secret'] ?? SECRET));
    }
  });

  it('are at most 50', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 50; count += 1) ids.push((await ok(201, make())).id);
    await expectProblem(make(), 409, 'too_many_webhooks');
    for (const id of ids) await ok(204, hawser.admin.delete(`${WEBHOOKS}/${id}`));
    const { id } = await ok(201, make());
    await ok(204, hawser.admin.delete(`${WEBHOOKS}/${id}`));
  });

  it('show their secret nowhere, nor do the audit trail and the log, which leave out the path too', async () => {
    const { id } = await ok(201, make());
    const path = `${WEBHOOKS}/${id}`;
    await ok(200, hawser.admin.put(path, { url: URL_OF_CI, events: ['*'], secret: OTHER_SECRET }));
    const texts = [];
    for (const read of [path, WEBHOOKS, `${path}/deliveries`])
      texts.push((await hawser.admin.get(read)).text);
    await ok(204, hawser.admin.delete(path));
    const trail = (await hawser.admin.get('/api/v1/audit?resourceType=Webhook')).text;
    for (const action of ['created', 'updated', 'deleted']) expect(trail).to.include(`webhook.${action}`);
    expect(trail).to.include('"secretChanged":true').and.include('https://ci.example.org');
    for (const text of [...texts, trail, hawser.log()])
      for (const secret of [SECRET, OTHER_SECRET]) {
        expect(text).to.not.include(secret);
        expect(text).to.not.include(secret.slice(6));
      }
    expect(trail + hawser.log()).to.not.include('in-the-url');
  });

  it('get what somebody wants to have sent again', async () => {
    const { webhookId, deliveryId } = await prepareWebhook(hawser.admin);
    const deliveries = `${WEBHOOKS}/${webhookId}/deliveries`;
    await eventually(async () => {
      const [delivery] = await ok(200, hawser.admin.get(`${deliveries}?state=pending`));
      expect(delivery).to.include({ id: deliveryId, type: 'composite.created', state: 'Pending' });
      expect(delivery).to.include({ lastError: 'address_refused', lastStatus: null });
    });
    expect(await ok(200, hawser.admin.get(`${deliveries}?state=Failed`))).to.deep.equal([]);
    const again = await ok(200, hawser.admin.post(`${deliveries}/${deliveryId}/redeliver`));
    expect(again).to.include({ id: deliveryId, state: 'Pending', attempts: 0, lastError: null });
    await expectProblem(hawser.admin.post(`${deliveries}/${UNKNOWN}/redeliver`), 404, 'not_found');
    await expectInvalid(hawser.admin.get(`${deliveries}?state=Lost`));
    await expectProblem(hawser.admin.get(`${WEBHOOKS}/${UNKNOWN}/deliveries`), 404, 'not_found');
    const other = await ok(201, make());
    const wrong = `${WEBHOOKS}/${other.id}/deliveries/${deliveryId}/redeliver`;
    await expectProblem(hawser.admin.post(wrong), 404, 'not_found');
  });
});
