/** A secret in the clear. What writes logs, JSON or SQL gets nothing of it: it must be asked for by name. */

import { inspect } from 'node:util';

const refuse = (): never => {
  throw new TypeError('A secret in the clear cannot be written here');
};

/**
 * The JSON text of one secret value. The text is in a private field, so spreading, cloning to a thread and JSON have
 * nothing of it, and whatever makes a text of it fails. `scripts/check-structure.ts` lists the files that may call `reveal`.
 */
export class Plaintext {
  readonly #json: string;

  /** @param json one JSON value (RFC 8259) without white space around it */
  constructor(json: string) {
    this.#json = json;
  }

  /** Gives the JSON text. What comes of it must stay in memory. */
  reveal(): string {
    return this.#json;
  }

  toJSON(): never {
    return refuse();
  }

  toString(): never {
    return refuse();
  }

  [Symbol.toPrimitive](): never {
    return refuse();
  }

  [inspect.custom](): string {
    return '<secret>';
  }
}
