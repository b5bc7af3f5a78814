/** YAML, with indentation that follows what is being written. */

import { yaml } from '@codemirror/lang-yaml';
import { indentService } from '@codemirror/language';
import type { Extension } from '@codemirror/state';

/** A line behind which something further in is to follow: it ends with a colon, or begins a text of several lines. */
const OPENS = /:\s*(?:[|>][+-]?\d?)?\s*$/;

/** Highlighting of YAML; a new line begins two columns further in where the line above asks for it. */
export function yamlWithIndentation(): Extension {
  const byLine = indentService.of((context, position) => {
    const above = context.lineAt(position, -1);
    const isOpening = OPENS.test(above.text) && !above.text.trimStart().startsWith('#');
    // Undefined leaves it to the grammar.
    return isOpening ? contentColumn(above.text) + context.unit : undefined;
  });
  return [byLine, yaml()];
}

/** The column where the content of a line begins, behind the dashes of lists. */
function contentColumn(line: string): number {
  return /^ *(?:- +)*/.exec(line)?.[0].length ?? 0;
}
