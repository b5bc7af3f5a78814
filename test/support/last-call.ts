/** Waits until the server has written when a node called, which it does once a second. */

import { expect } from 'chai';
import type { Client } from './client.ts';
import { eventually } from './eventually.ts';
import { ok } from './replies.ts';

/** @param at epoch milliseconds at which the node called last. It changes no more between two answers afterwards. */
export function lastCallWritten(admin: Client, nodeId: string, at: number): Promise<void> {
  return eventually(async () => {
    const { lastCheckIn } = await ok(200, admin.get(`/api/v1/nodes/${nodeId}`));
    expect(Date.parse(lastCheckIn)).to.be.at.least(at);
  });
}
