/** A secret in the clear. What writes logs, JSON or SQL gets nothing of it: it must be asked for by name. */

import { inspect } from 'node:util';

/** What stands in the place of a secret wherever it is shown. */
export const REDACTED = '<redacted>';

const refuse = (): never => {
  throw new TypeError('A secret in the clear cannot be written here');
};

/** What holds a secret in a private field. Spreading and cloning to a thread have nothing of it, and whatever writes it fails. */
export abstract class Unprintable {
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
    return REDACTED;
  }
}

/**
 * The JSON text of one secret value. `scripts/check-structure.ts` lists the files that may call `reveal`.
 */
export class Plaintext extends Unprintable {
  readonly #json: string;

  /** @param json one JSON value (RFC 8259) without white space around it */
  constructor(json: string) {
    super();
    this.#json = json;
  }

  /** Gives the JSON text. What comes of it must stay in memory. */
  reveal(): string {
    return this.#json;
  }
}
