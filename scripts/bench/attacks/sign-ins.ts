/** Wrong sign-ins from many addresses, and a correct one from another address. */

import { setTimeout as sleep } from 'node:timers/promises';
import { SECOND } from '../../../src/lib/clock.ts';
import { ADMIN_PASSWORD } from '../processes.ts';
import { type Attack, TEN_REQUESTS } from './attack.ts';
import type { Caller } from './caller.ts';

const ADDRESSES = ['2', '3', '4', '5', '6', '7', '8', '9'].map((last) => `127.0.0.${last}`);
const NINTH = '127.0.0.10';
const EACH = { full: 30, quick: 8 };

export const SIGN_INS: Attack = {
  name: 'sign-ins',
  label: 'a sign-in under attack: 8 addresses, 240 wrong ones',
  waitLimit: TEN_REQUESTS,
  timed: { what: 'a right one from a ninth address', limit: 10 * SECOND },
  async prepare(site) {
    const attackers = ADDRESSES.map((from) => site.caller({ from }));
    const user = site.caller({ from: NINTH });
    return async () => {
      const wrong = attackers.flatMap((attacker, at) =>
        Array.from({ length: site.amount(EACH.full, EACH.quick) }, (_, attempt) =>
          signIn(attacker, `nobody-${at}-${attempt}`, 'a-wrong-password'),
        ),
      );
      // By then most of them have arrived and wait for their turn.
      await sleep(SECOND / 2);
      const right = await signIn(user, 'admin', ADMIN_PASSWORD);
      // Any answer but 200 means that the user could not sign in, however fast the answer was.
      site.took(right.status === 200 ? right.milliseconds : Number.POSITIVE_INFINITY);
      await Promise.all(wrong);
    };
  },
};

function signIn(caller: Caller, username: string, password: string): ReturnType<Caller['ask']> {
  return caller.ask({ method: 'POST', path: '/api/v1/auth/login', body: { json: { username, password } } });
}
