/**
 * All that a process listens on: the port of nodes, users and programs, and a second one for browsers, if there is one.
 * Browsers ask their user which certificate to show, wherever a server asks for one. The second port asks for none.
 */

import { type Config, ConfigError } from '../config.ts';
import { HawserError } from '../lib/errors.ts';
import { createListener, type Listener, type ListenerMaterial, type ListenerOptions } from './listener.ts';

/** Where a listener is reached. */
export interface Place {
  url: string;
  port: number;
}

export interface Listeners extends Place {
  /** The listener that asks for no certificates. */
  ui: Place | null;
  /** Loads other certificates into each listener. It does what `Listener.reload` says. */
  reload(material: ListenerMaterial, ticketKeys?: Buffer): void;
  close(graceMs: number): Promise<void>;
}

/**
 * Both hand each request to the same handler.
 * @throws HawserError unavailable `cannot_listen`, or ConfigError, that names the setting; nothing listens then
 */
export async function openListeners(
  config: Config,
  options: Omit<ListenerOptions, 'proxies' | 'takesCertificates'>,
): Promise<Listeners> {
  const { proxies, ui } = config;
  const main = createListener({ ...options, proxies, takesCertificates: true });
  const place = await open(main, config, { name: 'HAWSER_PORT', port: config.port });
  if (ui.port === null) return { ...place, ui: null, reload: main.reload, close: main.close };
  const second = createListener({ ...options, proxies, takesCertificates: false });
  try {
    const uiPlace = await open(second, config, { name: 'HAWSER_UI_PORT', port: ui.port });
    return { ...place, ui: uiPlace, ...both(main, second) };
  } catch (error) {
    await main.close(0);
    throw error;
  }
}

function both(main: Listener, second: Listener): Pick<Listeners, 'reload' | 'close'> {
  return {
    // What OpenSSL refuses is refused by the first, and then nothing is changed.
    reload(material, ticketKeys) {
      main.reload(material, ticketKeys);
      second.reload(material, ticketKeys);
    },
    async close(graceMs) {
      await Promise.all([main.close(graceMs), second.close(graceMs)]);
    },
  };
}

async function open(
  listener: Listener,
  { host, tls }: Config,
  { name, port }: { name: string; port: number },
): Promise<Place> {
  try {
    const used = await listener.listen(host, port);
    return { url: urlOf(host, used, tls.isOn), port: used };
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') throw unavailable(`${name}: another program listens on port ${port} already`);
    if (code === 'EACCES') throw unavailable(`${name}: this user may not listen on port ${port}`);
    if (['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN', 'EAFNOSUPPORT', 'EINVAL'].includes(code))
      throw new ConfigError('HAWSER_HOST', `cannot be listened on (${code})`, 'an address of this machine');
    throw error;
  }
}

const unavailable = (message: string) => new HawserError('unavailable', 'cannot_listen', message);

/** With TLS off it is the address by which a proxy on this machine reaches the server. */
function urlOf(host: string, port: number, isTlsOn: boolean): string {
  return isTlsOn ? `https://localhost:${port}` : `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
