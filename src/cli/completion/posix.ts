/** Completions for bash and zsh: functions that find the place by the words so far. */

import type { Place, Values } from './places.ts';

/** A name may have spaces, so only ends of lines part names. Before version 4 bash has no compopt. */
const BASH_FILES = `IFS=$'\\n'; COMPREPLY=($(compgen -f -- "$current")); compopt -o filenames 2>/dev/null`;

/** @returns a script for bash from 3.2 on */
export function bashCompletion(program: string, places: readonly Place[]): string {
  const quoteList = (words: readonly string[]) => quote(words.join(' '));
  const values = valueCases(places, (found) => {
    if (found === 'files') return BASH_FILES;
    return `COMPREPLY=($(compgen -W ${quoteList(found ?? [])} -- "$current"))`;
  });
  const options = places.map(({ path, options }) => {
    const words = options.flatMap(({ word, short }) => (short === null ? [word] : [word, short]));
    return `      ${quote(path)}) COMPREPLY=($(compgen -W ${quoteList(words)} -- "$current")) ;;`;
  });
  const words = places.map(({ path, words, values }) => {
    if (values === 'files') return `      ${quote(path)}) ${BASH_FILES} ;;`;
    const next = [...words.map(({ word }) => word), ...(values ?? [])];
    return `      ${quote(path)}) COMPREPLY=($(compgen -W ${quoteList(next)} -- "$current")) ;;`;
  });
  return `# Completion of ${program} for bash: source <(${program} completion bash)
_${program}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" at='' word i
  local IFS=$' \\t\\n'
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    case "$at $word" in
${pathCases(places)}
    esac
  done
  case "$at \${COMP_WORDS[COMP_CWORD - 1]}" in
${values.join('\n')}
    *) ;;
  esac
  case "$current" in
    -*) case "$at" in
${options.join('\n')}
    esac ;;
    *) case "$at" in
${words.join('\n')}
    esac ;;
  esac
}
complete -F _${program} ${program}
`;
}

/** @returns a script for zsh, to be sourced or to be put as _program into a folder of fpath */
export function zshCompletion(program: string, places: readonly Place[]): string {
  const values = valueCases(places, (found) => {
    return found === 'files' ? '_files' : `compadd -- ${(found ?? []).map(quote).join(' ')}`;
  });
  const options = places.map(({ path, options }) => {
    const described = options.flatMap(({ word, short, summary }) =>
      [word, ...(short === null ? [] : [short])].map((each) => describe(each, summary)),
    );
    return `      ${quote(path)}) candidates=(${described.join(' ')}) ;;`;
  });
  const words = places.map(({ path, words, values }) => {
    if (values === 'files') return `      ${quote(path)}) _files; return ;;`;
    const described = [
      ...words.map(({ word, summary }) => describe(word, summary)),
      ...(values ?? []).map((value) => describe(value, '')),
    ];
    return `      ${quote(path)}) candidates=(${described.join(' ')}) ;;`;
  });
  return `#compdef ${program}
# Completion of ${program} for zsh: source <(${program} completion zsh)
_${program}() {
  local at='' word i
  local -a candidates
  for ((i = 2; i < CURRENT; i++)); do
    word="\${words[i]}"
    case "$at $word" in
${pathCases(places)}
    esac
  done
  case "$at \${words[CURRENT - 1]}" in
${values.join('\n')}
  esac
  if [[ "\${words[CURRENT]}" == -* ]]; then
    case "$at" in
${options.join('\n')}
    esac
    _describe -o option candidates
  else
    case "$at" in
${words.join('\n')}
    esac
    _describe command candidates
  fi
}
if [[ "\${funcstack[1]}" == _${program} ]]; then
  _${program} "$@"
elif (( $+functions[compdef] )); then
  compdef _${program} ${program}
fi
`;
}

/** The words so far and one more, where they are a path too. */
function pathCases(places: readonly Place[]): string {
  const cases = places
    .filter(({ path }) => path !== '')
    .map(({ path }) => {
      return `      ${quote(path.includes(' ') ? path : ` ${path}`)}) at=${quote(path)} ;;`;
    });
  return cases.join('\n');
}

/** One case for each option that takes a value, by its place and each of its names. */
function valueCases(places: readonly Place[], complete: (values: Values) => string): string[] {
  return places.flatMap(({ path, options }) => {
    const taking = options.filter(({ takesValue }) => takesValue);
    return taking.map(({ word, short, values }) => {
      const names = [word, ...(short === null ? [] : [short])].map((name) => quote(`${path} ${name}`));
      return `    ${names.join(' | ')}) ${values === null ? '' : `${complete(values)}; `}return ;;`;
    });
  });
}

function describe(word: string, summary: string): string {
  return quote(`${word.replaceAll(':', '\\:')}:${summary}`);
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
