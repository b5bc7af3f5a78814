/**
 * Steps that wait only where there is something to wait for. To `await` costs microseconds even where the value is
 * there already, and of a poll everything is: a chain of these is carried out at once.
 */

export type Awaitable<T> = T | Promise<T>;

/** As `next(await value)`. */
export function andThen<T, R>(value: Awaitable<T>, next: (value: T) => Awaitable<R>): Awaitable<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** As `await Promise.all(values)`. */
export function allOf<T>(values: readonly Awaitable<T>[]): Awaitable<T[]> {
  return values.some((value) => value instanceof Promise) ? Promise.all(values) : (values as T[]);
}

/** Waits for all, also when one fails, so that no write is still under way when the failure is answered. */
export async function allSettled<T>(work: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(work);
  return Promise.all(work);
}

/** As `try { succeed(await work()) } catch (error) { fail(error) }`, but for what `succeed` itself throws. */
export function settle<T, R>(
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
