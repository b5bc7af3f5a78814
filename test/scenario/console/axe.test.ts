// full: SQLite
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { type ConsolePage, otherStatesOf, pagesOf } from '../../../scripts/console/pages.ts';
import { rollOutDatabase } from '../../../scripts/console/site/rollout.ts';
import { axe } from '../../support/axe.ts';
import {
  type ConsoleUnderTest,
  noHorizontalScroll,
  REFUSED_REQUEST,
  ready,
  startConsole,
  THEMES,
  WIDTHS,
} from '../../support/console.ts';
import { started } from '../../support/started.ts';

/** One cause may be a barrier in each row of a table. */
const SHOWN = 5;

/** Looks at the page in both themes and at both widths. */
async function lookAt(page: Page, where: string): Promise<string[]> {
  const barriers: string[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    await noHorizontalScroll(page);
    for (const theme of THEMES) {
      await page.emulateMedia({ colorScheme: theme });
      const found = await axe(page, theme === THEMES[0] ? 'all' : 'colours');
      barriers.push(...found.map((line) => `${where}, ${width} px, ${theme}: ${line}`));
    }
  }
  return barriers;
}

async function check(shown: ConsoleUnderTest, wish: ConsolePage): Promise<void> {
  const { path, heading, user = 'admin', state = 'ready', name } = wish;
  const isRefused = state === 'forbidden' || state === 'error';
  await shown.look(path, { user, ...(isRefused && { allows: REFUSED_REQUEST }) }, async (page) => {
    await ready(page, state);
    const headings = await page.locator('h1').allInnerTexts();
    expect(headings, 'h1').to.have.length(1);
    if (typeof heading === 'string') expect(headings[0]).to.equal(heading);
    else expect(headings[0]).to.match(heading);
    expect(await page.title()).to.match(/ - Hawser$/);
    const barriers = await lookAt(page, name);
    expect(barriers, barriers.slice(0, SHOWN).join('\n')).to.have.length(0);
  });
}

describe('every page of the console', () => {
  const shown = started(() => startConsole({ hasHistory: true }));

  before(async () => {
    await rollOutDatabase(shown.hawser.admin, shown.site);
  });

  // The names and ids of the site are known only once it is there, so the pages are gone through by their places.
  for (const part of ['fleet', 'content', 'server'] as const) {
    it(`has no barrier, in both themes and at both widths: ${part}`, async function () {
      this.timeout(600_000);
      const faults: string[] = [];
      for (const wish of pagesOf(shown.site, part))
        await check(shown, wish).catch((error: Error) => faults.push(`${wish.name}: ${error.message}`));
      expect(faults, faults.join('\n')).to.deep.equal([]);
    });
  }

  it('has none either where there is nothing to see, or where somebody may not look', async function () {
    this.timeout(600_000);
    const faults: string[] = [];
    for (const wish of otherStatesOf(shown.site))
      await check(shown, wish).catch((error: Error) => faults.push(`${wish.name}: ${error.message}`));
    expect(faults, faults.join('\n')).to.deep.equal([]);
  });
});
