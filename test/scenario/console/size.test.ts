import { expect } from 'chai';
import type { Page, Request, Response } from 'playwright-core';
import { pagesOf } from '../../../scripts/console/pages.ts';
import { rollOutDatabase } from '../../../scripts/console/site/rollout.ts';
import type { WatchedPage } from '../../support/browser.ts';
import { type ConsoleUnderTest, ready, startConsole } from '../../support/console.ts';
import { started } from '../../support/started.ts';

/** Bytes with the headers of the answers. */
const MOST_BYTES = 100_000;
/** In milliseconds: what is shown is read again after this time, and a little is added. */
const INTERVAL = 16_000;
/** Not of the console, so that nothing of it is there yet. */
const PLAIN = '/login';
/** What Chromium writes about the field of a password there, and where a file could not be loaded. */
const ALLOWED = /^\[DOM\] Password forms|^Failed to load resource: net::ERR_FAILED/;

interface Load {
  /** The path of each request, as often as it was sent. */
  paths: string[];
  /** Bytes of all that came from below /ui/ until the page was ready. */
  bytes: number;
}

const pathOf = (request: Request) => {
  const { pathname, search } = new URL(request.url());
  return pathname + search;
};

/** Loads the page of a browser with an empty cache. */
async function firstLoad(page: Page, url: string): Promise<Load> {
  const load: Load = { paths: [], bytes: 0 };
  const cdp = await page.context().newCDPSession(page);
  const parts = new Set<string>();
  cdp.on('Network.requestWillBeSent', ({ requestId, request }) => {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith('/ui/')) parts.add(requestId);
  });
  cdp.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (parts.has(requestId)) load.bytes += encodedDataLength;
  });
  page.on('request', (request) => load.paths.push(pathOf(request)));
  await cdp.send('Network.enable');
  await page.goto(url);
  await ready(page);
  await cdp.detach();
  return load;
}

/** What the page asks while nobody does anything for so long by its own clock. */
async function whileIdle(page: Page, milliseconds: number): Promise<Response[]> {
  const answers: Response[] = [];
  const listen = (response: Response) => answers.push(response);
  page.on('response', listen);
  await page.clock.runFor(milliseconds);
  // The answers take their time by the clock of the wall.
  await page.waitForTimeout(1_500);
  page.off('response', listen);
  return answers;
}

/** Some figures within the page come later, and on a busy machine much later. */
async function untilQuiet(page: Page): Promise<void> {
  let last = Date.now();
  const listen = () => {
    last = Date.now();
  };
  page.on('request', listen);
  page.on('response', listen);
  await page.waitForLoadState('networkidle');
  while (Date.now() - last < 2_000) await page.waitForTimeout(200);
  page.off('request', listen);
  page.off('response', listen);
}

/** Opens a page whose clock stands in the middle of an hour, because charts ask for other hours at its end. */
async function openIdle(
  shown: ConsoleUnderTest,
  path: string,
): Promise<WatchedPage & { etags: Map<string, string | undefined> }> {
  const opened = await shown.open(PLAIN, { allows: ALLOWED });
  const etags = new Map<string, string | undefined>();
  opened.page.on('response', (answer) => {
    if (answer.status() === 200) etags.set(answer.url(), answer.headers()['etag']);
  });
  const time = new Date();
  time.setMinutes(30);
  await opened.page.clock.install({ time });
  await opened.page.goto(shown.base + path);
  await ready(opened.page);
  await untilQuiet(opened.page);
  return { ...opened, etags };
}

async function hide(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate(`Object.defineProperty(document, 'visibilityState', {
    configurable: true, get: () => '${isHidden ? 'hidden' : 'visible'}' });
    document.dispatchEvent(new Event('visibilitychange'));`);
}

describe('what the console loads', () => {
  const shown = started(startConsole);

  before(async () => {
    await rollOutDatabase(shown.hawser.admin, shown.site);
  });

  for (const part of ['fleet', 'content', 'server'] as const)
    it(`is at most 100 KB for a first visit, and nothing of it twice: ${part}`, async function () {
      this.timeout(600_000);
      const faults: string[] = [];
      for (const { name, path } of pagesOf(shown.site, part)) {
        const { page, close } = await shown.open(PLAIN, { allows: ALLOWED });
        // The editor is loaded when the rest of its page is there, and the text can be changed without it.
        await page.route('**/ui/assets/open-*.js', (route) => route.abort());
        const { paths, bytes } = await firstLoad(page, shown.base + path);
        expect(bytes, name).to.be.above(10_000);
        if (bytes > MOST_BYTES) faults.push(`${name}: ${bytes} bytes`);
        const again = paths.filter((asked, at) => paths.indexOf(asked) !== at);
        faults.push(...again.map((asked) => `${name}: ${asked} twice`));
        await close();
      }
      expect(faults, faults.join('\n')).to.deep.equal([]);
    });

  it('is nothing new while nobody touches the page: polls that do not renew the session', async () => {
    const { id } = shown.site.nodes.hostile;
    for (const path of ['/ui/', '/ui/nodes', `/ui/nodes/${id}`, '/ui/configurations/shop']) {
      const { page, etags, close } = await openIdle(shown, path);
      const answers = await whileIdle(page, INTERVAL);
      expect(answers, path).to.not.have.length(0);
      for (const answer of answers) {
        const headers = answer.request().headers();
        expect(headers['x-hawser-poll'], answer.url()).to.equal('1');
        const etag = etags.get(answer.url());
        expect(etag, answer.url()).to.be.a('string');
        expect(headers['if-none-match'], answer.url()).to.equal(etag);
        expect(answer.status(), answer.url()).to.equal(304);
      }
      await close();
    }
  });

  it('is nothing while the page is hidden, and what is new once it is seen again', async () => {
    const { page, close } = await openIdle(shown, '/ui/nodes');
    await hide(page, true);
    expect(await whileIdle(page, 4 * INTERVAL)).to.have.length(0);
    const polled = page.waitForResponse((answer) => answer.url().includes('/api/v1/nodes?'));
    await hide(page, false);
    expect((await polled).request().headers()['x-hawser-poll']).to.equal('1');
    expect(await whileIdle(page, INTERVAL)).to.not.have.length(0);
    await close();
  });
});
