// full: SQLite
import { expect } from 'chai';
import type { Page, Request, Response } from 'playwright-core';
import { pagesOf } from '../../../scripts/console/pages.ts';
import { proposeChange } from '../../../scripts/console/site/change-set.ts';
import { rollOutDatabase } from '../../../scripts/console/site/rollout.ts';
import type { WatchedPage } from '../../support/browser.ts';
import { type ConsoleUnderTest, ready, startConsole } from '../../support/console.ts';
import { eventually } from '../../support/eventually.ts';
import { started } from '../../support/started.ts';

/** Bytes with the headers of the answers. */
const MOST_BYTES = 100_000;
/** In milliseconds: what is shown is read again after this time. */
const POLL_INTERVAL = 15_000;
/** Some more, so that everything is read again once. */
const INTERVAL = POLL_INTERVAL + 1_000;
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

/** Runs in the page. Nothing is read again by itself, however slow the machine is. */
const WITHOUT_POLLS = `{
  const { setTimeout } = window;
  window.setTimeout = (work, pause = 0) => (pause >= ${POLL_INTERVAL} ? 0 : setTimeout(work, pause));
}`;

/** Runs in the page. Counts what its program asks of the server, and what of it is on its way. */
const COUNTED = `{
  const { fetch } = window;
  window.asked = 0;
  window.pending = 0;
  window.fetch = (...request) => {
    window.asked += 1;
    window.pending += 1;
    const answered = fetch(...request);
    const end = () => (window.pending -= 1);
    answered.then((response) => response.clone().arrayBuffer()).then(end, end);
    return answered;
  };
}`;

/** Lets the program of the page come to its turn, whatever its clock says. */
const TURN = `new Promise((resolve) => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = resolve;
  port2.postMessage(null);
})`;

/** Waits until the page has all answers, and asks nothing further because of them. */
async function untilAnswered(page: Page): Promise<void> {
  await eventually(async () => {
    const before = await page.evaluate<number>('asked');
    for (let turn = 0; turn < 3; turn += 1) {
      await page.evaluate(TURN);
      expect(await page.evaluate<number>('pending')).to.equal(0);
    }
    expect(await page.evaluate<number>('asked')).to.equal(before);
  });
}

/** What the page asks while nobody does anything for so long by its own clock. */
async function whileIdle(page: Page, milliseconds: number): Promise<Response[]> {
  await untilAnswered(page);
  const requests: Request[] = [];
  const listen = (request: Request) => requests.push(request);
  page.on('request', listen);
  const before = await page.evaluate<number>('asked');
  await page.clock.runFor(milliseconds);
  await untilAnswered(page);
  // The browser tells of its requests a moment later.
  const asked = (await page.evaluate<number>('asked')) - before;
  await eventually(async () => expect(requests).to.have.length(asked));
  page.off('request', listen);
  return Promise.all(
    requests.map(async (request) => (await request.response()) ?? expect.fail(request.url())),
  );
}

/**
 * Opens a page whose clock stands in the middle of an hour, because charts ask for other hours at its end. From then on it
 * goes only when the test moves it, so no poll comes by itself.
 */
async function openIdle(
  shown: ConsoleUnderTest,
  path: string,
): Promise<WatchedPage & { etags: Map<string, string | undefined> }> {
  const opened = await shown.open(PLAIN, { allows: ALLOWED });
  const { page } = opened;
  const etags = new Map<string, string | undefined>();
  page.on('response', (answer) => {
    if (answer.status() === 200) etags.set(answer.url(), answer.headers()['etag']);
  });
  const time = new Date();
  time.setMinutes(30);
  await page.clock.install({ time });
  await page.addInitScript(COUNTED);
  await page.goto(shown.base + path);
  await ready(page);
  // Some figures within the page come later, and on a busy machine much later.
  await page.waitForLoadState('networkidle');
  await page.clock.pauseAt((await page.evaluate<number>('Date.now()')) + INTERVAL);
  await untilAnswered(page);
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
    await proposeChange(shown.hawser.admin, shown.site);
  });

  for (const part of ['fleet', 'content', 'server'] as const)
    it(`is at most 100 KB for a first visit, and nothing of it twice: ${part}`, async function () {
      this.timeout(600_000);
      const faults: string[] = [];
      for (const { name, path } of pagesOf(shown.site, part)) {
        const { page, close } = await shown.open(PLAIN, { allows: ALLOWED });
        // The editor is loaded when the rest of its page is there, and the text can be changed without it.
        await page.route('**/ui/assets/open-*.js', (route) => route.abort());
        await page.addInitScript(WITHOUT_POLLS);
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
