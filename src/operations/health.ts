/** `hawser health`: whether the server with these settings, on this machine, can do its work. For container engines. */

import { get as getInTheClear, type IncomingMessage } from 'node:http';
import { get as getOverTls } from 'node:https';
import { text } from 'node:stream/consumers';
import { type Config, ConfigError } from '../config.ts';
import { SECOND } from '../lib/clock.ts';
import type { Command } from './command-line.ts';

const PATIENCE = 5 * SECOND;

/** What listens on all addresses is asked on this machine's own. */
const OWN_ADDRESS: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

export const health: Command = {
  name: 'health',
  help: 'ask the server that runs here whether it is ready; exit code 1 when it is not, or does not answer',
  async run({ config }) {
    if (config.port === 0)
      throw new ConfigError('HAWSER_PORT', '0 does not say which port was taken', '1 to 65535');
    const { ready, said } = await askReadiness(config).catch((error: Error) => {
      return { ready: false, said: `no answer: ${error.message}` };
    });
    process.stdout.write(`${said}\n`);
    return ready ? 0 : 1;
  },
};

/** @throws the connection's error */
async function askReadiness({ host, port, tls }: Config): Promise<{ ready: boolean; said: string }> {
  const options = {
    host: OWN_ADDRESS[host] ?? host,
    port,
    path: '/health/ready',
    signal: AbortSignal.timeout(PATIENCE),
  };
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = tls.isOn
      ? // Nothing secret is sent, and the certificate need not have the name of this machine's own address.
        getOverTls({ ...options, rejectUnauthorized: false }, resolve)
      : getInTheClear(options, resolve);
    request.on('error', reject);
  });
  return { ready: answer.statusCode === 200, said: await text(answer) };
}
