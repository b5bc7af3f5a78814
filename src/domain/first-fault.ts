/** What is wrong, by a report: the first message of an error, else the first resource that is not in its desired state. */

/** @param text the result as the node sent it @returns null where it says nothing of that */
export function firstFault(text: string): string | null {
  const { messages, results } = readResult(text);
  const error = listOf(messages).find(({ level }) => level === 'Error' || level === 'error');
  if (typeof error?.['message'] === 'string') return error['message'];
  // Groups are looked into in their order, without recursion: they may be nested deeper than the call stack allows.
  const waiting = listOf(results).reverse();
  for (let resource = waiting.pop(); resource !== undefined; resource = waiting.pop()) {
    const { result } = resource;
    if (Array.isArray(result)) {
      waiting.push(...listOf(result).reverse());
      continue;
    }
    const said = objectOf(result);
    if (said['inDesiredState'] === false) return outOfState(resource, said);
  }
  return null;
}

function outOfState({ name, type }: Json, { differingProperties }: Json): string {
  const properties = Array.isArray(differingProperties) ? differingProperties.map(String) : [];
  const differs = properties.length === 0 ? '' : `: ${properties.join(', ')}`;
  return `${String(type)} "${String(name)}" is not in its desired state${differs}`;
}

type Json = Record<string, unknown>;

function readResult(text: string): Json {
  try {
    return objectOf(JSON.parse(text));
  } catch {
    return {};
  }
}

const objectOf = (value: unknown): Json =>
  typeof value === 'object' && value !== null ? (value as Json) : {};

const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value.map(objectOf) : []);
