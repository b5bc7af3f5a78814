/** Reads the expressions of DSC v3 documents, as far as it must be known which parameters they name. */

/** A text in single quotes, in which a quote is doubled; a name; or any other sign. Spaces are passed over. */
const TOKEN = /'(?:[^']|'')*'|[A-Za-z_]\w*|\S/gu;

/** Whether dsc evaluates the text. One that starts with `[[` is a text that starts with a bracket. */
export function isExpression(text: string): boolean {
  return text.startsWith('[') && !text.startsWith('[[') && text.endsWith(']');
}

/**
 * The names that `parameters('x')` has in an expression. What a name is made of by another expression is unknown and left
 * out, and so is `my.parameters('x')`, which is a function of the document's own.
 */
export function parametersIn(expression: string): readonly string[] {
  const tokens = expression.match(TOKEN) ?? [];
  const names: string[] = [];
  for (const [at, token] of tokens.entries()) {
    const [open, name, close] = tokens.slice(at + 1, at + 4);
    if (token !== 'parameters' || tokens[at - 1] === '.' || open !== '(' || close !== ')') continue;
    if (name?.startsWith("'") && name.length > 1) names.push(name.slice(1, -1).replaceAll("''", "'"));
  }
  return names;
}
