// everyday: SQLite
import { expect } from 'chai';
import type { Page, Request } from 'playwright-core';
import { MINUTE, SECOND } from '../../../src/lib/clock.ts';
import {
  type ConsoleUnderTest,
  REFUSED_REQUEST,
  ready,
  startConsole,
  type View,
} from '../../support/console.ts';
import { steadyPort } from '../../support/ports.ts';

/** What Chromium writes while nobody answers. */
const UNREACHABLE = /^Failed to load resource: net::ERR_/;
const ERRORS = '/ui/nodes?status=Error';

describe('the frame of the console', () => {
  let shown: ConsoleUnderTest;

  before(async () => {
    shown = await startConsole({ nodes: 40, settings: { HAWSER_PORT: String(await steadyPort()) } });
  });
  after(() => shown?.close());
  // Sign-ins are limited by the minute.
  beforeEach(() => shown.hawser.clock.advance(MINUTE + SECOND));

  const look: ConsoleUnderTest['look'] = (...what) => shown.look(...what);
  const address = (page: Page) => page.url().slice(shown.base.length);
  const arrive = (page: Page, path: string) => page.waitForURL(`${shown.base}${path}`);
  const stranger: View = { user: null, allows: REFUSED_REQUEST };

  it('leads a stranger to the sign-in page, and by the keyboard alone back to where the link led', () =>
    look(ERRORS, stranger, async (page) => {
      await arrive(page, '/login?next=%2Fui%2Fnodes%3Fstatus%3DError');
      const { username, password } = shown.site.users.operator;
      // The browser gives the field of the user name the focus, a moment after the page is loaded.
      await page.locator('input:focus').waitFor();
      await page.keyboard.type(username);
      await page.keyboard.press('Tab');
      await page.keyboard.type(password);
      await page.keyboard.press('Enter');
      await arrive(page, ERRORS);
      await ready(page);
      expect(await page.locator('h1').innerText()).to.equal('Nodes');
    }));

  it('asks again after a wrong password, and still knows the way back', () =>
    look(ERRORS, stranger, async (page) => {
      await arrive(page, '/login?next=%2Fui%2Fnodes%3Fstatus%3DError');
      await page.getByLabel('User name').fill('admin');
      await page.getByLabel('Password').fill('not the password');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('alert').waitFor();
      await shown.signIn(page, 'admin');
      await arrive(page, ERRORS);
      await ready(page);
    }));

  it('stands behind the shortest address', () =>
    look('/', {}, async (page) => {
      await arrive(page, '/ui/');
      await ready(page);
      expect(await page.title()).to.equal('Fleet - Hawser');
    }));

  for (const next of [
    'https://example.org/ui/',
    '//example.org/ui/',
    '/\\example.org/ui/',
    '/ui/../../login/oidc',
    'javascript:alert(1)',
    '/api/v1/auth/logout-redirect',
  ])
    it(`does not follow the way back to ${next}`, () =>
      look(`/login?next=${encodeURIComponent(next)}`, stranger, async (page) => {
        await shown.signIn(page, 'viewer');
        await page
          .getByText(/signed in as/)
          .or(page.locator('main[data-state="ready"]'))
          .first()
          .waitFor();
        expect(['/ui/', '/login'], address(page)).to.include(address(page).split('?')[0]);
      }));

  it('signs out, and shows nothing any more', () =>
    look('/login?next=%2Fui%2F', stranger, async (page) => {
      await shown.signIn(page, 'author');
      await arrive(page, '/ui/');
      await ready(page);
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.waitForURL((url) => url.pathname === '/login');
      await page.getByRole('button', { name: 'Sign in' }).waitFor();
      // A page that is still loading would break off the next one.
      await page.waitForLoadState('networkidle');
      await page.goto(`${shown.base}/ui/nodes`);
      await arrive(page, '/login?next=%2Fui%2Fnodes');
    }));

  it('signs out to the plain page for signing in, though a request is refused before the page knows', () =>
    look('/login?next=%2Fui%2F', stranger, async (page) => {
      await shown.signIn(page, 'author');
      await arrive(page, '/ui/');
      await ready(page);
      const visited: string[] = [];
      page.on('request', (request) => {
        if (request.isNavigationRequest()) visited.push(request.url().slice(shown.base.length));
      });
      await page.route('**/api/v1/auth/logout', async (route) => {
        const answer = await route.fetch();
        const refused = page.waitForResponse((response) => response.status() === 401);
        // The page reads again what it shows.
        await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
        await (await refused).finished();
        await page.evaluate('new Promise((resolve) => setTimeout(resolve))');
        await route.fulfill({ response: answer });
      });
      await page.getByRole('button', { name: 'Sign out' }).click();
      await arrive(page, '/login');
      expect(visited).to.deep.equal(['/login']);
    }));

  it('keeps the chosen theme over a reload, and takes that of the system again', () =>
    look('/ui/me', { theme: 'light' }, async (page) => {
      await ready(page);
      const background = () =>
        page.locator('body').evaluate((body) => {
          const { getComputedStyle } = globalThis as unknown as {
            getComputedStyle: (element: unknown) => { backgroundColor: string };
          };
          return getComputedStyle(body).backgroundColor;
        });
      const light = await background();
      const theme = page
        .getByRole('radiogroup', { name: 'Theme' })
        .or(page.getByRole('group', { name: 'Theme' }));
      expect(await theme.getByLabel('System').isChecked()).to.equal(true);
      await theme.getByLabel('Dark').check();
      const dark = await background();
      expect(dark).to.not.equal(light);
      await page.reload();
      await ready(page);
      expect(await theme.getByLabel('Dark').isChecked()).to.equal(true);
      expect(await background()).to.equal(dark);
      await theme.getByLabel('System').check();
      expect(await background()).to.equal(light);
      await page.emulateMedia({ colorScheme: 'dark' });
      expect(await background()).to.equal(dark);
    }));

  it('says of what it asks by itself that nobody is there', () =>
    look('/ui/nodes', { movesClock: true }, async (page) => {
      const asked: Request[] = [];
      page.on('request', (request) => asked.push(request));
      await page.reload();
      await ready(page);
      const own = (request: Request) => request.headers()['x-hawser-poll'] === '1';
      const isList = (request: Request) => request.url().includes('/api/v1/nodes');
      // On a busy machine the first poll comes before the page is ready.
      const first = asked.find(isList) ?? expect.fail('nothing was asked');
      expect(own(first), 'not by the person').to.equal(false);
      const poll = page.waitForRequest((request) => isList(request) && own(request));
      await page.clock.fastForward(16 * SECOND);
      const { status } = await (await poll).response().then((answer) => ({ status: answer?.status() }));
      expect(status, 'nothing has changed').to.be.oneOf([200, 304]);
    }));

  it('says that the server is away, and goes on by itself when it is there again', () =>
    look('/ui/nodes', { movesClock: true, allows: UNREACHABLE }, async (page) => {
      await ready(page);
      const { hawser } = shown;
      const rows = await page.getByRole('row').count();
      await hawser.server.close();
      try {
        await page.clock.fastForward(16 * SECOND);
        await page.getByText('The server does not answer').waitFor();
        // What was there stays there.
        expect(await page.getByRole('row').count()).to.equal(rows);
      } finally {
        await hawser.restart();
      }
      await page.getByText('The server does not answer').waitFor({ state: 'hidden' });
      await ready(page);
    }));
});
