/** Whether somebody sits before the page. What the page asks by itself must not keep the session alive. */

/** In milliseconds. What is asked so soon after a key, a click or the opening of the page was asked by a person. */
const REACH = 10_000;

/** In epoch milliseconds. Opening the page is a deed too. */
let lastDeed = Date.now();

function noteDeed(): void {
  lastDeed = Date.now();
}

for (const event of ['keydown', 'pointerdown', 'popstate', 'drop'])
  addEventListener(event, noteDeed, { capture: true, passive: true });

/** Says whether a person did something just now. */
export function isAttended(): boolean {
  return Date.now() - lastDeed < REACH;
}
