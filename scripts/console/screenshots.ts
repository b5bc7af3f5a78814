/**
 * `npm run screenshots` makes pictures of all pages of the console, in both themes and at both widths, from a server with
 * a seeded site. `npm run screenshots -- --docs` makes those of the six main pages that stand in docs/pictures.
 */

import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type ConsoleUnderTest, ready, startConsole, THEMES, WIDTHS } from '../../test/support/console.ts';
import { type ConsolePage, otherStatesOf, pagesOf } from './pages.ts';

const USAGE = 'usage: npm run screenshots [-- --docs | <folder>]';
const DOCS = resolve(import.meta.dirname, '../../docs/pictures');
/** The pages whose pictures stand in the documents. */
const MAIN = ['fleet', 'nodes', 'node', 'compare', 'review', 'parameters'];

interface Look {
  theme: (typeof THEMES)[number];
  width: (typeof WIDTHS)[number];
}

async function photograph(
  shown: ConsoleUnderTest,
  { path, user = 'admin', state }: ConsolePage,
  { theme, width }: Look,
  prepareAndSave: (page: Awaited<ReturnType<ConsoleUnderTest['open']>>['page']) => Promise<unknown>,
): Promise<void> {
  const { page, close } = await shown.open(path, { user, theme, width, allows: /^Failed to load resource/ });
  try {
    await ready(page, state);
    await prepareAndSave(page);
  } finally {
    await close();
  }
}

/** The review shows whom the version touches once somebody has asked for it. */
async function previewImpact(page: Parameters<Parameters<typeof photograph>[3]>[0]): Promise<void> {
  await page.getByRole('button', { name: 'Preview impact' }).click();
  await page
    .getByText(/\d+ of \d+ nodes|nodes? (would )?change/)
    .first()
    .waitFor();
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

async function takeAll(shown: ConsoleUnderTest, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const wish of [...pagesOf(shown.site), ...otherStatesOf(shown.site)])
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

async function main(folder: string | null): Promise<void> {
  const shown = await startConsole({ nodes: 200, hasHistory: true });
  try {
    if (folder === null) await takeForDocs(shown);
    else await takeAll(shown, folder);
  } finally {
    await shown.close();
  }
}

const [wish, ...more] = process.argv.slice(2);
if (more.length > 0 || (wish?.startsWith('-') && wish !== '--docs')) {
  console.error(USAGE);
  process.exitCode = 2;
} else {
  await main(wish === '--docs' ? null : (wish ?? mkdtempSync(join(tmpdir(), 'hawser-screenshots-')))).catch(
    fail,
  );
}
