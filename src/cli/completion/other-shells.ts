/** Completions for fish and PowerShell. */

import type { Place, Values } from './places.ts';

/** @returns a script for fish, to be sourced or to be put into ~/.config/fish/completions */
export function fishCompletion(program: string, places: readonly Place[]): string {
  const named = places.filter(({ path }) => path !== '');
  const steps = named.map(({ path }) => quoteFish(path.includes(' ') ? path : ` ${path}`));
  const lines = places.flatMap(({ path, words, options, values }) => {
    const at = `complete -c ${program} -n ${quoteFish(`__${program}_at ${quoteFish(path)}`)}`;
    return [
      ...words.map(({ word, summary }) => `${at} -a ${word} -d ${quoteFish(summary)}`),
      ...(values === null ? [] : [`${at}${fishValues(values)}`]),
      ...options.map((option) => {
        const short = option.short === null ? '' : ` -s ${option.short.slice(1)}`;
        const value = option.takesValue ? ` -r${fishValues(option.values)}` : '';
        return `${at}${short} -l ${option.word.slice(2)}${value} -d ${quoteFish(option.summary)}`;
      }),
    ];
  });
  return `# Completion of ${program} for fish: ${program} completion fish | source
function __${program}_at
    set -l at ''
    for word in (commandline -opc)[2..-1]
        switch "$at $word"
            case ${steps.join(' ')}
                set at (string trim -- "$at $word")
        end
    end
    test "$at" = "$argv[1]"
end
complete -c ${program} -f
${lines.join('\n')}
`;
}

function fishValues(values: Values): string {
  if (values === null) return '';
  return values === 'files' ? ' -F' : ` -a ${quoteFish(values.join(' '))}`;
}

function quoteFish(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

/** @returns a script for PowerShell */
export function powershellCompletion(program: string, places: readonly Place[]): string {
  const tables = places.map(({ path, words, options, values }) => {
    const known = [
      ...words,
      ...(Array.isArray(values) ? values.map((word: string) => ({ word, summary: word })) : []),
      ...options,
    ];
    const entries = known.map(
      ({ word, summary }) => `      ${quotePowershell(word)} = ${quotePowershell(summary)}`,
    );
    return `    ${quotePowershell(path)} = [ordered]@{\n${entries.join('\n')}\n    }`;
  });
  return `# Completion of ${program} for PowerShell: ${program} completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName ${program} -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $places = @{
${tables.join('\n')}
  }
  $at = ''
  foreach ($element in ($commandAst.CommandElements | Select-Object -Skip 1)) {
    if ($element.Extent.EndOffset -ge $cursorPosition) { break }
    $next = "$at $($element.ToString())".Trim()
    if ($places.ContainsKey($next)) { $at = $next }
  }
  $isOption = $wordToComplete.StartsWith('-')
  $places[$at].GetEnumerator() |
    Where-Object { $_.Key.StartsWith($wordToComplete) -and $_.Key.StartsWith('-') -eq $isOption } |
    ForEach-Object {
      [System.Management.Automation.CompletionResult]::new($_.Key, $_.Key, 'ParameterValue', $_.Value)
    }
}
`;
}

function quotePowershell(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
