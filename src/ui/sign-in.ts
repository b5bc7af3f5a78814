/** The way to the sign-in page and back to where the person was. */

let isLeaving = false;

/** Leaves for the sign-in page, which leads back to this page. */
export function leaveForSignIn(): void {
  if (isLeaving) return;
  isLeaving = true;
  const here = location.pathname + location.search;
  location.assign(`/login?next=${encodeURIComponent(here)}`);
}
