/** Asks for a secret on the terminal, which does not show what is typed. */

import type { ReadStream } from 'node:tty';

const ENTER = /[\r\n]/;
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const BACKSPACE = /[\b\u007f]/;

/**
 * @param prompt is written to stderr, because stdout is for results
 * @returns the line that was typed; null when the person has given up
 */
export function askSecret(prompt: string, terminal: ReadStream = process.stdin): Promise<string | null> {
  process.stderr.write(prompt);
  terminal.setRawMode(true);
  terminal.setEncoding('utf8');
  return new Promise((resolve) => {
    let typed = '';
    const end = (answer: string | null): void => {
      terminal.off('data', take);
      terminal.setRawMode(false);
      terminal.pause();
      process.stderr.write('\n');
      resolve(answer);
    };
    const take = (chunk: string): void => {
      for (const sign of chunk) {
        if (ENTER.test(sign) || sign === CTRL_C || sign === CTRL_D) {
          end(ENTER.test(sign) ? typed : null);
          return;
        }
        typed = BACKSPACE.test(sign) ? typed.slice(0, -1) : typed + sign;
      }
    };
    terminal.on('data', take);
    terminal.resume();
  });
}
