/** The console in a real browser, of a server at which people sign in by a provider. */

import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { PROJECT } from '../../scripts/support/project.ts';
import { SESSION_COOKIE } from '../../src/http/session-cookie.ts';
import { openPage, startBrowser, type WatchedPage } from './browser.ts';
import { REFUSED_REQUEST } from './console.ts';
import type { Cookies } from './sign-in-flow.ts';
import { type SignInServer, startSignInServer } from './sign-in-server.ts';

/** What Chromium writes about the fields of passwords on the sign-in page. */
const HINT = /^\[DOM\] Password forms/;
/** In milliseconds. The machine may do much else meanwhile. */
const PATIENCE = 60_000;

export interface SignInConsole extends SignInServer {
  /** `https://localhost:<port>` */
  base: string;
  /**
   * Opens a page with the session of these cookies. Its close fails if the page did anything that the console must not
   * do. The browser cannot reach the provider.
   */
  open(path: string, cookies: Cookies): Promise<WatchedPage>;
}

export async function startSignInConsole(
  members: Record<string, unknown>,
  settings: Record<string, string>,
): Promise<SignInConsole> {
  execFileSync(process.execPath, ['scripts/build.js'], { cwd: PROJECT });
  const server = await startSignInServer(members, settings);
  const browser = await startBrowser().catch(async (error: unknown) => {
    await server.close();
    throw error;
  });
  const base = `https://localhost:${server.hawser.server.port}`;
  return {
    ...server,
    base,
    async open(path, cookies) {
      const isFault = (_type: string, text: string) => !REFUSED_REQUEST.test(text) && !HINT.test(text);
      const viewport = { width: 1440, height: 900 };
      const opened = await openPage(browser, new URL(base).host, { isFault, viewport });
      const value = cookies.get(SESSION_COOKIE) ?? '';
      await opened.page.context().addCookies([
        {
          ...{ name: SESSION_COOKIE, value, domain: 'localhost', path: '/' },
          ...{ httpOnly: true, secure: true },
          sameSite: 'Strict',
        },
      ]);
      opened.page.setDefaultTimeout(PATIENCE);
      await opened.page.goto(base + path);
      const close = async () => {
        await opened.close();
        expect(opened.faults, path).to.deep.equal([]);
      };
      return { ...opened, close };
    },
    async close() {
      await browser.close();
      await server.close();
    },
  };
}

/** @param header a session, as Cookie header */
export function cookiesOf(header: string): Cookies {
  const at = header.indexOf('=');
  return new Map([[header.slice(0, at), header.slice(at + 1)]]);
}
