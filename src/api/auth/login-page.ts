/** The sign-in page. It is plain HTML without scripts, so that it works in every browser and no injected code runs. */

import type { Answer } from '../../http/answer.ts';
import { type Html, html, pageAnswer } from '../../http/html.ts';
import { statusOf } from '../../http/problem.ts';
import type { FieldError, HawserError } from '../../lib/errors.ts';
import { sha256Base64 } from '../../lib/hash.ts';
import { ADMIN, type FirstPassword, PASSWORD_FILE } from '../../security/built-ins.ts';
import type { Principal, UserPrincipal } from '../../security/principal.ts';
import { leadingTo } from './destination.ts';

const STYLE = `
:root { color-scheme: light dark }
body { margin: 0; padding: 8vh 1rem; background: light-dark(#f2f4f6, #16191c); font: 1rem/1.5 system-ui, sans-serif }
main { max-width: 21rem; margin: auto; padding: 1.5rem 2rem 2rem; border: 1px solid light-dark(#d5dade, #383e44);
  border-radius: .5rem; background: light-dark(#fff, #1f2327) }
h1 { margin: 0 0 1rem; font-size: 1.4rem }
label, button { display: block; width: 100% }
label { margin-top: .8rem }
input:not([hidden]) { display: block; box-sizing: border-box; width: 100%; margin-top: .2rem }
input, button { padding: .5rem; border: 1px solid light-dark(#8a949e, #6b757f); border-radius: .3rem; font: inherit }
button { margin-top: 1.2rem; border-color: #17557f; background: #17557f; color: #fff; cursor: pointer }
a.button { display: block; padding: .5rem; border: 1px solid light-dark(#8a949e, #6b757f); border-radius: .3rem;
  text-align: center; text-decoration: none }
button.second { background: none; color: inherit; border-color: light-dark(#8a949e, #6b757f) }
summary { cursor: pointer }
[role] { padding: .6rem .8rem; border-left: .25rem solid; border-color: #2e7d4f; overflow-wrap: anywhere }
[role=alert] { border-color: #b3261e }
a { color: inherit }
`;

const HEAD = html`<link rel="icon" href="data:,">
<style>${STYLE}</style>`;

const ALLOWS = `style-src 'sha256-${sha256Base64(STYLE)}'; img-src data:; form-action 'self'`;

/** This says where the page leads, and what it says first. */
export interface Purpose {
  /** The address in the console that is wanted; null where none is. */
  destination: string | null;
  /** Where the console begins; null where there is none. */
  console: string | null;
  /** The identity providers by which somebody may sign in here. */
  providers: readonly ProviderLink[];
  /** Where the first password is, as long as nobody has signed in; null afterwards. */
  firstPassword: FirstPassword | null;
}

export interface ProviderLink {
  name: string;
  label: string;
  /** Where somebody signs out of the provider too; null where that is not known. */
  signOutAddress: string | null;
}

const FIRST_PASSWORDS: Record<FirstPassword, Html> = {
  file: html`is in the file <code>${PASSWORD_FILE}</code> in the data folder of the server`,
  setting: html`is the one that <code>HAWSER_ADMIN_PASSWORD</code> set when the server was started first`,
};

const firstPasswordHint = (place: FirstPassword | null) =>
  place === null
    ? html``
    : html`<p>Nobody has signed in here yet. The user name is <code>${ADMIN}</code>, and its password
${FIRST_PASSWORDS[place]}.</p>
`;

const signInForm = (
  action: string,
  providers: Html,
) => html`${providers}<form method="post" action="${action}">
<label>User name <input name="username" autocomplete="username" autocapitalize="none" spellcheck="false" required autofocus></label>
<label>Password <input name="password" type="password" autocomplete="current-password" required></label>
<button>Sign in</button>
</form>`;

/** The hidden user name is not sent. It tells password managers whose password changes. */
const changePasswordForm = (action: string, username: string) => html`<form method="post" action="${action}">
<input type="text" autocomplete="username" value="${username}" readonly hidden>
<label>Current password <input name="currentPassword" type="password" autocomplete="current-password" required></label>
<label>New password, 12 characters or more <input name="newPassword" type="password" autocomplete="new-password" required></label>
<label>New password once more <input name="repeatedPassword" type="password" autocomplete="new-password" required></label>
<button>Change the password</button>
</form>`;

const SIGN_OUT = html`<form method="post" action="/login/sign-out">
<button class="second">Sign out</button>
</form>`;

/**
 * The page for this caller.
 * @param signedOutOf the name of the provider by whose session somebody has just signed out
 */
export function loginPage(
  principal: Principal | null,
  purpose: Purpose,
  { notice = '', signedOutOf }: { notice?: string; signedOutOf?: string | undefined } = {},
): Answer {
  const provider = purpose.providers.find(({ name }) => name === signedOutOf);
  const message = notice === '' ? signedOut(provider) : html`<p role="status">${notice}</p>`;
  return show(principal, purpose, { message, unfolded: null });
}

/**
 * The page with a message about an error. Other clients get problem details in its place.
 * @param unfolded the form that the error is about, for somebody who is signed in
 */
export function failurePage(
  error: HawserError,
  principal: Principal | null,
  purpose: Purpose,
  unfolded: Unfolded = 'password',
): Answer {
  const status = statusOf(error);
  const message = html`<p role="alert" data-code="${error.code}">${describe(error)}</p>`;
  const page = show(principal, purpose, { message, unfolded });
  const wait = error.retryAfter === undefined ? {} : { 'Retry-After': String(error.retryAfter) };
  // A 401 needs a challenge (RFC 9110 15.5.2), at which text browsers ask for a password themselves.
  return { ...page, status: status === 401 ? 403 : status, headers: { ...page.headers, ...wait } };
}

/** Our session has ended. Who does not end the one there may be signed in again by one click of somebody else. */
function signedOut(provider: ProviderLink | undefined): Html {
  if (provider === undefined) return html``;
  const { label, signOutAddress } = provider;
  const there =
    signOutAddress === null ? html`` : html` <a href="${signOutAddress}">Sign out of ${label} too</a>`;
  return html`<p role="status">You are signed out here.${there}</p>`;
}

const join = (parts: readonly Html[]): Html => parts.reduce((all, part) => html`${all}${part}`, html``);

function providerLinks({ destination, providers }: Purpose): Html {
  const links = providers.map(({ name, label }) => {
    const query = destination === null ? '' : `?${new URLSearchParams({ returnTo: destination })}`;
    return html`<p><a class="button" href="/login/oidc/${name}${query}">Sign in with ${label}</a></p>
`;
  });
  return join(links);
}

/** The next sign-in by the provider in this browser belongs to this account. */
const linkForm = (
  { name, label }: ProviderLink,
  isOpen: boolean,
) => html`${detailsTag(isOpen)}<summary>Sign in with ${label} from now on</summary>
<form method="post" action="/login/oidc/${name}/link">
<label>Current password <input name="currentPassword" type="password" autocomplete="current-password" required></label>
<button class="second">Go to ${label}</button>
</form>
</details>
`;

/** The form for a new password, or the ones that link an identity. */
type Unfolded = 'password' | 'link' | null;

const detailsTag = (isOpen: boolean) => (isOpen ? html`<details open>` : html`<details>`);

interface Shown {
  message: Html;
  unfolded: Unfolded;
}

function show(principal: Principal | null, purpose: Purpose, { message, unfolded }: Shown): Answer {
  const user = principal?.kind === 'user' && principal.authMethod === 'Session' ? principal : null;
  const { destination } = purpose;
  const forms =
    user === null
      ? html`${firstPasswordHint(purpose.firstPassword)}${signInForm(leadingTo(destination, '/login'), providerLinks(purpose))}`
      : formsOf(user, purpose, unfolded);
  const body = html`<main>
<h1>${user === null ? 'Sign in to Hawser' : 'Hawser'}</h1>
${message}
${forms}
</main>`;
  // Browsers ask this of the redirect that answers a form too, and the provider is elsewhere.
  const allows = user === null || purpose.providers.length === 0 ? ALLOWS : `${ALLOWS} https: http:`;
  const page = pageAnswer({ title: 'Hawser: sign in', head: HEAD, body, allows });
  return { ...page, headers: { ...page.headers, 'Cache-Control': 'no-store' } };
}

function formsOf(
  { username, requirePasswordChange, authProvider }: UserPrincipal,
  purpose: Purpose,
  unfolded: Unfolded,
): Html {
  const { destination, console } = purpose;
  // Who must change the password has one, however the session was begun.
  const hasPassword = authProvider === 'Local' || requirePasswordChange;
  const changePassword = changePasswordForm(leadingTo(destination, '/login/password'), username);
  const change = requirePasswordChange
    ? html`<p>The password must be changed before you can do anything else.</p>
${changePassword}`
    : html`${detailsTag(unfolded === 'password')}<summary>Change the password</summary>
${changePassword}
</details>`;
  const target = destination ?? console;
  const link =
    target === null || requirePasswordChange ? html`` : html`<p><a href="${target}">Open the console</a></p>`;
  return html`<p>You are signed in as <strong>${username}</strong>.</p>
${link}
${hasPassword ? change : html``}
${hasPassword && !requirePasswordChange ? join(purpose.providers.map((one) => linkForm(one, unfolded === 'link'))) : html``}
${SIGN_OUT}`;
}

/** Some messages for programs do not tell a person enough; these have a text of their own here. */
function describe(error: HawserError): string {
  switch (error.code) {
    case 'invalid_credentials':
      return (
        'The user name or the password is wrong, or the account cannot be used now. ' +
        'Five wrong passwords in a row lock an account for 15 minutes.'
      );
    case 'rate_limited':
      return `Too many attempts. Try again in ${error.retryAfter} seconds.`;
    case 'unauthenticated':
      return 'You are not signed in any more.';
    case 'cross_site_request':
      return 'This was sent by a page of another site, and nothing was done. Use the form on this page.';
    case 'validation_failed': {
      const [fault] = error.data['errors'] as FieldError[];
      return fault?.path === '/newPassword' || fault?.path === '/repeatedPassword'
        ? fault.message
        : 'A field is empty or too long.';
    }
    default:
      return error.message;
  }
}
