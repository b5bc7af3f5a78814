/**
 * Steps that wait only if there is something to wait for. An `await` costs microseconds even if the value is there
 * already, and for a poll every value is. A chain of these steps is carried out at once then.
 */

export type Awaitable<T> = T | Promise<T>;

/** Does the same as `next(await value)`. */
export function andThen<T, R>(value: Awaitable<T>, next: (value: T) => Awaitable<R>): Awaitable<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Does the same as `await Promise.all(values)`. */
export function allOf<T>(values: readonly Awaitable<T>[]): Awaitable<T[]> {
  return values.some((value) => value instanceof Promise) ? Promise.all(values) : (values as T[]);
}

/** Waits for all, also if one fails, so that no write is still under way when the failure is answered. */
export async function allSettled<T>(work: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(work);
  return Promise.all(work);
}

/** Does the same as `try { succeed(await work()) } catch (error) { fail(error) }`, but errors of `succeed` go on. */
export function thenOrElse<T, R>(
  work: () => Awaitable<T>,
  succeed: (value: T) => R,
  fail: (error: unknown) => R,
): Awaitable<R> {
  let value: Awaitable<T>;
  try {
    value = work();
  } catch (error) {
    return fail(error);
  }
  return value instanceof Promise ? value.then(succeed, fail) : succeed(value);
}

/**
 * Callers that ask for the same key while its value is being made share that one making.
 * @param running holds what is being made, by key
 */
export function singleFlight<T>(
  running: Map<string, Promise<T>>,
  key: string,
  make: () => Awaitable<T>,
): Awaitable<T> {
  const known = running.get(key);
  if (known) return known;
  const made = make();
  if (!(made instanceof Promise)) return made;
  const making = made.finally(() => running.delete(key));
  running.set(key, making);
  return making;
}
