/** Debian's Chromium, for tests of what people see. It can reach only the server under test. */

import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

const CHROMIUM = '/usr/bin/chromium';

/** If it is false, a suite calls `this.skip` and gives the reason in its name. */
export const hasBrowser = existsSync(CHROMIUM);

/** These arguments obey the network rules of the machine: Chromium makes no network calls of its own. */
const ARGUMENTS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
];

export function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: ARGUMENTS });
}

export interface WatchedPage {
  page: Page;
  /** Descriptions of requests to other hosts, errors in the console, and violations of a content security policy. */
  faults: string[];
  close(): Promise<void>;
}

/** Opens a page that shares no cookies with others. It trusts the server's certificate, and records faults. */
export async function openPage(browser: Browser, host: string): Promise<WatchedPage> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  const faults: string[] = [];
  await refuseOthers(context, host, faults);
  const page = await context.newPage();
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('console', (message) => {
    // Chromium reports violations of the policy as errors too.
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
