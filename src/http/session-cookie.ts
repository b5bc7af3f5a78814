/** The session cookie. It lives for 8 hours, scripts cannot read it, and it is never sent from another site. */

export const SESSION_COOKIE = 'hawser_session';

const PATTERN = /(?:^|;\s*)hawser_session=([A-Za-z0-9_-]{1,128})(?:;|$)/;
const LIFETIME_SECONDS = 8 * 3_600;

/** Makes the value of Set-Cookie. A lifetime of 0 seconds makes the browser forget the cookie. */
export function sessionCookie(secret: string, maxAge = LIFETIME_SECONDS): string {
  return `${SESSION_COOKIE}=${secret}; Path=/; Max-Age=${maxAge}; HttpOnly; Secure; SameSite=Strict`;
}

/** The session's secret in a Cookie header; null where there is none. */
export function sessionSecret(cookie: string): string | null {
  return PATTERN.exec(cookie)?.[1] ?? null;
}

/** Header that makes the browser forget the session too. */
export const ENDED_SESSION = { 'Set-Cookie': sessionCookie('', 0) };
