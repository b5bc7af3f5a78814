/** The feed of events, which the leader numbers a moment after they were written. */

import { expect } from 'chai';
import { withDatabase } from './database.ts';
import { eventually } from './eventually.ts';
import type { Hawser } from './hawser.ts';

/** Waits until each event has its position. @returns how many there are */
export function untilNumbered(hawser: Hawser): Promise<number> {
  return eventually(async () => {
    const events = await withDatabase(hawser, ({ read }) =>
      read.selectFrom('events').select('position').execute(),
    );
    expect(events.every(({ position }) => position !== null)).to.equal(true);
    return events.length;
  });
}
