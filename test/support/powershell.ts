/** Reads PowerShell by its grammar, because nothing here can run it. */

import { createRequire } from 'node:module';
import { Language, type Node, Parser } from 'web-tree-sitter';

const GRAMMAR = 'tree-sitter-powershell/tree-sitter-powershell.wasm';

export interface PowerShell {
  /** Whether the grammar takes all of it. */
  isWhole: boolean;
  /** The names of the commands that it calls, each once. */
  commands: string[];
  /** `&&` and `||`, which Windows PowerShell 5.1 does not have. */
  chains: number;
  /** The value of each variable that is set to nothing but a text, by its name with the dollar sign. */
  texts: Record<string, string>;
}

export async function openPowerShell(): Promise<(text: string) => PowerShell> {
  await Parser.init();
  const parser = new Parser();
  parser.setLanguage(await Language.load(createRequire(import.meta.url).resolve(GRAMMAR)));
  return (text) => {
    const tree = parser.parse(text);
    if (tree === null) throw new Error('The parser gives no tree');
    const all = (type: string) => tree.rootNode.descendantsOfType(type).filter((node) => node !== null);
    const texts = all('assignment_expression').flatMap((node) => {
      const value = node.childForFieldName('value');
      const found = value && textOf(value);
      return found === null ? [] : [[node.firstChild?.text ?? '', found]];
    });
    return {
      isWhole: !tree.rootNode.hasError,
      commands: [...new Set(all('command_name').map((node) => node.text))],
      chains: all('pipeline_chain_tail').length,
      texts: Object.fromEntries(texts),
    };
  };
}

/** The value of a literal, or of a sum of literals and `[char]` with a number; null for everything else. */
function textOf(node: Node): string | null {
  if (!/^(\('' \+ )?('(?:[^']|'')*'|\[char\]\d+| \+ )+\)?$/.test(node.text)) return null;
  return node
    .descendantsOfType(['verbatim_string_characters', 'decimal_integer_literal'])
    .map((part) => {
      const text = part?.text ?? '';
      return text.startsWith("'")
        ? text.slice(1, -1).replaceAll("''", "'")
        : String.fromCharCode(Number(text));
    })
    .join('');
}
