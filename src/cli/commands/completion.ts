/** `hawserctl completion`: scripts that complete what one types, made from the declarations of the commands. */

import { fishCompletion, powershellCompletion } from '../completion/other-shells.ts';
import { listPlaces, type Place } from '../completion/places.ts';
import { bashCompletion, zshCompletion } from '../completion/posix.ts';
import { type Command, command } from '../declaration.ts';

const SHELLS: Record<string, (program: string, places: readonly Place[]) => string> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
  powershell: powershellCompletion,
};

/** @param commands gives all of them, this one too */
export function completionCommand(program: string, commands: () => readonly Command[]): Command {
  return command({
    path: 'completion',
    summary: 'print a script that completes commands and options in your shell',
    arguments: [{ name: 'shell', summary: 'the shell', choices: Object.keys(SHELLS) }],
    description: 'Prints a script, whose first line says how your shell reads it.',
    examples: [`${program} completion powershell | Out-String | Invoke-Expression`],
    async run({ arguments: { shell }, out }) {
      const script = SHELLS[shell]?.(program, listPlaces(commands())) ?? '';
      if (out.isJson) out.json({ shell, script });
      else out.text(script);
    },
  });
}
