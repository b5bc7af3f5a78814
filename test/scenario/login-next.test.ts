// full: SQLite
/** The way from the console to the sign-in page, and back. */

import { expect } from 'chai';
import type { Reply } from '../support/client.ts';
import { withDatabase } from '../support/database.ts';
import { ADMIN_PASSWORD, type Hawser, startHawser } from '../support/hawser.ts';
import { ok } from '../support/replies.ts';

const WANTED = '/ui/nodes?status=Error&q="><script>&page=2';
/** As it stands in an address. */
const TARGET = '/ui/nodes?status=Error&q=%22%3E%3Cscript%3E&page=2';
const NEXT = new URLSearchParams({ next: WANTED }).toString();
const KEPT = new URLSearchParams({ next: TARGET }).toString();

const BROWSER = { Accept: 'text/html,*/*;q=0.8', 'Sec-Fetch-Site': 'same-origin' };
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };

describe('the sign-in page on the way to the console', () => {
  let hawser: Hawser;

  beforeEach(async () => {
    hawser = await startHawser();
  });
  afterEach(() => hawser.close());

  const show = (path: string, cookie = '') => hawser.client().get(path, { ...BROWSER, Cookie: cookie });
  const post = (path: string, fields: Record<string, string>, cookie = '') =>
    hawser.client().call('POST', path, {
      body: String(new URLSearchParams(fields)),
      headers: { ...BROWSER, ...FORM, Cookie: cookie },
    });
  const login = (path: string, password = ADMIN_PASSWORD) => post(path, { username: 'admin', password });
  const cookieOf = (reply: Reply) => String(reply.headers['set-cookie']).split(';', 1)[0] ?? '';
  /** Where the forms and links of the page lead. */
  const actionsOf = ({ text }: Reply) => [...text.matchAll(/action="([^"]*)"/g)].map((match) => match[1]);
  const linksOf = ({ text }: Reply) => [...text.matchAll(/<a href="([^"]*)"/g)].map((match) => match[1]);

  it('leads to the address that was wanted, and to no other one', async () => {
    const page = await show(`/login?${NEXT}`);
    expect(page.status).to.equal(200);
    expect(actionsOf(page)).to.deep.equal([`/login?${KEPT}`]);
    expect(page.text).to.not.include('<script');
    const reply = await login(`/login?${NEXT}`);
    expect(reply.status).to.equal(303);
    expect(reply.headers['location']).to.equal(TARGET);
    await ok(200, show('/api/v1/auth/me', cookieOf(reply)));
    for (const other of [
      'https://evil.example/ui/',
      '//evil.example/ui/',
      '/api/v1/auth/logout-redirect',
      '/ui/..//evil.example',
    ]) {
      const address = `/login?${new URLSearchParams({ next: other })}`;
      expect(actionsOf(await show(address)), other).to.deep.equal(['/login']);
      expect((await login(address)).headers['location'], other).to.equal('/login');
    }
  });

  it('keeps the address when it refuses', async () => {
    const wrong = await login(`/login?${NEXT}`, 'a-wrong-password');
    const empty = await post(`/login?${NEXT}`, { username: 'admin', password: '' });
    const strange = await post(`/login?${NEXT}`, { username: 'admin', password: 'x', more: 'x' });
    expect([wrong.status, empty.status, strange.status]).to.deep.equal([403, 400, 400]);
    for (const reply of [wrong, empty, strange]) expect(actionsOf(reply)).to.deep.equal([`/login?${KEPT}`]);
  });

  it('has a link to it for whoever is signed in already, and to the console where nothing was wanted', async () => {
    const before = await show('/login');
    expect(linksOf(before)).to.deep.equal([]);
    const page = await show(`/login?${NEXT}`, hawser.session);
    expect(linksOf(page)).to.deep.equal([TARGET.replaceAll('&', '&#38;')]);
    expect(linksOf(await show('/login', hawser.session))).to.deep.equal(['/ui/']);
    const changed = await post(
      `/login/password?${NEXT}`,
      {
        currentPassword: ADMIN_PASSWORD,
        newPassword: 'another-good-one',
        repeatedPassword: 'another-good-one',
      },
      hawser.session,
    );
    expect(changed.headers['location']).to.equal(`/login?changed=password&${KEPT}`);
  });

  it('leads there only after the change of a password that must be changed', async () => {
    await withDatabase(hawser, ({ write }) =>
      write.updateTable('users').set({ require_password_change: 1 }).execute(),
    );
    const reply = await login(`/login?${NEXT}`);
    expect(reply.headers['location']).to.equal(`/login?${KEPT}`);
    const cookie = cookieOf(reply);
    const page = await show(`/login?${KEPT}`, cookie);
    expect(actionsOf(page)).to.deep.equal([`/login/password?${KEPT}`, '/login/sign-out']);
    expect(linksOf(page)).to.deep.equal([]);
    const change = (newPassword: string) => {
      const fields = { currentPassword: ADMIN_PASSWORD, newPassword, repeatedPassword: newPassword };
      return post(`/login/password?${KEPT}`, fields, cookie);
    };
    const refused = await change('short');
    expect(refused.status).to.equal(400);
    expect(actionsOf(refused)).to.include(`/login/password?${KEPT}`);
    const changed = await change('another-good-one');
    expect(changed.status).to.equal(303);
    expect(changed.headers['location']).to.equal(TARGET);
  });

  it('knows of no console with HAWSER_UI=off', async () => {
    const without = await startHawser({ HAWSER_UI: 'off' });
    const page = await without.client().get(`/login?${NEXT}`, { ...BROWSER, Cookie: without.session });
    expect(linksOf(page)).to.deep.equal([]);
    expect(actionsOf(page)).to.deep.equal(['/login/password', '/login/sign-out']);
    await without.close();
  });
});
