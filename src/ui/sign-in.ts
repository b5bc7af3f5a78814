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
  isLeaving = true;
  location.assign(`/login?next=${encodeURIComponent(here)}`);
}

/**
 * Leaves the console once the session has been ended. Requests that are refused because of that lead nowhere else, also
 * before it is known here that the session has ended.
 * @throws what `end` throws, and does not leave then
 */
export async function leaveAfter(end: () => Promise<unknown>, address: string): Promise<void> {
  isLeaving = true;
  try {
    await end();
  } catch (error) {
    isLeaving = false;
    throw error;
  }
  location.assign(address);
}
