/** Bounds how long an answer is waited for. */

/** A turn of the event loop that took longer than the bound must not count as silence of whoever answers. */
const GRACE = 100;

/**
 * Gives what `work` gives. Nobody ends `work` itself.
 * @throws Error after so many milliseconds, or what `work` throws
 */
export async function withinTime<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const giveUp = () => reject(new Error(`There was no answer within ${milliseconds} ms`));
    timer = setTimeout(() => {
      timer = setTimeout(giveUp, GRACE);
    }, milliseconds);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
