/** Reads the words of a command line by Node's `parseArgs`, for the programs that need no more than that. */

import { type ParseArgsConfig, parseArgs } from 'node:util';

/** The command line cannot be understood, or its arguments do not fit together. */
export class UsageError extends Error {}

/**
 * Arguments may stand before options or behind them.
 * @param before stands before the fault, such as the name of the command
 * @throws UsageError
 */
export function readWords<T extends NonNullable<ParseArgsConfig['options']>>(
  words: readonly string[],
  options: T,
  before = '',
) {
  try {
    return parseArgs({ args: [...words], options, allowPositionals: true });
  } catch (error) {
    // The first sentence of Node's message says what is wrong. The others advise how to pass such a word all the same.
    const [fault = ''] = (error instanceof Error ? error.message : String(error)).split('. ', 1);
    throw new UsageError(`${before}${fault}`);
  }
}
