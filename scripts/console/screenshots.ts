/**
 * `npm run screenshots` makes pictures of all pages of the console, in both themes and at both widths, from a server with
 * a seeded site; with names after the folder, only those. `npm run screenshots -- --docs` makes those of the seven main pages that stand in docs/pictures.
 */

import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { type ConsoleUnderTest, ready, startConsole, THEMES, WIDTHS } from '../../test/support/console.ts';
import { PROJECT } from '../support/project.ts';
import { type ConsolePage, otherStatesOf, pagesOf } from './pages.ts';
import { proposeChange } from './site/change-set.ts';
import { rollOutDatabase } from './site/rollout.ts';

const USAGE = 'usage: npm run screenshots [-- --docs | <folder> [<page>...]]';
const DOCS = resolve(PROJECT, 'docs/pictures');
/** The pages whose pictures stand in the documents. */
const MAIN = ['fleet', 'nodes', 'node', 'compare', 'review', 'parameters', 'rollout'];

interface Look {
  theme: (typeof THEMES)[number];
  width: (typeof WIDTHS)[number];
}

function photograph(
  shown: ConsoleUnderTest,
  { path, user = 'admin', state }: ConsolePage,
  look: Look,
  save: (page: Page) => Promise<unknown>,
): Promise<void> {
  return shown.look(path, { user, ...look, allows: /^Failed to load resource/ }, async (page) => {
    await ready(page, state);
    await save(page);
  });
}

/** The review shows whom the version touches once somebody has asked for it. */
async function previewImpact(page: Page): Promise<void> {
  const ask = page.getByRole('button', { name: 'Preview impact' });
  await ask.click();
  await page.getByText(/would change,/).waitFor();
  await ready(page);
  await ask.evaluate((button: unknown) =>
    (button as { scrollIntoView: (options: { block: string }) => void }).scrollIntoView({ block: 'start' }),
  );
}

async function takeForDocs(shown: ConsoleUnderTest): Promise<void> {
  const pages = pagesOf(shown.site).filter(({ name }) => MAIN.includes(name));
  for (const wish of pages) {
    const path = join(DOCS, `console-${wish.name}.png`);
    await photograph(shown, wish, { theme: 'light', width: 1440 }, async (page) => {
      if (wish.name === 'review') await previewImpact(page);
      await page.screenshot({ path, animations: 'disabled', caret: 'hide' });
    });
    console.log(path);
  }
}

async function takeAll(shown: ConsoleUnderTest, folder: string, names: readonly string[]): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const pages = [...pagesOf(shown.site), ...otherStatesOf(shown.site)];
  for (const wish of pages.filter(({ name }) => names.length === 0 || names.includes(name)))
    for (const theme of THEMES)
      for (const width of WIDTHS) {
        const path = join(folder, `${wish.name}-${theme}-${width}.png`);
        const take = photograph(shown, wish, { theme, width }, (page) =>
          page.screenshot({ path, fullPage: true, animations: 'disabled', caret: 'hide' }),
        );
        // A page that fails must not keep the others from their pictures.
        await take.then(() => console.log(path), fail);
      }
}

function fail(error: Error): void {
  console.error(`screenshots: ${error.message}`);
  process.exitCode = 1;
}

async function main(folder: string | null, names: readonly string[]): Promise<void> {
  const shown = await startConsole({ nodes: 200, hasHistory: true });
  try {
    await rollOutDatabase(shown.hawser.admin, shown.site);
    await proposeChange(shown.hawser.admin, shown.site);
    if (folder === null) await takeForDocs(shown);
    else await takeAll(shown, folder, names);
  } finally {
    await shown.close();
  }
}

const [wish, ...names] = process.argv.slice(2);
if (wish === '--docs' ? names.length > 0 : wish?.startsWith('-')) {
  console.error(USAGE);
  process.exitCode = 2;
} else {
  const folder = wish ?? mkdtempSync(join(tmpdir(), 'hawser-screenshots-'));
  await main(wish === '--docs' ? null : folder, names).catch(fail);
}
