/** Moves the clock of this whole process, for libraries that look at no other. */

const now = Date.now;

/** Does the work as if so many milliseconds had passed. `new Date()` still gives the time of the machine. */
export async function later<T>(milliseconds: number, work: () => Promise<T>): Promise<T> {
  Date.now = () => now() + milliseconds;
  try {
    return await work();
  } finally {
    Date.now = now;
  }
}
