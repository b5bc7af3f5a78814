/** The keyboard alone: moves through a page as people do who have no mouse. */

import type { Locator, Page } from 'playwright-core';

/** So many steps are enough for any page that somebody would still use by the keyboard. */
const MOST_STEPS = 200;

/** Presses the key until the element has the focus, in a shadow root too. @returns how often */
export async function moveTo(page: Page, target: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<number> {
  await target.waitFor();
  for (let step = 0; step < MOST_STEPS; step += 1) {
    if (await target.evaluate(hasFocus)) return step;
    await page.keyboard.press(key);
  }
  throw new Error(`${key} does not lead to ${target}`);
}

/** It runs in the page. The document names the element that holds the shadow root, and that one the element in it. */
function hasFocus(element: { getRootNode(): object }): boolean {
  return Reflect.get(element.getRootNode(), 'activeElement') === element;
}

export interface CountedKeys {
  /** How often a key was pressed that moves the focus, and any other one; how many letters and digits were typed. */
  counts: { moves: number; others: number; typed: number };
  /** Moves there and presses Enter. */
  press(target: Locator): Promise<void>;
  /** Moves there and types. */
  type(target: Locator, text: string): Promise<void>;
  /** A key where the focus is, such as ArrowRight. */
  key(name: string): Promise<void>;
}

/** Uses a page by the keyboard alone, and counts what a person would press. */
export function countedKeys(page: Page): CountedKeys {
  const counts = { moves: 0, others: 0, typed: 0 };
  const key = async (name: string) => {
    counts.others += 1;
    await page.keyboard.press(name);
  };
  const move = async (target: Locator) => {
    counts.moves += await moveTo(page, target);
  };
  return {
    counts,
    key,
    async press(target) {
      await move(target);
      await key('Enter');
    },
    async type(target, text) {
      await move(target);
      counts.typed += text.length;
      await page.keyboard.type(text);
    },
  };
}
