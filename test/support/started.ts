/**
 * What the tests of a `describe` use, such as a server: it is started before them and closed after them. It must be made of
 * functions that do not use `this`.
 */

interface Closable {
  close(): unknown;
}

/**
 * Starts one for all tests of the `describe`.
 * @returns what has been started, as soon as the first test or hook runs
 */
export function started<T extends Closable>(start: () => Promise<T>): T {
  const current = {} as T;
  before(() => fill(current, start));
  // There is none where the start has failed.
  after(() => current.close?.());
  return current;
}

/**
 * Starts one for each test of the `describe`. Each takes a second or more, so `started` is better where tests can share one.
 * @returns that of the test that runs
 */
export function startedForEach<T extends Closable>(start: () => Promise<T>): T {
  const current = {} as T;
  beforeEach(() => fill(current, start));
  afterEach(() => current.close?.());
  return current;
}

/** Reading `current` reads what was started, members that change later included, such as those of a server started again. */
async function fill<T extends Closable>(current: T, start: () => Promise<T>): Promise<void> {
  Object.setPrototypeOf(current, await start());
}
