/** How scopes are called, and what they are called next. */

/** A value of a scope type. Default has no values, every other type has them. */
export interface ParameterScope {
  scopeType: string;
  value: string | null;
}

/** Two names of a scope type, or of one value of it: then both have a value. */
export interface ScopeNames {
  from: ParameterScope;
  to: ParameterScope;
}
