/**
 * A Chromium without a window, for tests of what people see. It can reach only the server under test. The Chromium with
 * windows takes twice the time: it draws a frame around each page, which nobody sees.
 */

import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';
import { findChromium } from './chromium.ts';

/** These arguments obey the network rules of the machine: Chromium makes no network calls of its own. */
const ARGUMENTS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
  // A context that ignores errors of TLS begins each request anew for each connection that has one. On a busy machine a
  // request then ends with ERR_TOO_MANY_RETRIES. With this argument there is no error from the start.
  '--ignore-certificate-errors',
];

/** @throws Error that says what to install where the browser is missing; no test is skipped for that */
export async function startBrowser(): Promise<Browser> {
  const { executablePath, env } = findChromium();
  return chromium.launch({ executablePath, env: { ...process.env, ...env }, args: ARGUMENTS });
}

export interface WatchedPage {
  page: Page;
  /** Descriptions of requests to other hosts, errors in the console, and violations of a content security policy. */
  faults: string[];
  close(): Promise<void>;
}

export interface WatchOptions extends BrowserContextOptions {
  /** What the console may not say; only errors if it is missing. */
  isFault?: (type: string, text: string) => boolean;
}

/** Opens a page that shares no cookies with others. It trusts the server's certificate, and records faults. */
export async function openPage(
  browser: Browser,
  host: string,
  { isFault = (type) => type === 'error', ...options }: WatchOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true, ...options });
  const faults: string[] = [];
  await refuseOthers(context, host, faults);
  await context.exposeFunction(REPORT, (violation: string) => faults.push(`policy: ${violation}`));
  await context.addInitScript(reportViolations, REPORT);
  const page = await context.newPage();
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('console', (message) => {
    const [type, text] = [message.type(), message.text()];
    if (isFault(type, text)) faults.push(`console: ${type}: ${text}`);
  });
  return { page, faults, close: () => context.close() };
}

const REPORT = 'reportViolationToTest';

/** Runs in the page. Chromium writes most violations to the console as well, but not those of Trusted Types. */
function reportViolations(name: string): void {
  const scope = globalThis as unknown as {
    document: { addEventListener(name: string, listen: (event: Violation) => void): void };
  } & Record<string, (violation: string) => void>;
  scope.document.addEventListener('securitypolicyviolation', (event) => {
    scope[name]?.(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
  });
}

interface Violation {
  violatedDirective: string;
  blockedURI: string;
  sample: string;
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
