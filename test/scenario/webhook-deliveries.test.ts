// full: SQLite, PostgreSQL
/** What comes to receivers: real servers with TLS, which answer late, badly or not at all. */

import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { MINUTE } from '../../src/lib/clock.ts';
import { makeClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { asAdmin, type Hawser, startHawser } from '../support/hawser.ts';
import { ok } from '../support/replies.ts';
import { spawnHawser } from '../support/spawned.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { type Received, Receiver, ReceiverAuthority, SECRET, WEBHOOKS } from '../support/webhooks.ts';

const COMPOSITES = '/api/v1/composite-configurations';

describe('deliveries to webhooks', () => {
  let authority: ReceiverAuthority;
  let receiver: Receiver;
  let hawser: Hawser;

  before(async () => {
    authority = await ReceiverAuthority.make();
  });
  after(() => authority.remove());
  beforeEach(async () => {
    receiver = await Receiver.start(authority);
    const receiverAuthorities = [authority.pem];
    hawser = await startHawser({ HAWSER_WEBHOOK_ALLOW: '127.0.0.1/32,::1' }, { receiverAuthorities });
  });
  afterEach(async () => {
    await hawser.close();
    await receiver.close();
  });

  const subscribe = (url = receiver.url(), events = ['*']): Promise<{ id: string }> =>
    ok(201, hawser.admin.post(WEBHOOKS, { url, events, secret: SECRET }));
  const make = (name: string) => ok(201, hawser.admin.post(COMPOSITES, { name }));
  const remove = (name: string) => ok(204, hawser.admin.delete(`${COMPOSITES}/${name}`));
  const subject = (name: string) => `composite-configurations/${name}`;
  const typesOf = (name: string) => receiver.of(subject(name)).map(({ event }) => event.type);
  const states = async (id: string): Promise<string[]> =>
    (await ok(200, hawser.admin.get(`${WEBHOOKS}/${id}/deliveries`))).map(
      ({ state }: { state: string }) => state,
    );

  it('are CloudEvents with a signature, once for each webhook that wants the event', async () => {
    const { id } = await subscribe(receiver.url(), ['composite.*']);
    await subscribe(receiver.url(), ['node.*']);
    await make('a');
    await eventually(async () => expect(await states(id)).to.deep.equal(['Delivered']));
    expect(receiver.received).to.have.length(1);
    const { headers, body, event } = receiver.received[0] as Received;
    expect(event).to.deep.include({ type: 'composite.created', subject: subject('a') });
    expect([event], 'what the feed has').to.deep.equal(await ok(200, hawser.admin.get('/api/v1/events')));
    expect(headers['content-type']).to.match(/^application\/cloudevents\+json/);
    expect(headers['webhook-id']).to.equal(event.id);
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
    const key = Buffer.from(SECRET.slice('whsec_'.length), 'base64');
    const signature = createHmac('sha256', key).update(signed).digest('base64');
    expect(headers['webhook-signature']).to.equal(`v1,${signature}`);
    expect(hawser.log()).to.not.include(SECRET).and.not.include(signature);
  });

  it('of one subject wait for those before, and those of others do not', async () => {
    let isBroken = true;
    receiver.answering = ({ event }) => (isBroken && event.subject === subject('a') ? 500 : 204);
    const { id } = await subscribe();
    await make('a');
    await remove('a');
    await make('b');
    await eventually(async () => expect(typesOf('b')).to.deep.equal(['composite.created']));
    await eventually(async () => expect(typesOf('a')).to.not.deep.equal([]));
    expect(new Set(typesOf('a'))).to.deep.equal(new Set(['composite.created']));
    isBroken = false;
    hawser.clock.advance(MINUTE);
    await eventually(async () =>
      expect(await states(id)).to.deep.equal(['Delivered', 'Delivered', 'Delivered']),
    );
    const types = typesOf('a');
    expect(types.indexOf('composite.deleted')).to.equal(types.length - 1);
    const ids = receiver.of(subject('a')).map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids.slice(0, -1)), 'the id of all attempts').to.have.property('size', 1);
  });

  it('to a receiver that never answers keep back none to another', async () => {
    const silent = await Receiver.start(authority);
    silent.answering = () => null;
    await subscribe(silent.url());
    await subscribe();
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await make(name);
    await eventually(async () => expect(receiver.received).to.have.length(6));
    await eventually(async () => expect(silent.received).to.have.length(4));
    await silent.close();
  });

  it('are made after a start, if the server ended between the write and the delivery', async () => {
    receiver.answering = () => null;
    const { id } = await subscribe();
    await make('a');
    await eventually(async () => expect(receiver.received).to.have.length(1));
    await remove('a');
    await hawser.restart();
    receiver.answering = () => 204;
    await eventually(async () => expect(await states(id)).to.deep.equal(['Delivered', 'Delivered']));
    const types = typesOf('a');
    expect(types.slice(0, 2)).to.deep.equal(['composite.created', 'composite.created']);
    expect(types.at(-1)).to.equal('composite.deleted');
  });

  it('are not made while the webhook is not active, nor afterwards of what happened then', async () => {
    const { id } = await subscribe();
    const change = { url: receiver.url(), events: ['*'] };
    await ok(200, hawser.admin.put(`${WEBHOOKS}/${id}`, { ...change, isActive: false }));
    await make('a');
    await eventually(async () => expect(await ok(200, hawser.admin.get('/api/v1/events'))).to.have.length(1));
    await ok(200, hawser.admin.put(`${WEBHOOKS}/${id}`, change));
    await make('b');
    await eventually(async () => expect(await states(id)).to.deep.equal(['Delivered']));
    expect(receiver.received.map(({ event }) => event.subject)).to.deep.equal([subject('b')]);
  });

  it('are made again for whoever asks, under the same id', async () => {
    const { id } = await subscribe();
    await make('a');
    await eventually(async () => expect(await states(id)).to.deep.equal(['Delivered']));
    const [{ id: deliveryId }] = await ok(200, hawser.admin.get(`${WEBHOOKS}/${id}/deliveries`));
    await ok(200, hawser.admin.post(`${WEBHOOKS}/${id}/deliveries/${deliveryId}/redeliver`));
    await eventually(async () => expect(receiver.received).to.have.length(2));
    const [first, second] = receiver.received;
    expect(second?.headers['webhook-id']).to.equal(first?.headers['webhook-id']);
  });

  it('are refused at addresses that are not public and not allowed', async () => {
    const { id } = await subscribe(`https://127.0.0.2:${receiver.port}/`);
    await make('a');
    await eventually(async () => {
      const [delivery] = await ok(200, hawser.admin.get(`${WEBHOOKS}/${id}/deliveries`));
      expect(delivery).to.include({ state: 'Pending', lastError: 'address_refused' });
    });
    expect(receiver.connections).to.equal(0);
  });
});

describe('a receiver under an authority of its own', () => {
  const folder = temporaryFolder();

  it('gets events where NODE_EXTRA_CA_CERTS names the authority', async () => {
    const authority = await ReceiverAuthority.make();
    const receiver = await Receiver.start(authority);
    const settings = { HAWSER_WEBHOOK_ALLOW: '127.0.0.1/32,::1', NODE_EXTRA_CA_CERTS: authority.file };
    const hawser = await spawnHawser(folder(), settings);
    const client = makeClient(await hawser.listening());
    const admin = await asAdmin(client);
    await ok(201, admin.post(WEBHOOKS, { url: receiver.url(), events: ['*'], secret: SECRET }));
    await ok(201, admin.post(COMPOSITES, { name: 'a' }));
    await eventually(async () => expect(receiver.received).to.have.length(1));
    client.close();
    hawser.child.kill();
    await hawser.ended;
    await receiver.close();
    authority.remove();
  });
});
