// full: SQLite
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { type ConsolePage, otherStatesOf, pagesOf } from '../../../scripts/console/pages.ts';
import { proposeChange } from '../../../scripts/console/site/change-set.ts';
import { rollOutDatabase } from '../../../scripts/console/site/rollout.ts';
import { axe } from '../../support/axe.ts';
import type { WatchedPage } from '../../support/browser.ts';
import { noHorizontalScroll, REFUSED_REQUEST, ready, startConsole } from '../../support/console.ts';
import { started } from '../../support/started.ts';

/** One cause may be a barrier in each row of a table. */
const SHOWN = 5;

/** All rules are asked once at each width, and the colours in each theme. */
const LOOKS = [
  { width: 1440, theme: 'light', rules: 'all' },
  { width: 1440, theme: 'dark', rules: 'colours' },
  { width: 320, theme: 'dark', rules: 'all' },
] as const;

async function lookAt(page: Page, where: string): Promise<string[]> {
  const barriers: string[] = [];
  for (const { width, theme, rules } of LOOKS) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: theme });
    await noHorizontalScroll(page);
    const found = await axe(page, rules);
    barriers.push(...found.map((line) => `${where}, ${width} px, ${theme}: ${line}`));
  }
  return barriers;
}

describe('every page of the console', function () {
  this.timeout(600_000);
  const shown = started(() => startConsole({ hasHistory: true }));
  /** A new tab takes as long as a look, so each user has one, and one where refusals are expected. */
  const tabs = new Map<string, WatchedPage>();

  before(async () => {
    await rollOutDatabase(shown.hawser.admin, shown.site);
    await proposeChange(shown.hawser.admin, shown.site);
  });

  async function goTo({ path, user = 'admin', state }: ConsolePage): Promise<WatchedPage> {
    const isRefused = state === 'forbidden' || state === 'error';
    const key = `${user} ${isRefused}`;
    const tab = tabs.get(key);
    if (tab === undefined) {
      const opened = await shown.open(path, { user, ...(isRefused && { allows: REFUSED_REQUEST }) });
      tabs.set(key, opened);
      return opened;
    }
    const { width, theme } = LOOKS[0];
    await tab.page.setViewportSize({ width, height: 900 });
    await tab.page.emulateMedia({ colorScheme: theme });
    await tab.page.goto(shown.base + path);
    return tab;
  }

  async function check(wish: ConsolePage): Promise<void> {
    const { heading, state = 'ready', name } = wish;
    const { page, faults } = await goTo(wish);
    await ready(page, state);
    const headings = await page.locator('h1').allInnerTexts();
    expect(headings, 'h1').to.have.length(1);
    if (typeof heading === 'string') expect(headings[0]).to.equal(heading);
    else expect(headings[0]).to.match(heading);
    expect(await page.title()).to.match(/ - Hawser$/);
    const barriers = await lookAt(page, name);
    expect(barriers, barriers.slice(0, SHOWN).join('\n')).to.have.length(0);
    expect(faults.splice(0)).to.deep.equal([]);
  }

  async function checkAll(wishes: readonly ConsolePage[]): Promise<void> {
    const faults: string[] = [];
    for (const wish of wishes)
      await check(wish).catch((error: Error) => faults.push(`${wish.name}: ${error.message}`));
    expect(faults, faults.join('\n')).to.deep.equal([]);
  }

  // The names and ids of the site are known only once it is there, so the pages are gone through by their places.
  for (const part of ['fleet', 'content', 'server'] as const)
    it(`has no barrier, in both themes and at both widths: ${part}`, () =>
      checkAll(pagesOf(shown.site, part)));

  it('has none either where there is nothing to see, or where somebody may not look', () =>
    checkAll(otherStatesOf(shown.site)));
});
