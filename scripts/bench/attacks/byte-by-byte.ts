/** Bodies of sign-ins with one chunk for each byte. Nobody has to be known to the server to send them. */

import { setTimeout as sleep } from 'node:timers/promises';
import { SECOND } from '../../../src/lib/clock.ts';
import { byteByByte, chunkedHead } from '../../../test/support/attacks/requests.ts';
import { type Attack, TEN_REQUESTS } from './attack.ts';
import { type Site, until } from './site.ts';

const CONNECTIONS = 24;
/**
 * Bytes of the body; on the wire it is six times as many. They are within the limit of JSON. With a megabyte each it
 * would be 10 GB.
 */
const BYTES = { full: 200_000, quick: 40_000 };
const BYTES_AT_ONCE = 2_000;
const LIMIT = 15 * SECOND;
const HOLD = 2 * SECOND;

export const BYTE_BY_BYTE: Attack = {
  name: 'byte-by-byte',
  label: 'a sign-in body byte by byte, 24 connections',
  waitLimit: TEN_REQUESTS,
  async prepare(site) {
    const piece = byteByByte(Buffer.alloc(BYTES_AT_ONCE, 'a'));
    return async () => {
      const sending = Promise.all(Array.from({ length: CONNECTIONS }, () => sendBytes(site, piece)));
      let isOver = false;
      void sending.then(() => {
        isOver = true;
      });
      await until(() => isOver, LIMIT);
      await sleep(HOLD);
    };
  },
};

/** Never ends the body. */
async function sendBytes(site: Site, piece: Buffer): Promise<void> {
  const connection = await site.raw({});
  if (connection === null) return;
  await connection.send(chunkedHead('/api/v1/auth/login', 'application/json'));
  await connection.send(byteByByte(Buffer.from('{"username":"')));
  const pieces = site.amount(BYTES.full, BYTES.quick) / BYTES_AT_ONCE;
  for (let sent = 0; sent < pieces && !connection.isClosed; sent += 1) await connection.send(piece);
}
