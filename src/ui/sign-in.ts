/** The way to the sign-in page and back to where the person was. */

let isLeaving = false;

// The way back may show the page as it was left.
window.addEventListener('pageshow', ({ persisted }) => {
  if (persisted) isLeaving = false;
});

/** Leaves for the sign-in page, which leads back to this page. */
export function leaveForSignIn(): void {
  if (isLeaving) return;
  const here = location.pathname + location.search;
  leaveFor(`/login?next=${encodeURIComponent(here)}`);
}

/** Leaves the console. Requests that are refused meanwhile, because the session has ended, lead nowhere else. */
export function leaveFor(address: string): void {
  isLeaving = true;
  location.assign(address);
}
