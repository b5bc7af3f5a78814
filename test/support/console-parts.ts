/** Opens pages of the console, and finds what many of them have. */

import type { Locator, Page } from 'playwright-core';
import type { WatchedPage } from './browser.ts';
import { type ConsoleUnderTest, ready, type View } from './console.ts';

/** Opens a page and waits until it is ready. */
export async function visit(shown: ConsoleUnderTest, path: string, view?: View): Promise<WatchedPage> {
  const opened = await shown.open(path, view);
  await ready(opened.page);
  return opened;
}

export const button = (within: Pick<Page, 'getByRole'>, name: string): Locator =>
  within.getByRole('button', { name, exact: true });

/** Waits until the page says in its status that something was done. */
export const said = (page: Page, text: string): Promise<void> =>
  page.getByRole('status').filter({ hasText: text }).waitFor();

/** Where a refusal of the server with this code is shown. */
export const refusal = (within: Pick<Page, 'locator'>, code: string): Locator =>
  within.locator(`[role="alert"][data-code="${code}"]`);
