/** The cookie in which a browser keeps the secret of the sign-ins that it has begun. */

import { FLOW_LIFETIME } from '../../deeds/begin-sign-in.ts';
import { SECOND } from '../../lib/clock.ts';

const COOKIE = '__Host-hawser_oidc';
const PATTERN = /(?:^|;\s*)__Host-hawser_oidc=([A-Za-z0-9_-]{43})(?:;|$)/;

/** The secret of a browser that has begun a sign-in before; else null. */
export function browserSecret(cookie: string | undefined): string | null {
  return PATTERN.exec(cookie ?? '')?.[1] ?? null;
}

/** Lax, because the browser comes back from another site. */
export function flowCookie(secret: string): string {
  return `${COOKIE}=${secret}; Path=/; Max-Age=${FLOW_LIFETIME / SECOND}; HttpOnly; Secure; SameSite=Lax`;
}
