/**
 * The one piece of reflection that `@peculiar/x509` needs before it loads.
 *
 * Its dependency container refuses to start without `Reflect.getMetadata`, and then asks it only for constructor
 * parameters that a compiler would have recorded. None of its classes has any, so a full polyfill (50 KB of globals) would
 * also answer that there are none. This module must be imported first.
 */

interface Reflection {
  getMetadata?: (key: unknown, target: object) => unknown;
  getOwnMetadata?: (key: unknown, target: object) => unknown;
}

const reflection = Reflect as typeof Reflect & Reflection;
reflection.getMetadata ??= () => undefined;
reflection.getOwnMetadata ??= () => undefined;
