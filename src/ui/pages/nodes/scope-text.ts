/** The name of a scope, as tables show it. */

/** For example `Environment: prod`, or `Default`. */
export function scopeText({
  scopeTypeName,
  scopeValue,
}: {
  scopeTypeName: string;
  scopeValue: string | null;
}): string {
  return scopeValue === null ? scopeTypeName : `${scopeTypeName}: ${scopeValue}`;
}
