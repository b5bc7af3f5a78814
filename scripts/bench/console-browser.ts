/** Opens pages of the console in a real Chromium, and lets each page itself say when it was ready. */

import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core';
import { startBrowser } from '../../test/support/browser.ts';
import type { Endpoint } from './messages.ts';
import { sessionCookie } from './probe.ts';

const VIEWPORT = { width: 1440, height: 900 };

/**
 * Runs in each page before its own scripts. A page is ready when its main element and all parts of it say so, and the
 * browser has painted that. Times are milliseconds since the navigation began.
 */
const WATCH = `(() => {
  const isReady = () => {
    const main = document.querySelector('main[data-state="ready"][aria-busy="false"]');
    return main !== null && main.querySelector('[aria-busy="true"]') === null;
  };
  const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now()))));
  const when = (holds) => new Promise((done) => {
    if (holds()) return done();
    const watcher = new MutationObserver(() => {
      if (!holds()) return;
      watcher.disconnect();
      done();
    });
    watcher.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  });
  globalThis.bench = {
    ready: when(isReady).then(painted),
    loaded: new Promise((done) => addEventListener('load', () => done(painted()))),
    async after(act, holds) {
      const start = performance.now();
      act();
      await when(holds);
      return (await painted()) - start;
    },
  };
})()`;

/** One server, as a user who has signed in sees it. */
export class ConsoleBrowser {
  private readonly browser: Browser;
  private readonly base: string;
  private readonly cookie: string;

  private constructor(browser: Browser, base: string, cookie: string) {
    this.browser = browser;
    this.base = base;
    this.cookie = cookie;
  }

  /** Starts a Chromium and signs in to each of the servers. */
  static async start(endpoints: readonly Endpoint[]): Promise<{ seen: ConsoleBrowser[]; browser: Browser }> {
    const browser = await startBrowser();
    const seen: ConsoleBrowser[] = [];
    for (const endpoint of endpoints) {
      const base = `https://localhost:${endpoint.port}`;
      seen.push(new ConsoleBrowser(browser, base, await sessionCookie(endpoint)));
    }
    return { seen, browser };
  }

  /** A browser with an empty cache, to whose pages nobody has signed in. */
  async stranger(): Promise<BrowserContext> {
    const context = await this.browser.newContext({ ignoreHTTPSErrors: true, viewport: VIEWPORT });
    await context.addInitScript(WATCH);
    return context;
  }

  /** A browser with an empty cache and a session. */
  async user(): Promise<BrowserContext> {
    const context = await this.stranger();
    const [name = '', value = ''] = this.cookie.split('=');
    await context.addCookies([{ name, value, url: this.base, secure: true, httpOnly: true }]);
    return context;
  }

  /** Opens a page. @returns the milliseconds from the navigation until it was ready */
  async open(page: Page, path: string): Promise<number> {
    await page.goto(this.base + path);
    return page.evaluate<number>('bench.ready');
  }

  /** The same for a page that is not of the console: until its load event was painted. */
  async openPlain(page: Page, path: string): Promise<number> {
    await page.goto(this.base + path);
    return page.evaluate<number>('bench.loaded');
  }
}

/** The bytes of all answers below a path, with their headers, as they come over the wire. */
export class Traffic {
  requests = 0;
  bytes = 0;
  private readonly meant = new Set<string>();

  constructor(cdp: CDPSession, below: string) {
    cdp.on('Network.requestWillBeSent', ({ requestId, request }) => {
      if (new URL(request.url).pathname.startsWith(below)) this.meant.add(requestId);
    });
    cdp.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      if (!this.meant.has(requestId)) return;
      this.requests += 1;
      this.bytes += encodedDataLength;
    });
  }
}
