/** Debian's Chromium, for what people see: it reaches the server under test and nothing else. */

import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

const CHROMIUM = '/usr/bin/chromium';

/** To be given to `this.skip` with a reason in the name of the suite. */
export const hasBrowser = existsSync(CHROMIUM);

/** As the machine's own network rules want it: no call of Chromium's own goes out. */
const ARGUMENTS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
];

export function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: ARGUMENTS });
}

export interface WatchedPage {
  page: Page;
  /** Requests to other hosts, errors in the console, and violations of a content security policy, in words. */
  faults: string[];
  close(): Promise<void>;
}

/** A page without cookies of any other, which trusts the server's certificate and takes down what goes wrong. */
export async function openPage(browser: Browser, host: string): Promise<WatchedPage> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  const faults: string[] = [];
  await refuseOthers(context, host, faults);
  const page = await context.newPage();
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('console', (message) => {
    // Violations of the policy are told as errors too.
    if (message.type() === 'error') faults.push(`console: ${message.text()}`);
  });
  return { page, faults, close: () => context.close() };
}

async function refuseOthers(context: BrowserContext, host: string, faults: string[]): Promise<void> {
  await context.route(
    (url) => url.host !== host && !['data:', 'blob:'].includes(url.protocol),
    (route) => {
      faults.push(`request to ${route.request().url()}`);
      return route.abort();
    },
  );
}
