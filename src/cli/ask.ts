/** Questions to the person at the terminal. They are on stderr, so that stdout has nothing but results. */

import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { Failure, UsageError } from './errors.ts';
import { printable } from './printable.ts';

export interface AskSettings {
  stdin: NodeJS.ReadableStream & { isTTY?: boolean };
  stderr: NodeJS.WritableStream & { isTTY?: boolean };
  /** `--yes` was said. */
  isYes: boolean;
}

export class Ask {
  private readonly settings: AskSettings;

  constructor(settings: AskSettings) {
    this.settings = settings;
  }

  /** Whether there is somebody who can be asked. */
  get canAsk(): boolean {
    const { stdin, stderr } = this.settings;
    return stdin.isTTY === true && stderr.isTTY === true;
  }

  /**
   * Asks whether to do something; `--yes` answers it.
   * @param question such as `Delete 3 nodes?`
   * @param Unanswered what is thrown where nobody can be asked
   * @throws Failure if the answer is no, `Unanswered`; nothing may have been done before
   */
  async confirm(question: string, Unanswered: new (message: string) => Error = UsageError): Promise<void> {
    if (this.settings.isYes) return;
    if (!this.canAsk)
      throw new Unanswered(`${question} Nothing was done: there is no terminal to ask at, so say --yes.`);
    const answer = await this.read(`${question} [y/N] `, false);
    if (!/^y(es)?$/i.test(answer.trim())) throw new Failure('Nothing was done.');
  }

  /**
   * Asks for a line.
   * @param instead what to do where there is no terminal, such as `say --user`
   * @throws UsageError where nobody can be asked
   */
  text(question: string, instead: string): Promise<string> {
    this.requireTerminal(question, instead);
    return this.read(`${question}: `, false);
  }

  /** Asks for a line that is not shown while it is typed. */
  secret(question: string, instead: string): Promise<string> {
    this.requireTerminal(question, instead);
    return this.read(`${question} (not shown): `, true);
  }

  private requireTerminal(question: string, instead: string): void {
    if (!this.canAsk)
      throw new UsageError(`${question} is needed, and there is no terminal to ask at: ${instead}.`);
  }

  private read(prompt: string, isSecret: boolean): Promise<string> {
    const { stdin, stderr } = this.settings;
    // The terminal is read key by key, and what was typed is written here, or nowhere.
    const shown = new Writable({
      write(chunk, _encoding, done) {
        if (!isSecret) stderr.write(chunk);
        done();
      },
    });
    const lines = createInterface({ input: stdin, output: shown, terminal: true, historySize: 0 });
    // Only now does the terminal show nothing by itself, however fast somebody answers.
    stderr.write(printable(prompt));
    return new Promise((resolve, reject) => {
      lines.once('line', resolve);
      lines.once('SIGINT', () => reject(new Failure('Stopped. Nothing was done.')));
      lines.once('close', () => reject(new Failure('No answer. Nothing was done.')));
    }).finally(() => {
      lines.close();
      if (isSecret) stderr.write('\n');
    }) as Promise<string>;
  }
}
