/** The console in a real browser: a server with a seeded site, pages that are watched, and what every page must keep. */

import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import type { PageState } from '../../scripts/console/pages.ts';
import { type Site, seedSite } from '../../scripts/console/seed.ts';
import type { Role } from '../../scripts/console/site/people.ts';
import { PROJECT } from '../../scripts/support/project.ts';
import { DAY } from '../../src/lib/clock.ts';
import type { Tuning } from '../../src/stores.ts';
import { openPage, startBrowser, type WatchedPage } from './browser.ts';
import { ADMIN_PASSWORD, type Hawser, startHawser, TestClock } from './hawser.ts';

/** Wide enough for all columns, and as narrow as WCAG 2.2 asks for (1.4.10). */
export const WIDTHS = [1440, 320] as const;
export const THEMES = ['light', 'dark'] as const;
/** In milliseconds. The machine may do much else meanwhile. */
const PATIENCE = 60_000;

export interface ConsoleWish {
  /** The number of seeded nodes. More than 100 fill a second page of a list. Null makes no site at all. */
  nodes?: number | null;
  /** The site has a day behind it, so that charts show something. */
  hasHistory?: boolean;
  /** HAWSER_* variables. */
  settings?: Record<string, string>;
  tuning?: Tuning;
}

export interface View {
  /** Who looks; null: nobody has signed in. `admin` if it is missing. */
  user?: Role | null;
  theme?: (typeof THEMES)[number];
  width?: (typeof WIDTHS)[number];
  /** What the browser's console may say all the same, such as that a request was refused. */
  allows?: RegExp;
  /** The test moves the page's clock itself, by `page.clock`. It goes on by itself too. */
  movesClock?: boolean;
}

export interface ConsoleUnderTest {
  hawser: Hawser;
  /** What was made; with `nodes: null` reading it fails. */
  site: Site;
  browser: Browser;
  /** `https://localhost:<port>` */
  base: string;
  /**
   * Opens a page of the console, signed in as the user, for as long as the work takes. It does not wait until the page
   * is ready. Fails if the page did anything that the console must not do.
   */
  look(path: string, view: View, work: (page: Page) => Promise<void>): Promise<void>;
  /** Opens such a page. Its close fails if the page did anything that the console must not do. */
  open(path: string, view?: View): Promise<WatchedPage>;
  /** Signs in by the form of the sign-in page, which the page shows already. */
  signIn(page: Page, user: Role): Promise<void>;
  close(): Promise<void>;
}

/** Starts it all; once for each file of tests. Builds the console first where it is not built yet. */
export async function startConsole(wish: ConsoleWish = {}): Promise<ConsoleUnderTest> {
  buildConsole();
  const browser = await startBrowser();
  const { hawser, site } = await startSeeded(wish).catch(async (error: unknown) => {
    await browser.close();
    throw error;
  });
  const base = `https://localhost:${hawser.server.port}`;
  const sessions = new Map<Role, BrowserContextOptions['storageState']>();
  const passwordOf = (user: Role) => site?.users[user] ?? { username: user, password: ADMIN_PASSWORD };
  const signIn = async (page: Page, user: Role) => {
    const { username, password } = passwordOf(user);
    await page.getByLabel('User name').fill(username);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
  };
  const openAs = async (user: Role | null, view: View): Promise<WatchedPage> => {
    const state = user === null ? undefined : sessions.get(user);
    return openPage(browser, new URL(base).host, {
      ...optionsOf(view),
      ...(state && { storageState: state }),
    });
  };
  /** Sign-ins are limited by the minute, so pages share the session of their user. */
  const prepare = async (user: Role) => {
    if (sessions.has(user)) return;
    const { page, close } = await openAs(null, {});
    await page.goto(`${base}/login`);
    await signIn(page, user);
    await page.waitForURL((url) => url.pathname !== '/login' || url.searchParams.size === 0);
    await page
      .getByText(/signed in as/)
      .or(page.locator('main[data-state]'))
      .first()
      .waitFor();
    sessions.set(user, await page.context().storageState());
    await close();
  };
  const open = async (path: string, view: View = {}): Promise<WatchedPage> => {
    const user = view.user === undefined ? 'admin' : view.user;
    if (user !== null) await prepare(user);
    const opened = await openAs(user, view);
    opened.page.setDefaultTimeout(PATIENCE);
    if (view.movesClock) await opened.page.clock.install();
    await opened.page.goto(base + path);
    const close = async () => {
      await opened.close();
      expect(opened.faults, path).to.deep.equal([]);
    };
    return { ...opened, close };
  };
  return {
    ...{ hawser, browser, base, signIn },
    site: site as Site,
    async look(path, view, work) {
      const { page, faults, close } = await open(path, view);
      try {
        await work(page);
      } catch (error) {
        if (error instanceof Error)
          error.message += `\nThe page is ${page.url()}, its faults are: ${faults.join('; ')}`;
        await page.context().close();
        throw error;
      }
      await close();
    },
    open,
    async close() {
      site?.close();
      await browser.close();
      await hawser.close();
    },
  };
}

function buildConsole(): void {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/build.js'], {
    cwd: PROJECT,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`the console cannot be built: ${stderr}`);
}

async function startSeeded(wish: ConsoleWish): Promise<{ hawser: Hawser; site: Site | null }> {
  const { nodes = 120, hasHistory = false, settings = {}, tuning } = wish;
  const clock = new TestClock();
  if (hasHistory) clock.advance(-DAY);
  const hawser = await startHawser(settings, { clock, ...tuning });
  if (nodes === null) return { hawser, site: null };
  const passTime = (milliseconds: number) => clock.advance(milliseconds);
  try {
    const options = { nodes, ...(hasHistory && { passTime }) };
    return { hawser, site: await seedSite(hawser.target(), ADMIN_PASSWORD, options) };
  } catch (error) {
    await hawser.close();
    throw error;
  }
}

function optionsOf({ theme = 'light', width = 1440, allows }: View) {
  return {
    colorScheme: theme,
    viewport: { width, height: width === 320 ? 800 : 900 },
    // Nothing that the console says is wanted, not even a hint.
    isFault: (_type: string, text: string) => !allows?.test(text),
  };
}

/** What Chromium writes itself when the server refuses a request, such as one for what the user may not see. */
export const REFUSED_REQUEST = /^Failed to load resource: the server responded with a status of 4\d\d/;

/** Waits until the page has settled in this state, with all its parts. */
export async function ready(page: Page, state: PageState = 'ready'): Promise<void> {
  const main = page.locator('main[data-state]');
  const settled = page.locator(`main[data-state="${state}"][aria-busy="false"]`);
  await settled.waitFor({ timeout: PATIENCE }).catch(async (error: Error) => {
    const [shown, text] = await Promise.all([
      main.getAttribute('data-state', { timeout: 1_000 }).catch(() => 'no main with data-state'),
      page.locator('body').innerText(),
    ]);
    throw new Error(`${page.url()} is ${shown}, not ${state}: ${text.slice(0, 600)}\n${error.message}`);
  });
  await main.locator('[aria-busy="true"]').first().waitFor({ state: 'detached', timeout: PATIENCE });
}

/** Fails if somebody would have to scroll sideways to read the page. Wide tables may scroll within themselves. */
export async function noHorizontalScroll(page: Page): Promise<void> {
  const { shown, needed } = await page.evaluate<{ shown: number; needed: number }>(`({
    shown: document.documentElement.clientWidth, needed: document.documentElement.scrollWidth })`);
  expect(needed, `${page.url()} is ${needed} px wide in a window of ${shown} px`).to.be.at.most(shown);
}
