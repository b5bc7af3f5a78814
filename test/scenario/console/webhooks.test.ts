// full: SQLite
/** Webhooks in the console: made with a secret that is shown once, changed, sent to again, and deleted. */

import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { DAY } from '../../../src/lib/clock.ts';
import { axe } from '../../support/axe.ts';
import {
  type ConsoleUnderTest,
  noHorizontalScroll,
  REFUSED_REQUEST,
  ready,
  startConsole,
} from '../../support/console.ts';
import { button, refusal, said, visit } from '../../support/console-parts.ts';
import { eventually } from '../../support/eventually.ts';
import { ok } from '../../support/replies.ts';
import {
  isSigned,
  type Received,
  Receiver,
  ReceiverAuthority,
  SECRET,
  WEBHOOKS,
} from '../../support/webhooks.ts';

const COMPOSITES = '/api/v1/composite-configurations';

describe('webhooks in the console', () => {
  let authority: ReceiverAuthority;
  let receiver: Receiver;
  let shown: ConsoleUnderTest;

  before(async () => {
    authority = await ReceiverAuthority.make();
    receiver = await Receiver.start(authority);
    const settings = { HAWSER_WEBHOOK_ALLOW: '127.0.0.1/32,::1' };
    shown = await startConsole({ nodes: 40, settings, tuning: { receiverAuthorities: [authority.pem] } });
  });
  afterEach(async () => {
    for (const { id } of await ok(200, shown.hawser.admin.get(WEBHOOKS)))
      await ok(204, shown.hawser.admin.delete(`${WEBHOOKS}/${id}`));
    receiver.received.length = 0;
  });
  after(async () => {
    await shown?.close();
    await receiver?.close();
    authority?.remove();
  });

  const webhookAt = async (url: string) => {
    const all: { id: string; url: string; events: string[]; isActive: boolean }[] = await ok(
      200,
      shown.hawser.admin.get(WEBHOOKS),
    );
    return all.find((webhook) => webhook.url === url);
  };
  const subscribe = async (url: string): Promise<string> => {
    const wish = { url, events: ['composite.*'], secret: SECRET };
    return (await ok(201, shown.hawser.admin.post(WEBHOOKS, wish))).id;
  };
  const make = (name: string) => ok(201, shown.hawser.admin.post(COMPOSITES, { name }));
  const deliveries = (page: Page) => page.getByRole('table', { name: 'Deliveries' });
  /** Waits until the API has a delivery like this, so that a page which is opened then shows it. */
  const untilDelivery = (id: string, like: Record<string, unknown>) =>
    eventually(async () => {
      const [delivery] = await ok(200, shown.hawser.admin.get(`${WEBHOOKS}/${id}/deliveries`));
      expect(delivery).to.include(like);
    });

  it('are made with a secret that is shown once, by which the receiver knows the server', async () => {
    const { page, close } = await visit(shown, '/ui/webhooks', { allows: REFUSED_REQUEST });
    await button(page, 'New webhook').click();
    const dialog = page.getByRole('dialog', { name: 'New webhook' });
    expect(await button(dialog, 'Create').isDisabled()).to.equal(true);
    await dialog.getByLabel('Address').fill(receiver.url());
    await dialog.getByLabel('Event types').fill('composite.*\n\n no.such_type\n');
    expect(await axe(page)).to.deep.equal([]);
    await button(dialog, 'Create').click();
    await dialog.getByText('no.such_type: Not a type of events').waitFor();
    expect(await dialog.getByLabel('Event types').getAttribute('aria-invalid')).to.equal('true');
    await dialog.getByLabel('Event types').fill('composite.*\n\n node.deleted \n');
    await button(dialog, 'Create').click();

    const once = page.getByRole('dialog', { name: /^Secret of localhost:/ });
    const secret = (await once.locator('.copy-line code').innerText()).trim();
    expect(secret).to.match(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(await button(once, 'Copy secret').isVisible()).to.equal(true);
    expect(await axe(page)).to.deep.equal([]);
    await page.keyboard.press('Escape');
    await button(once, 'Done').click();
    const row = page.getByRole('table', { name: 'Webhooks' }).getByRole('row', { name: receiver.url() });
    await row.getByText('composite.*, node.deleted').waitFor();
    await row.getByText('Yes').waitFor();
    expect(await page.content()).not.to.include(secret);
    const made = await webhookAt(receiver.url());
    expect(made).to.deep.include({ events: ['composite.*', 'node.deleted'], isActive: true });

    await make('signed');
    const [sent] = await eventually(async () => {
      const found = receiver.of('composite-configurations/signed');
      expect(found).to.have.length(1);
      return found as [Received];
    });
    expect(isSigned(sent, secret)).to.equal(true);
    await row.getByRole('link').click();
    await page.getByRole('heading', { level: 1, name: `localhost:${receiver.port}` }).waitFor();
    await ready(page);
    await deliveries(page).getByRole('row', { name: 'composite-configurations/signed' }).waitFor();
    await close();
  });

  it('are changed and deactivated, and what was typed stays where somebody else was quicker', async () => {
    const url = receiver.url('127.0.0.1');
    const id = await subscribe(url);
    const { page, close } = await visit(shown, `/ui/webhooks/${id}`, { allows: REFUSED_REQUEST });
    const form = page.getByRole('form', { name: /^Details of 127\.0\.0\.1:/ });
    await form.getByLabel('Event types').fill('rollout.*\nnode.*');
    await form.getByLabel('Active').uncheck();
    await ok(200, shown.hawser.admin.put(`${WEBHOOKS}/${id}`, { url: `${url}/moved`, events: ['*'] }));
    await button(form, 'Save').click();
    await refusal(page, 'precondition_failed').waitFor();
    expect(await form.getByLabel('Event types').inputValue()).to.equal('rollout.*\nnode.*');
    await button(form, 'Keep my changes and read the rest anew').click();
    await button(form, 'Save').click();
    await said(page, 'The webhook was saved.');
    await page.getByText('Not active', { exact: true }).waitFor();
    expect(await webhookAt(`${url}/moved`)).to.deep.include({
      events: ['rollout.*', 'node.*'],
      isActive: false,
    });
    await noHorizontalScroll(page);
    await close();
  });

  it('get another secret once the receiver takes it', async () => {
    const id = await subscribe(receiver.url());
    const { page, close } = await visit(shown, `/ui/webhooks/${id}`);
    const dialog = page.getByRole('dialog', { name: /^New secret of localhost:/ });
    const show = async () => {
      await button(page, 'New secret').click();
      return (await dialog.locator('.copy-line code').innerText()).trim();
    };
    const unused = await show();
    expect(await axe(page)).to.deep.equal([]);
    await button(dialog, 'Cancel').click();
    const secret = await show();
    expect(secret)
      .to.match(/^whsec_[A-Za-z0-9+/]{43}=$/)
      .and.not.equal(unused);
    expect(await button(dialog, 'Use it').isDisabled()).to.equal(true);
    await dialog.getByLabel('The receiver takes the new secret').check();
    await button(dialog, 'Use it').click();
    await said(page, 'are signed with the new secret.');
    expect(await page.content()).not.to.include(secret);
    await make('signed-anew');
    await eventually(async () => {
      const signed = receiver.received.filter((sent) => isSigned(sent, secret));
      expect(signed).to.have.length(1);
    });
    expect(receiver.received.filter((sent) => isSigned(sent, unused))).to.deep.equal([]);
    await close();
  });

  it('show what was sent, by its state, and send it again', async () => {
    const id = await subscribe(receiver.url());
    await make('sent-twice');
    await untilDelivery(id, { state: 'Delivered', lastStatus: 204 });
    const { page, close } = await visit(shown, `/ui/webhooks/${id}`);
    const row = deliveries(page).getByRole('row', { name: 'composite-configurations/sent-twice' });
    for (const text of ['composite.created', 'Delivered', '204'])
      await row.getByText(text, { exact: true }).first().waitFor();
    await row.getByRole('button', { name: 'Send again' }).click();
    await said(page, 'composite.created of composite-configurations/sent-twice is sent again.');
    await eventually(async () =>
      expect(receiver.of('composite-configurations/sent-twice')).to.have.length(2),
    );
    await page.getByLabel('State').selectOption('Failed');
    await page.getByText('No delivery is in this state.').waitFor();
    expect(new URL(page.url()).search).to.equal('?state=Failed');
    await close();
  });

  it('are shown to nobody without the permission', async () => {
    for (const [user, count] of [
      ['admin', 1],
      ['viewer', 0],
    ] as const) {
      const { page, close } = await visit(shown, '/ui/', { user });
      expect(
        await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Webhooks' }).count(),
      ).to.equal(count);
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Search' }).fill('webho');
      await page.getByText(count === 1 ? /^1 found/ : 'Nothing has such a name.').waitFor();
      expect(await page.getByRole('option', { name: 'Webhooks' }).count()).to.equal(count);
      await close();
    }
    const { page, close } = await shown.open('/ui/webhooks', { user: 'viewer' });
    await ready(page, 'forbidden');
    await close();
  });

  it('have what failed sent again', async () => {
    const id = await subscribe('https://127.0.0.2:1/');
    await make('refused');
    await untilDelivery(id, { state: 'Pending', attempts: 1, lastError: 'address_refused' });
    const waiting = await visit(shown, `/ui/webhooks/${id}`);
    const pending = deliveries(waiting.page).getByRole('row', { name: 'composite-configurations/refused' });
    for (const text of ['Pending', 'address_refused']) await pending.getByText(text).waitFor();
    expect(await pending.getByRole('button').count()).to.equal(0);
    await waiting.close();

    // It is tried for a day. Sessions have ended by then.
    shown.hawser.clock.advance(DAY);
    await untilDelivery(id, { state: 'Failed' });
    const address = encodeURIComponent(`/ui/webhooks/${id}?state=Failed`);
    const { page, close } = await shown.open(`/login?next=${address}`, { user: null });
    await shown.signIn(page, 'admin');
    await ready(page);
    const failed = deliveries(page).getByRole('row', { name: 'composite-configurations/refused' });
    await failed.getByText('Failed').waitFor();
    expect(await axe(page)).to.deep.equal([]);
    await failed.getByRole('button', { name: 'Send again' }).click();
    await said(page, 'is sent again.');
    await page.getByText('No delivery is in this state.').waitFor();
    await untilDelivery(id, { state: 'Pending', attempts: 1 });

    await button(page, 'Delete').click();
    await button(page.getByRole('dialog', { name: 'Delete the webhook to 127.0.0.2:1' }), 'Delete').click();
    await said(page, 'The webhook to 127.0.0.2:1 was deleted.');
    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
    await ready(page, 'empty');
    expect(await webhookAt('https://127.0.0.2:1/')).to.equal(undefined);
    await close();
  });
});
