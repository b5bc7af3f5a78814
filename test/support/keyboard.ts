/** The keyboard alone: moves through a page as people do who have no mouse. */

import type { Locator, Page } from 'playwright-core';

/** So many steps are enough for any page that somebody would still use by the keyboard. */
const MOST_STEPS = 200;

/** Presses the key until the element has the focus, in a shadow root too. */
export async function moveTo(page: Page, target: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  await target.waitFor();
  for (let step = 0; step < MOST_STEPS; step += 1) {
    if (await target.evaluate(hasFocus)) return;
    await page.keyboard.press(key);
  }
  throw new Error(`${key} does not lead to ${target}`);
}

/** It runs in the page. The document names the element that holds the shadow root, and that one the element in it. */
function hasFocus(element: { getRootNode(): object }): boolean {
  return Reflect.get(element.getRootNode(), 'activeElement') === element;
}
