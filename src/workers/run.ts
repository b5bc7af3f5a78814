/** A worker's life: what the primary says it is to be, then a server like any other. */

import cluster from 'node:cluster';
import { createLog } from '../lib/log.ts';
import type { Call } from '../operations/command-line.ts';
import { startServer } from '../server.ts';
import { WorkerChannel } from './worker.ts';

/**
 * @returns never: the primary ends it
 * @throws what `startServer` throws, after the primary has been told that it could not start
 */
export async function runWorker({ config, clock }: Call): Promise<number> {
  const channel = new WorkerChannel();
  const { isLeader, ticketKeys } = await channel.open();
  const log = createLog(config.logLevel).child({ worker: cluster.worker?.id });
  const part = {
    locks: channel.locks,
    isLeader,
    ticketKeys: Buffer.from(ticketKeys, 'base64'),
    leftBefore: () => channel.lostAt,
    onRenewed: () => channel.renewed(),
    readOtherMetrics: () => channel.gather(),
  };
  // What a server may use is for all its processes together.
  const share = {
    cacheBytes: Math.ceil(config.cacheBytes / config.workers),
    nodeCallsAtOnce: Math.ceil(config.nodeCallsAtOnce / config.workers),
  };
  const showFirstPassword = () => undefined;
  const server = await startServer({ config: { ...config, ...share }, clock, log, showFirstPassword, part });
  channel.listening(server.url, {
    reload: (keys) => server.reloadTls(Buffer.from(keys, 'base64')),
    measure: () => server.readMetrics(),
    close: () => server.close(),
  });
  return new Promise(() => undefined);
}
